import { DanglingReferenceError, SchemaRefusedError } from '../json-schema/errors.js';
import { TaskTooCostlyError } from '../../shared/workers/errors.js';
import { SchemaNotAcceptedError } from './errors.js';
import type { Refusal } from './model-tasks.js';

/**
 * Says of refused input where in the whole of the input the fault is.
 *
 * @param base pointer to the schema within the input
 * @param reasons why documents could not be had, by URI
 */
export async function accepting<Result>(
  base: string,
  work: () => Promise<Result>,
  reasons: ReadonlyMap<string, string> = new Map(),
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SchemaRefusedError) throw notAccepted(error, base, reasons, error);
    if (error instanceof TaskTooCostlyError) throw tooCostly(error, base);
    throw error;
  }
}

/** @throws SchemaNotAcceptedError for a refusal */
export function unlessRefused<Result extends object>(result: Result | Refusal, base: string): Result {
  if ('refused' in result) throw notAccepted(result.refused, base, new Map());
  return result;
}

function notAccepted(
  refused: Refusal['refused'],
  base: string,
  reasons: ReadonlyMap<string, string>,
  cause?: SchemaRefusedError,
): SchemaNotAcceptedError {
  const missingUris = cause instanceof DanglingReferenceError ? cause.missingUris : [];
  const errors = refused.errors.map(({ pointer, detail }, index) => {
    // The faults of missing documents come first, in the order of their URIs.
    const reason = reasons.get(missingUris[index] ?? '');
    return { pointer: `${base}${pointer}`, detail: reason === undefined ? detail : `${detail}: ${reason}` };
  });
  return new SchemaNotAcceptedError(refused.code, refused.message, errors, missingUris, { cause });
}

function tooCostly(cause: TaskTooCostlyError, base: string): SchemaNotAcceptedError {
  const detail = `working on the schema takes too much ${cause.bound}`;
  const errors = [{ pointer: base, detail }];
  return new SchemaNotAcceptedError('SCHEMA_TOO_COSTLY', `The schema is refused: ${detail}.`, errors, [], {
    cause,
  });
}
