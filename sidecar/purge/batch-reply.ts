import {
  parseBrokerProblem,
  parseJsonObject,
  problemMembers,
  type BrokerProblem,
} from './broker/broker-problem.js';
import { isRetryableStatus, type BrokerReply } from './broker/failure.js';

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
  const errors = body?.['errors'];
  if (reply.status >= 200 && reply.status < 300) return { kind: 'items', items: resultsOf(ids, errors) };
  if (Array.isArray(errors) && errors.length > 0) return { kind: 'items', items: resultsOf(ids, errors) };
  // A 404 that names entities means that they are missing, not the operation.
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
