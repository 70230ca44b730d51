import { isObject } from '../shared/json/json.js';
import { jsonIn } from '../shared/json/lossless-json.js';

/** An item of a BatchOperationResult (ETSI GS CIM 009 V1.9.1, clause 5.2.16). */
export interface BatchError {
  readonly entityId: string;
  readonly error: unknown;
}

export interface BatchResult {
  readonly success: readonly string[];
  readonly errors: readonly unknown[];
}

/**
 * What became of a batch of which the broker got a part: its own result, and what it did not get.
 *
 * @param sent ids of the entities that it got
 * @param unreadable the error of an entity of which the answer does not say what became of it
 * @returns undefined where the broker did not do it at all: then its answer says why
 */
export function mergedResult(
  status: number,
  body: string,
  sent: readonly string[],
  refused: readonly BatchError[],
  unreadable: unknown,
): BatchResult | undefined {
  const ids = [...new Set(sent)];
  const isDone = status >= 200 && status < 300;
  const problem = isDone ? problemIn(body) : undefined;
  // 201 lists those that are new, and 204 none.
  if (isDone && status !== 207 && problem === undefined) return { success: ids, errors: refused };
  const result = resultIn(body);
  if (isDone) {
    const { success, errors } = result ?? {
      success: [],
      errors: ids.map((entityId) => ({ entityId, error: problem ?? unreadable })),
    };
    return { success, errors: [...errors, ...refused] };
  }
  // Some brokers, such as Scorpio, answer 400, 404 or 409 with the result where all of a batch failed.
  return result && result.errors.length > 0
    ? { success: result.success, errors: [...result.errors, ...refused] }
    : undefined;
}

/** Undefined where the text is no result. */
function resultIn(text: string): BatchResult | undefined {
  const value = jsonIn(text);
  if (Array.isArray(value)) return resultOfItems(value.filter(isObject));
  if (!isObject(value) || !('success' in value || 'errors' in value)) return undefined;
  const { success, errors } = value;
  return { success: listOf(success).filter((id) => typeof id === 'string'), errors: listOf(errors) };
}

/** Scorpio has answered with a list of `{id, success}` and `{id, failure: [problem]}`. */
function resultOfItems(items: readonly Readonly<Record<string, unknown>>[]): BatchResult | undefined {
  const result: { success: string[]; errors: BatchError[] } = { success: [], errors: [] };
  for (const { id, success, failure } of items) {
    if (typeof id !== 'string') continue;
    if (failure !== undefined) result.errors.push({ entityId: id, error: listOf(failure)[0] ?? failure });
    else if (success !== undefined) result.success.push(id);
  }
  return result.success.length + result.errors.length > 0 ? result : undefined;
}

/** The problem that an answer is, whatever its status. */
function problemIn(text: string): unknown {
  const value = jsonIn(text);
  const type = isObject(value) ? value['type'] : undefined;
  return typeof type === 'string' && type.includes('/ngsi-ld/errors/') ? value : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}
