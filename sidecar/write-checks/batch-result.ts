import { isObject } from '../shared/json/json.js';
import { tryParseJson } from '../shared/json/lossless-json.js';

/** An error in a BatchOperationResult (ETSI GS CIM 009 V1.9.1, clause 5.2.16). */
export interface BatchError {
  readonly entityId: string;
  readonly error: unknown;
}

/** A BatchOperationResult (ETSI GS CIM 009 V1.9.1, clause 5.2.16). */
export interface BatchResult {
  readonly success: readonly string[];
  readonly errors: readonly unknown[];
}

/**
 * The result of a batch of which only a part was sent: the broker's own result, and the entities that were not sent.
 *
 * @param unreadable the error for an entity whose outcome the answer does not tell
 * @returns undefined if the broker did not carry out the batch at all; its answer then says why
 */
export function mergeBatchResult(
  status: number,
  body: string,
  sent: readonly string[],
  refused: readonly BatchError[],
  unreadable: unknown,
): BatchResult | undefined {
  const ids = [...new Set(sent)];
  const isDone = status >= 200 && status < 300;
  const problem = isDone ? parseProblem(body) : undefined;
  const result = parseResult(body);
  // 201 lists the new entities, and 204 none. Brokers of the first versions of NGSI-LD also name failures with 200.
  const hasFailed = problem !== undefined || (result?.errors.length ?? 0) > 0;
  if (isDone && status !== 207 && !hasFailed) return { success: ids, errors: refused };
  if (isDone) {
    const { success, errors } = result ?? {
      success: [],
      errors: ids.map((entityId) => ({ entityId, error: problem ?? unreadable })),
    };
    return { success, errors: [...errors, ...refused] };
  }
  // Some brokers, such as Scorpio, answer 400, 404 or 409 with a result if the whole batch failed.
  return result && result.errors.length > 0
    ? { success: result.success, errors: [...result.errors, ...refused] }
    : undefined;
}

/** Reads a result; undefined if the text is not one. */
function parseResult(text: string): BatchResult | undefined {
  const value = tryParseJson(text);
  if (Array.isArray(value)) return parseItemResults(value.filter(isObject));
  if (!isObject(value) || !('success' in value || 'errors' in value)) return undefined;
  const { success, errors } = value;
  return { success: listOf(success).filter((id) => typeof id === 'string'), errors: listOf(errors) };
}

/** Reads a result of Scorpio in another form: a list of `{id, success}` and `{id, failure: [problem]}`. */
function parseItemResults(items: readonly Readonly<Record<string, unknown>>[]): BatchResult | undefined {
  const result: { success: string[]; errors: BatchError[] } = { success: [], errors: [] };
  for (const { id, success, failure } of items) {
    if (typeof id !== 'string') continue;
    if (failure !== undefined) result.errors.push({ entityId: id, error: listOf(failure)[0] ?? failure });
    else if (success !== undefined) result.success.push(id);
  }
  return result.success.length + result.errors.length > 0 ? result : undefined;
}

/** The problem in an answer, whatever its status. */
function parseProblem(text: string): unknown {
  const value = tryParseJson(text);
  const type = isObject(value) ? value['type'] : undefined;
  return typeof type === 'string' && type.includes('/ngsi-ld/errors/') ? value : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}
