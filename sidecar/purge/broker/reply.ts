import type { BrokerReply } from './client.js';
import { parseRetryAfter } from './retry-after.js';
import { tryParseJson } from '../../shared/json/lossless-json.js';
import { truncate } from '../../shared/format-value.js';

/**
 * The readable part of a broker's error. Brokers send problems without status or title, HTML pages and empty bodies, so
 * every member but the status is optional, and every text is capped.
 */
export interface BrokerProblem {
  readonly status: number;
  readonly type?: string;
  readonly title?: string;
  readonly detail?: string;
}

const MAX_TEXT_CHARS = 1000;

/** Reads the problem in a reply; never throws. */
export function parseBrokerProblem(reply: BrokerReply): BrokerProblem {
  const body = parseJsonObject(reply.body);
  if (body !== undefined) return { ...problemMembers(body), status: reply.status };
  const isText = !/html|xml/.test(mediaTypeOf(reply.headers.get('content-type')));
  const text = isText ? reply.body.trim() : '';
  return text === '' ? { status: reply.status } : { status: reply.status, detail: cap(text) };
}

/** Where servers say what is wrong. Some have only `error`, which is often a mere code. */
const DETAIL_MEMBERS = ['detail', 'message', 'description', 'error_description'] as const;

/** The textual members of a problem-like object. */
function problemMembers(body: Readonly<Record<string, unknown>>): Omit<BrokerProblem, 'status'> {
  const type = textOf(body['type']);
  const title = textOf(body['title']);
  const details = DETAIL_MEMBERS.map((name) => body[name]);
  const { error } = body;
  const detail =
    details.map(textOf).find(isDefined) ??
    details.map(jsonOf).find(isDefined) ??
    textOf(error) ??
    jsonOf(error);
  return {
    ...(type === undefined ? {} : { type }),
    ...(title === undefined ? {} : { title }),
    ...(detail === undefined ? {} : { detail }),
  };
}

/**
 * True when a problem says that the tenant does not exist. The standard's type is NonexistentTenant (clause 5.5.10);
 * brokers also write NonExistingTenant and TenantNotFound.
 */
export function isUnknownTenant(problem: BrokerProblem): boolean {
  if (problem.status !== 404) return false;
  const { type = '', title = '' } = problem;
  // "Entity urn:ngsi-ld:Tenant:1 not found" is about an entity.
  const spoken = /\bentit|urn:/i.test(title) ? '' : title;
  return /nonexist\w*tenant|tenant\W*(?:is\W+|was\W+|does\W+)?(?:not|unknown)|(?:no such|unknown|non-?existent|non-?existing)\W+tenant/i.test(
    `${type} ${spoken}`,
  );
}

/** True when the problem is about the page size: TooManyResults (clause 5.5.2) or similar words. */
export function isAboutPageSize(problem: BrokerProblem): boolean {
  return /too ?many ?results|\blimit\b|page ?size/i.test(problemText(problem));
}

/** All texts of a problem, for the few decisions that depend on wording. */
export function problemText(problem: BrokerProblem): string {
  return [problem.type, problem.title, problem.detail].filter((text) => text !== undefined).join(' ');
}

/** Parses a JSON object; undefined for anything else. */
export function parseJsonObject(text: string): JsonObject | undefined {
  return asObject(tryParseJson(text));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? cap(value.trim()) : undefined;
}

/** Returns the JSON of an object or list that is given in place of a text, as by Scorpio, Keyrock and FastAPI. */
function jsonOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return undefined;
  try {
    return cap(JSON.stringify(value));
  } catch {
    // It is nested too deeply to be written, before Node 26.
    return undefined;
  }
}

function cap(text: string): string {
  return truncate(text, MAX_TEXT_CHARS);
}

/** The type/subtype of a Content-Type value in lower case, without parameters (RFC 9110 § 8.3); '' when absent. */
function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Why a request failed, for reasons that may pass: plain data for the retry policy and for all decisions based on it. */
type FailureKind =
  | 'throttled'
  | 'broker-error'
  | 'context-unavailable'
  | 'timeout'
  | 'unreachable'
  /** Answered as a success with a result that no query can have: the broker hides that its query failed. */
  | 'failed-query'
  /** Not sent, because the purge might exceed its bound. */
  | 'withheld';

export interface Failure {
  readonly kind: FailureKind;
  /** Status of the answer, if there was one. */
  readonly status?: number;
  /** The broker's Retry-After as sent; undefined if it is neither a number of seconds nor a date. */
  readonly retryAfter?: string;
  readonly problem?: BrokerProblem;
  /** The request was not sent, because there was no connection. */
  readonly wasNeverSent?: true;
  readonly cause?: unknown;
}

/** Server errors that mean "not this way" rather than "not now" (RFC 9110 § 15.6, RFC 5842, RFC 2774, RFC 6585). */
const PERMANENT_SERVER_ERRORS: ReadonlySet<number> = new Set([501, 505, 508, 510, 511]);

/** True for the statuses worth another try: 429 and every 5xx except the permanent ones. */
export function isRetryableStatus(status: number): boolean {
  return status === 429 || (status >= 500 && status <= 599 && !PERMANENT_SERVER_ERRORS.has(status));
}

/** Returns the failure in a reply; undefined if the reply is final. */
export function failureOf(reply: BrokerReply): Failure | undefined {
  if (!isRetryableStatus(reply.status)) return undefined;
  const problem = parseBrokerProblem(reply);
  const asked = reply.headers.get('retry-after') ?? '';
  return {
    kind:
      reply.status === 429 ? 'throttled' : isContextProblem(problem) ? 'context-unavailable' : 'broker-error',
    status: reply.status,
    problem,
    ...(parseRetryAfter(asked, 0) === undefined ? {} : { retryAfter: asked }),
  };
}

/** LdContextNotAvailable is 504 in V1.9.1 (Table 6.3.2-1) and was 503 before. Both are in use, so the type decides. */
function isContextProblem(problem: BrokerProblem): boolean {
  return /LdContextNotAvailable/i.test(problem.type ?? '');
}

/** The result of deleting one item, as answered. `deleted` and `absent` are not trusted while a query still lists the item. */
export type DeleteResult =
  /** The broker deleted it. */
  | { readonly kind: 'deleted' }
  /** The broker did not have it. */
  | { readonly kind: 'absent' }
  /** Failed for a reason that may pass. `isCutShort`: there were tries left, but the item had been listed too long ago. */
  | { readonly kind: 'retryable'; readonly problem: BrokerProblem; readonly isCutShort?: boolean }
  /** Not sent, because the item was listed too long ago. */
  | { readonly kind: 'unsent' }
  /** The answer leaves open whether it was deleted: worth one more try, alone. */
  | { readonly kind: 'unclear'; readonly problem: BrokerProblem }
  /** Permanently refused. */
  | { readonly kind: 'refused'; readonly problem: BrokerProblem };

/** The meaning of the answer to a batch delete. */
export type BatchResult =
  | { readonly kind: 'items'; readonly items: ReadonlyMap<string, DeleteResult> }
  /** The broker has no batch delete. */
  | { readonly kind: 'no-batch' }
  /** The whole batch was refused: for its size, or for something in it. */
  | { readonly kind: 'refused'; readonly problem: BrokerProblem };

/**
 * Reads the answer to a batch delete (clause 6.17.3.1), leniently: brokers answer 204 or 200, 207 with or without `errors`, 404
 * with `errors` when all failed (Scorpio) or with `entityId` or `entityIds` when all are missing (Coraine), or with a list of
 * `{id, failure: [problem]}` (Scorpio). An error overrides an entry under `success`. An id that is not mentioned counts as
 * deleted by a success, and is unclear after an error, or if a success has an error that names none of the ids. If the body of
 * a success is a problem, all ids are unclear. A query has to tell.
 *
 * @param ids the ids of the batch
 */
export function readBatchReply(reply: BrokerReply, ids: readonly string[]): BatchResult {
  const body = tryParseJson(reply.body);
  const errors = failuresIn(body);
  const object = asObject(body) ?? {};
  if (reply.status >= 200 && reply.status < 300) {
    const others = contradiction(reply, body) ?? strayFailure(errors, ids);
    return { kind: 'items', items: resultsOf(ids, errors, object['success'], others) };
  }
  if (errors.length > 0) {
    const unclear: DeleteResult = { kind: 'unclear', problem: parseBrokerProblem(reply) };
    return { kind: 'items', items: resultsOf(ids, errors, object['success'], unclear) };
  }
  // A 404 that names entities means that they are missing, not the operation.
  if (reply.status === 404 && ('entityIds' in object || 'entityId' in object)) {
    return { kind: 'items', items: new Map(ids.map((id) => [id, ABSENT])) };
  }
  if (reply.status === 404 || reply.status === 405 || reply.status === 501) return { kind: 'no-batch' };
  return { kind: 'refused', problem: parseBrokerProblem(reply) };
}

/** Returns the result of ids that are not mentioned, if an error names none of the ids: it may be about any of them. */
function strayFailure(errors: readonly JsonObject[], ids: readonly string[]): DeleteResult | undefined {
  const known = new Set<unknown>(ids);
  const stray = errors.find((item) => !known.has(item['entityId'] ?? item['id']));
  return stray && { kind: 'unclear', problem: problemOf(stray, statusIn(stray) ?? 500) };
}

type JsonObject = Readonly<Record<string, unknown>>;

const DELETED: DeleteResult = { kind: 'deleted' };
const ABSENT: DeleteResult = { kind: 'absent' };

/**
 * Reads the failure in a successful answer to the delete of a single item; undefined if there is none. Some brokers answer 207
 * with the result of an update (clause 5.2.18), whose `notUpdated` names no entity (Orion-LD).
 *
 * An item that is missing according to the answer may be gone, or another source may hold it; only a query shows which.
 */
export function failureIn(reply: BrokerReply): DeleteResult | undefined {
  const body = tryParseJson(reply.body);
  if (reply.status !== 207) return contradiction(reply, body);
  const results = failuresIn(body).map((item) => ({ item, result: resultOf(item) }));
  const [worst] = [...results.filter(({ result }) => result.kind !== 'absent'), ...results];
  if (worst === undefined) return undefined;
  const { item, result } = worst;
  return result.kind === 'absent' ? { kind: 'unclear', problem: problemOf(item, 404) } : result;
}

/** Returns the result for a success whose body is a problem; undefined for any other reply. */
function contradiction(reply: BrokerReply, body: unknown): DeleteResult | undefined {
  const object = asObject(body);
  if (reply.status < 200 || reply.status >= 300 || object === undefined) return undefined;
  if (['success', 'errors', 'notUpdated'].some((name) => name in object)) return undefined;
  const isProblem = mediaTypeOf(reply.headers.get('content-type')) === 'application/problem+json';
  if (!isProblem && !/\/ngsi-ld\/errors\//.test(textOf(object['type']) ?? '')) return undefined;
  return {
    kind: 'unclear',
    problem: { ...problemMembers(object), status: statusOf(object['status']) ?? 502 },
  };
}

/** An item that an answer reports as failed. */
export interface FailedItem {
  readonly entityId?: string;
  readonly attribute?: string;
  /** Undefined if the answer gives none; that of the problem is 500 then. */
  readonly status: number | undefined;
  readonly problem: BrokerProblem;
}

/** Returns the items that an answer reports as failed, in any of the forms that brokers use. */
export function failedItems(reply: BrokerReply): readonly FailedItem[] {
  return failuresIn(tryParseJson(reply.body)).map((item) => {
    const status = statusIn(item);
    const entityId = textOf(item['entityId'] ?? item['id']);
    const attribute = textOf(item['attributeName']);
    return {
      ...(entityId === undefined ? {} : { entityId }),
      ...(attribute === undefined ? {} : { attribute }),
      status,
      problem: problemOf(item, status ?? 500),
    };
  });
}

/** Returns the failed items of a multi-status body. */
function failuresIn(body: unknown): readonly JsonObject[] {
  const object = asObject(body);
  // Scorpio has this form in lists and by itself.
  const own = object === undefined ? objectsIn(body) : [object];
  const failed = own
    .filter((item) => item['failure'] !== undefined)
    .map(({ id, failure }) => ({ entityId: id, error: objectsIn(failure)[0] ?? failure }));
  return [...failed, ...objectsIn(object?.['errors']), ...objectsIn(object?.['notUpdated'])];
}

function objectsIn(items: unknown): readonly JsonObject[] {
  return Array.isArray(items) ? (items as unknown[]).map(asObject).filter((item) => item !== undefined) : [];
}

/** @param others result of the ids that are neither failures nor, if that is a list, in `success` */
function resultsOf(
  ids: readonly string[],
  errors: readonly JsonObject[],
  success?: unknown,
  others = DELETED,
): ReadonlyMap<string, DeleteResult> {
  const deleted = new Set<unknown>(Array.isArray(success) ? success : []);
  const items = new Map<string, DeleteResult>(ids.map((id) => [id, deleted.has(id) ? DELETED : others]));
  for (const item of errors) {
    const id = item['entityId'] ?? item['id'];
    if (typeof id === 'string' && items.has(id)) items.set(id, resultOf(item));
  }
  return items;
}

function resultOf(item: JsonObject): DeleteResult {
  const status = statusIn(item);
  const problem = problemOf(item, status ?? 500);
  const text = `${problem.type ?? ''} ${problem.title ?? ''}`;
  if (status === 404 || (status === undefined && /not ?found|non-?exist/i.test(text))) return ABSENT;
  if (status === undefined) return { kind: 'unclear', problem };
  return { kind: isRetryableStatus(status) ? 'retryable' : 'refused', problem };
}

function statusIn(item: JsonObject): number | undefined {
  const object = asObject(detailsOf(item));
  return [object?.['status'], object?.['errorCode'], item['status'], item['statusCode']]
    .map(statusOf)
    .find(isDefined);
}

function detailsOf(item: JsonObject): unknown {
  return item['error'] ?? item['ProblemDetails'] ?? item['problemDetails'];
}

/** Reads the problem of a failed item, from an object in it or from its own members. */
function problemOf(item: JsonObject, status: number): BrokerProblem {
  const details = detailsOf(item);
  const texts = [details].flat().filter((one) => typeof one === 'string');
  const text = texts.length > 0 ? texts.join('; ') : item['reason'];
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
