import {
  parseBrokerProblem,
  parseJsonObject,
  problemMembers,
  type BrokerProblem,
} from './broker/broker-problem.js';
import { isRetryableStatus, type BrokerReply } from './broker/failure.js';

/** What the answer to a delete says of one item. Neither of the first two is believed while a new query still shows it. */
export type DeleteResult =
  /** Deleted. */
  | { readonly kind: 'deleted' }
  /** There was nothing to delete. */
  | { readonly kind: 'absent' }
  /** Failed in a way that another try may cure. */
  | { readonly kind: 'retryable'; readonly problem: BrokerProblem }
  /** Failed in a way that the broker gives no status for: worth one more, single, try. */
  | { readonly kind: 'unclear'; readonly problem: BrokerProblem }
  /** Refused for a reason of its own. */
  | { readonly kind: 'refused'; readonly problem: BrokerProblem };

/** What the answer to a batch delete means as a whole. */
export type BatchResult =
  | { readonly kind: 'items'; readonly items: ReadonlyMap<string, DeleteResult> }
  /** The broker has no batch delete. */
  | { readonly kind: 'no-batch' }
  /** The batch as a whole was refused: too large, or something in it is. */
  | { readonly kind: 'refused'; readonly problem: BrokerProblem };

/**
 * Reads the answer to a batch delete (clause 6.17.3.1), leniently: brokers answer 204 or 200, 207 with or without
 * `errors`, 404 with `errors` when all failed (Scorpio) or with `entityId` or `entityIds` when all are missing (Coraine). An error
 * item outweighs a mention under `success`; an id that is named nowhere counts as deleted.
 *
 * @param ids the ids of the batch
 */
export function readBatchReply(reply: BrokerReply, ids: readonly string[]): BatchResult {
  const body = parseJsonObject(reply.body);
  const errors = body?.['errors'];
  if (reply.status >= 200 && reply.status < 300) return { kind: 'items', items: resultsOf(ids, errors) };
  if (Array.isArray(errors) && errors.length > 0) return { kind: 'items', items: resultsOf(ids, errors) };
  // A 404 that names entities says that they are missing, not that batch delete is.
  const namesEntities = body !== undefined && ('entityIds' in body || 'entityId' in body);
  if (reply.status === 404 && namesEntities) {
    return { kind: 'items', items: new Map(ids.map((id) => [id, ABSENT])) };
  }
  if (reply.status === 404 || reply.status === 405 || reply.status === 501) return { kind: 'no-batch' };
  return { kind: 'refused', problem: parseBrokerProblem(reply) };
}

const DELETED: DeleteResult = { kind: 'deleted' };
const ABSENT: DeleteResult = { kind: 'absent' };

function resultsOf(ids: readonly string[], errors: unknown): ReadonlyMap<string, DeleteResult> {
  const items = new Map<string, DeleteResult>(ids.map((id) => [id, DELETED]));
  if (!Array.isArray(errors)) return items;
  for (const error of errors as unknown[]) {
    const item = asObject(error);
    if (item === undefined) continue;
    const id = item['entityId'] ?? item['id'];
    if (typeof id === 'string' && items.has(id)) items.set(id, resultOf(item));
  }
  return items;
}

function resultOf(item: Readonly<Record<string, unknown>>): DeleteResult {
  const details = item['error'] ?? item['ProblemDetails'] ?? item['problemDetails'];
  const object = asObject(details);
  const members = problemMembers(object ?? {});
  const status = statusOf(object?.['status'] ?? item['status']);
  const problem: BrokerProblem = {
    ...members,
    ...(typeof details === 'string' ? { title: details.slice(0, 1000) } : {}),
    status: status ?? 500,
  };
  const text = `${problem.type ?? ''} ${problem.title ?? ''}`;
  if (status === 404 || (status === undefined && /not ?found|non-?exist/i.test(text))) return ABSENT;
  if (status === undefined) return { kind: 'unclear', problem };
  return { kind: isRetryableStatus(status) ? 'retryable' : 'refused', problem };
}

function statusOf(value: unknown): number | undefined {
  const status = typeof value === 'string' ? Number(value) : value;
  return typeof status === 'number' && Number.isInteger(status) && status >= 100 && status <= 599
    ? status
    : undefined;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}
