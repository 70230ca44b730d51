import { errorTypes, ownType, type Problem } from '../ngsi-ld/problem.js';

/** What all problems of one kind have in common. */
export interface ProblemKind {
  readonly type: string;
  readonly title: string;
  readonly status: number;
}

/**
 * Every kind of problem that this gateway answers with (RFC 9457): the only place that chooses statuses. Each type of
 * ours has a heading in docs/errors.md. problem.ts says which error is a problem of which kind.
 */
export const problemKinds = {
  invalidRequest: kind(400, errorTypes.invalidRequest, 'Invalid request'),
  badRequestData: kind(400, errorTypes.badRequestData, 'Bad request data'),
  jobSecretMissing: kind(400, ownType('job-secret-missing'), 'Credentials cannot be kept'),
  unauthorized: kind(401, ownType('unauthorized'), 'Unauthorized'),
  forbiddenByPolicy: kind(403, ownType('forbidden-by-policy'), 'Forbidden by policy'),
  hostNotAllowed: kind(403, ownType('host-not-allowed'), 'Host not allowed'),
  originNotAllowed: kind(403, ownType('origin-not-allowed'), 'Origin not allowed'),
  notFound: kind(404, errorTypes.resourceNotFound, 'Not found'),
  methodNotAllowed: kind(405, ownType('method-not-allowed'), 'Method not allowed'),
  readOnly: kind(405, ownType('read-only'), 'Read-only'),
  requestTimeout: kind(408, errorTypes.invalidRequest, 'Request Timeout'),
  alreadyExists: kind(409, errorTypes.alreadyExists, 'Already exists'),
  inUse: kind(409, ownType('in-use'), 'In use'),
  incompatibleChange: kind(409, ownType('incompatible-change'), 'Incompatible change'),
  dependencyChanged: kind(409, ownType('dependency-changed'), 'Something it depends on has changed'),
  modelPublished: kind(409, ownType('model-published'), 'The model has been published'),
  purgeOver: kind(409, ownType('purge-over'), 'The purge has ended'),
  runUnderWay: kind(409, ownType('run-under-way'), 'A run is under way'),
  typeAmbiguous: kind(409, ownType('type-ambiguous'), 'Several models'),
  tooManyMatches: kind(409, ownType('too-many-matches'), 'More matches than may be affected'),
  preconditionFailed: kind(412, ownType('precondition-failed'), 'Precondition failed'),
  bodyTooLarge: kind(413, ownType('body-too-large'), 'Body too large'),
  uriTooLong: kind(414, errorTypes.invalidRequest, 'URI Too Long'),
  mediaTypeNotSupported: kind(415, ownType('media-type-not-supported'), 'Media type not supported'),
  expectationFailed: kind(417, errorTypes.invalidRequest, 'Expectation Failed'),
  bodyInvalid: kind(422, ownType('body-invalid'), 'Invalid body'),
  schemaInvalid: kind(422, ownType('schema-invalid'), 'Invalid schema'),
  schemaDialectUnsupported: kind(422, ownType('schema-dialect-unsupported'), 'Draft not supported'),
  schemaTooLarge: kind(422, ownType('schema-too-large'), 'Schema too large'),
  schemaReferenceDangling: kind(422, ownType('schema-reference-dangling'), 'References lead nowhere'),
  schemaNotConvertible: kind(422, ownType('schema-not-convertible'), 'Schema not convertible'),
  schemaTooCostly: kind(422, ownType('schema-too-costly'), 'Schema too costly'),
  contextInvalid: kind(422, ownType('context-invalid'), 'Invalid @context'),
  contextRefused: kind(422, ownType('context-refused'), 'Context refused'),
  jsonLdInvalid: kind(422, ownType('json-ld-invalid'), 'Invalid JSON-LD'),
  dataDropped: kind(422, ownType('data-dropped'), 'Data would be dropped'),
  limitExceeded: kind(422, ownType('limit-exceeded'), 'Limit exceeded'),
  brokerThrottled: kind(429, ownType('broker-throttled'), 'The broker is throttling'),
  fieldsTooLarge: kind(431, errorTypes.invalidRequest, 'Request Header Fields Too Large'),
  internalError: kind(500, errorTypes.internalError, 'Internal error'),
  notSupported: kind(501, ownType('not-supported'), 'Not supported'),
  filterIgnored: kind(501, ownType('filter-ignored'), 'Filter not honoured by the broker'),
  transferCoding: kind(501, ownType('transfer-coding-not-supported'), 'Transfer coding not supported'),
  brokerRefused: kind(502, ownType('broker-refused'), 'The broker refused'),
  brokerFailed: kind(502, ownType('broker-failed'), 'The broker failed'),
  brokerUnreachable: kind(502, ownType('broker-unreachable'), 'Broker out of reach'),
  brokerReplyUnusable: kind(502, ownType('broker-reply-unusable'), 'Unusable answer from the broker'),
  brokerContextUnavailable: kind(502, errorTypes.ldContextNotAvailable, '@context not available'),
  unexpectedEntity: kind(502, ownType('unexpected-entity'), 'The broker listed an entity it should not'),
  uncountableMatches: kind(502, ownType('uncountable-matches'), 'Matches cannot be counted'),
  busy: kind(503, ownType('busy'), 'Busy'),
  connectionsBusy: kind(503, ownType('connections-busy'), 'All connections busy'),
  notConverging: kind(503, ownType('not-converging'), 'Matches keep turning up'),
  purgeCancelled: kind(503, ownType('purge-cancelled'), 'Purge cancelled'),
  shuttingDown: kind(503, ownType('shutting-down'), 'Shutting down'),
  storeUnavailable: kind(503, ownType('store-unavailable'), 'Store unavailable'),
  tooManyPurges: kind(503, ownType('too-many-purges'), 'Too many purges'),
  brokerTimeout: kind(504, ownType('broker-timeout'), 'Broker timed out'),
  contextUnavailable: kind(504, errorTypes.ldContextNotAvailable, 'Context not available'),
  deadlineExceeded: kind(504, ownType('deadline-exceeded'), 'Deadline exceeded'),
  loopDetected: kind(508, ownType('loop-detected'), 'Loop detected'),
} as const satisfies Record<string, ProblemKind>;

export type ProblemName = keyof typeof problemKinds;

/** A problem of one kind. @param members beyond those that every problem has, e.g. `parameter` */
export function problem(
  name: ProblemName,
  detail: string,
  members: Readonly<Record<string, unknown>> = {},
): Problem & { readonly detail: string } {
  return { ...problemKinds[name], detail, ...members };
}

function kind(status: number, type: string, title: string): ProblemKind {
  return { type, title, status };
}
