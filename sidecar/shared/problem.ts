/** Problem details (RFC 9457, which replaces RFC 7807) with the error types of ETSI GS CIM 009 V1.9.1, clause 5.5.2. */

const ETSI_ERRORS = 'https://uri.etsi.org/ngsi-ld/errors/';

/** Error types of the standard that this product sends or recognises. */
export const errorTypes = {
  invalidRequest: `${ETSI_ERRORS}InvalidRequest`,
  badRequestData: `${ETSI_ERRORS}BadRequestData`,
  alreadyExists: `${ETSI_ERRORS}AlreadyExists`,
  conflict: `${ETSI_ERRORS}Conflict`,
  operationNotSupported: `${ETSI_ERRORS}OperationNotSupported`,
  resourceNotFound: `${ETSI_ERRORS}ResourceNotFound`,
  nonexistentTenant: `${ETSI_ERRORS}NonexistentTenant`,
  internalError: `${ETSI_ERRORS}InternalError`,
  tooManyResults: `${ETSI_ERRORS}TooManyResults`,
  ldContextNotAvailable: `${ETSI_ERRORS}LdContextNotAvailable`,
} as const;

/** A problem: the members of RFC 9457 § 3.1 and any extension members. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly instance?: string;
  readonly [member: string]: unknown;
}

/** Returns the URI of a problem type of this product; each type has a heading in docs/errors.md. */
export function problemTypeUri(name: string): string {
  return `urn:ngsi-ld-gateway:problem:${name}`;
}

/**
 * Every kind of problem that this gateway answers with (RFC 9457); the only place that determines statuses. Each type
 * defined by the gateway has a heading in docs/errors.md.
 */
export const problemKinds = {
  invalidRequest: shape(400, errorTypes.invalidRequest, 'Invalid request'),
  badRequestData: shape(400, errorTypes.badRequestData, 'Bad request data'),
  writeInvalid: shape(400, errorTypes.badRequestData, 'The entity is not valid'),
  writeNotJudged: shape(400, problemTypeUri('write-not-judged'), 'The entity is not judged'),
  jobSecretMissing: shape(400, problemTypeUri('job-secret-missing'), 'Credentials cannot be kept'),
  unauthorized: shape(401, problemTypeUri('unauthorized'), 'Unauthorized'),
  tokenRefused: shape(401, problemTypeUri('token-refused'), 'Access token not accepted'),
  roleMissing: shape(403, problemTypeUri('role-missing'), 'Role missing'),
  tenantRefused: shape(403, problemTypeUri('tenant-refused'), 'Tenant not allowed'),
  forbiddenByPolicy: shape(403, problemTypeUri('forbidden-by-policy'), 'Forbidden by policy'),
  hostNotAllowed: shape(403, problemTypeUri('host-not-allowed'), 'Host not allowed'),
  originNotAllowed: shape(403, problemTypeUri('origin-not-allowed'), 'Origin not allowed'),
  notFound: shape(404, errorTypes.resourceNotFound, 'Not found'),
  methodNotAllowed: shape(405, problemTypeUri('method-not-allowed'), 'Method not allowed'),
  readOnly: shape(405, problemTypeUri('read-only'), 'Read-only'),
  requestTimeout: shape(408, errorTypes.invalidRequest, 'Request Timeout'),
  alreadyExists: shape(409, errorTypes.alreadyExists, 'Already exists'),
  inUse: shape(409, problemTypeUri('in-use'), 'In use'),
  incompatibleChange: shape(409, problemTypeUri('incompatible-change'), 'Incompatible change'),
  dependencyChanged: shape(409, problemTypeUri('dependency-changed'), 'Something it depends on has changed'),
  modelPublished: shape(409, problemTypeUri('model-published'), 'The model has been published'),
  purgeOver: shape(409, problemTypeUri('purge-over'), 'The purge has ended'),
  scanOver: shape(409, problemTypeUri('scan-over'), 'The scan has ended'),
  runUnderWay: shape(409, problemTypeUri('run-under-way'), 'A run is under way'),
  typeAmbiguous: shape(409, problemTypeUri('type-ambiguous'), 'Several models'),
  tooManyMatches: shape(409, problemTypeUri('too-many-matches'), 'More matches than may be affected'),
  planGone: shape(409, problemTypeUri('plan-gone'), 'Plan gone'),
  archiveUnreadable: shape(409, problemTypeUri('archive-unreadable'), 'Archive cannot be read'),
  preconditionFailed: shape(412, problemTypeUri('precondition-failed'), 'Precondition failed'),
  bodyTooLarge: shape(413, problemTypeUri('body-too-large'), 'Body too large'),
  uriTooLong: shape(414, errorTypes.invalidRequest, 'URI Too Long'),
  mediaTypeNotSupported: shape(415, problemTypeUri('media-type-not-supported'), 'Media type not supported'),
  expectationFailed: shape(417, errorTypes.invalidRequest, 'Expectation Failed'),
  bodyInvalid: shape(422, problemTypeUri('body-invalid'), 'Invalid body'),
  schemaInvalid: shape(422, problemTypeUri('schema-invalid'), 'Invalid schema'),
  schemaDialectUnsupported: shape(422, problemTypeUri('schema-dialect-unsupported'), 'Draft not supported'),
  schemaTooLarge: shape(422, problemTypeUri('schema-too-large'), 'Schema too large'),
  schemaReferenceDangling: shape(422, problemTypeUri('schema-reference-dangling'), 'References lead nowhere'),
  schemaNotConvertible: shape(422, problemTypeUri('schema-not-convertible'), 'Schema not convertible'),
  schemaTooCostly: shape(422, problemTypeUri('schema-too-costly'), 'Schema too costly'),
  contextInvalid: shape(422, problemTypeUri('context-invalid'), 'Invalid @context'),
  contextRefused: shape(422, problemTypeUri('context-refused'), 'Context refused'),
  jsonLdInvalid: shape(422, problemTypeUri('json-ld-invalid'), 'Invalid JSON-LD'),
  dataDropped: shape(422, problemTypeUri('data-dropped'), 'Data would be dropped'),
  limitExceeded: shape(422, problemTypeUri('limit-exceeded'), 'Limit exceeded'),
  brokerThrottled: shape(429, problemTypeUri('broker-throttled'), 'The broker is throttling'),
  fieldsTooLarge: shape(431, errorTypes.invalidRequest, 'Request Header Fields Too Large'),
  internalError: shape(500, errorTypes.internalError, 'Internal error'),
  jobCrashes: shape(500, problemTypeUri('job-crashes'), 'The job crashes its gateway'),
  notSupported: shape(501, problemTypeUri('not-supported'), 'Not supported'),
  filterIgnored: shape(501, problemTypeUri('filter-ignored'), 'Filter not honoured by the broker'),
  transferCoding: shape(
    501,
    problemTypeUri('transfer-coding-not-supported'),
    'Transfer coding not supported',
  ),
  brokerRefused: shape(502, problemTypeUri('broker-refused'), 'The broker refused'),
  brokerFailed: shape(502, problemTypeUri('broker-failed'), 'The broker failed'),
  brokerUnreachable: shape(502, problemTypeUri('broker-unreachable'), 'Broker out of reach'),
  brokerReplyUnusable: shape(502, problemTypeUri('broker-reply-unusable'), 'Unusable answer from the broker'),
  brokerContextUnavailable: shape(502, errorTypes.ldContextNotAvailable, '@context not available'),
  unexpectedEntity: shape(
    502,
    problemTypeUri('unexpected-entity'),
    'The broker listed an entity it should not',
  ),
  uncountableMatches: shape(502, problemTypeUri('uncountable-matches'), 'Matches cannot be counted'),
  busy: shape(503, problemTypeUri('busy'), 'Busy'),
  connectionsBusy: shape(503, problemTypeUri('connections-busy'), 'All connections busy'),
  notConverging: shape(503, problemTypeUri('not-converging'), 'Matches keep turning up'),
  purgeCancelled: shape(503, problemTypeUri('purge-cancelled'), 'Purge cancelled'),
  shuttingDown: shape(503, problemTypeUri('shutting-down'), 'Shutting down'),
  storeUnavailable: shape(503, problemTypeUri('store-unavailable'), 'Store unavailable'),
  archiveUnavailable: shape(503, problemTypeUri('archive-unavailable'), 'Archive not available'),
  tooManyPurges: shape(503, problemTypeUri('too-many-purges'), 'Too many purges'),
  writeCheckFailed: shape(503, problemTypeUri('write-check-failed'), 'The write could not be judged'),
  signInUnavailable: shape(503, problemTypeUri('sign-in-unavailable'), 'Sign-in not available'),
  brokerTimeout: shape(504, problemTypeUri('broker-timeout'), 'Broker timed out'),
  contextUnavailable: shape(504, errorTypes.ldContextNotAvailable, 'Context not available'),
  deadlineExceeded: shape(504, problemTypeUri('deadline-exceeded'), 'Deadline exceeded'),
  loopDetected: shape(508, problemTypeUri('loop-detected'), 'Loop detected'),
} as const;

function shape(status: number, type: string, title: string): Pick<Problem, 'type' | 'title' | 'status'> {
  return { type, title, status };
}
