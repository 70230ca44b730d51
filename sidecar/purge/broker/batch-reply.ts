import { parseBrokerProblem, parseJsonObject, problemMembers, type BrokerProblem } from './broker-problem.js';
import { isRetryableStatus, type BrokerReply } from './failure.js';

/** The result of deleting one item, as answered. `deleted` and `absent` are not trusted while a query still lists the item. */
export type DeleteResult =
  /** The broker deleted it. */
  | { readonly kind: 'deleted' }
  /** The broker did not have it. */
  | { readonly kind: 'absent' }
  /** Failed for a reason that may pass; `isCutShort`: with tries left, since it was listed too long ago. */
  | { readonly kind: 'retryable'; readonly problem: BrokerProblem; readonly isCutShort?: boolean }
  /** Not sent, since it was listed too long ago. */
  | { readonly kind: 'unsent' }
  /** Failed without a status: worth one more try, alone. */
  | { readonly kind: 'unclear'; readonly problem: BrokerProblem }
  /** Refused for good. */
  | { readonly kind: 'refused'; readonly problem: BrokerProblem };

/** The meaning of the answer to a batch delete. */
export type BatchResult =
  | { readonly kind: 'items'; readonly items: ReadonlyMap<string, DeleteResult> }
  /** The broker has no batch delete. */
  | { readonly kind: 'no-batch' }
  /** The whole batch was refused: for its size, or for something in it. */
  | { readonly kind: 'refused'; readonly problem: BrokerProblem };

/**
 * Reads the answer to a batch delete (clause 6.17.3.1), leniently: brokers answer 204 or 200, 207 with or without
 * `errors`, 404 with `errors` when all failed (Scorpio) or with `entityId` or `entityIds` when all are missing (Coraine). An error
 * overrides an entry under `success`; an id that is not mentioned counts as deleted.
 *
 * @param ids the ids of the batch
 */
export function readBatchReply(reply: BrokerReply, ids: readonly string[]): BatchResult {
  const body = parseJsonObject(reply.body);
  const errors = failuresIn(body);
  if (reply.status >= 200 && reply.status < 300) return { kind: 'items', items: resultsOf(ids, errors) };
  if (errors.length > 0) return { kind: 'items', items: resultsOf(ids, errors) };
  // A 404 that names entities means that they are missing, not the operation.
  const namesEntities = body !== undefined && ('entityIds' in body || 'entityId' in body);
  if (reply.status === 404 && namesEntities) {
    return { kind: 'items', items: new Map(ids.map((id) => [id, ABSENT])) };
  }
  if (reply.status === 404 || reply.status === 405 || reply.status === 501) return { kind: 'no-batch' };
  return { kind: 'refused', problem: parseBrokerProblem(reply) };
}

type JsonObject = Readonly<Record<string, unknown>>;

const DELETED: DeleteResult = { kind: 'deleted' };
const ABSENT: DeleteResult = { kind: 'absent' };

/**
 * What a 207 to the delete of a single item says of its failure: some brokers answer with the result of an update (clause 5.2.18),
 * whose `notUpdated` names no entity (Orion-LD). Undefined when it says of none.
 *
 * What is missing there may be gone, or be held by another source: only a query shows it.
 */
export function failureIn(reply: BrokerReply): DeleteResult | undefined {
  if (reply.status !== 207) return undefined;
  const results = failuresIn(parseJsonObject(reply.body)).map((item) => ({ item, result: resultOf(item) }));
  const [worst] = [...results.filter(({ result }) => result.kind !== 'absent'), ...results];
  if (worst === undefined) return undefined;
  const { item, result } = worst;
  return result.kind === 'absent' ? { kind: 'unclear', problem: problemOf(item, 404) } : result;
}

/** The items of a multi-status body that failed. */
function failuresIn(body: Readonly<Record<string, unknown>> | undefined): readonly JsonObject[] {
  return ['errors', 'notUpdated'].flatMap((member) => {
    const items = body?.[member];
    return Array.isArray(items)
      ? (items as unknown[]).map(asObject).filter((item) => item !== undefined)
      : [];
  });
}

function resultsOf(ids: readonly string[], errors: readonly JsonObject[]): ReadonlyMap<string, DeleteResult> {
  const items = new Map<string, DeleteResult>(ids.map((id) => [id, DELETED]));
  for (const item of errors) {
    const id = item['entityId'] ?? item['id'];
    if (typeof id === 'string' && items.has(id)) items.set(id, resultOf(item));
  }
  return items;
}

function resultOf(item: JsonObject): DeleteResult {
  const object = asObject(detailsOf(item));
  const status = [object?.['status'], item['status'], item['statusCode']].map(statusOf).find(isDefined);
  const problem = problemOf(item, status ?? 500);
  const text = `${problem.type ?? ''} ${problem.title ?? ''}`;
  if (status === 404 || (status === undefined && /not ?found|non-?exist/i.test(text))) return ABSENT;
  if (status === undefined) return { kind: 'unclear', problem };
  return { kind: isRetryableStatus(status) ? 'retryable' : 'refused', problem };
}

function detailsOf(item: JsonObject): unknown {
  return item['error'] ?? item['ProblemDetails'] ?? item['problemDetails'];
}

/** What an item says, in an object of its own or by its own members. */
function problemOf(item: JsonObject, status: number): BrokerProblem {
  const details = detailsOf(item);
  const text = typeof details === 'string' ? details : item['reason'];
  const said = asObject(details) ?? (details === undefined ? { ...item, type: undefined } : {});
  const title = typeof text === 'string' ? { title: text.slice(0, 1000) } : {};
  return { ...title, ...problemMembers(said), status };
}

function isDefined<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}

function statusOf(value: unknown): number | undefined {
  const status = typeof value === 'string' ? Number(value) : value;
  return typeof status === 'number' && Number.isInteger(status) && status >= 100 && status <= 599
    ? status
    : undefined;
}

function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}
