import { errorTypes, ownType } from '../../ngsi-ld/problem.js';

/** What is the same for all problems of one kind. */
export interface ProblemKind {
  readonly type: string;
  readonly title: string;
  readonly status: number;
}

/** Every kind of problem that requests under /api/v2 are answered with: error mapping and OpenAPI both follow it. */
export const problemKinds = {
  invalidRequest: kind(400, errorTypes.invalidRequest, 'Invalid request'),
  unauthorized: kind(401, ownType('unauthorized'), 'Unauthorized'),
  notFound: kind(404, errorTypes.resourceNotFound, 'Not found'),
  methodNotAllowed: kind(405, ownType('method-not-allowed'), 'Method not allowed'),
  readOnly: kind(405, ownType('read-only'), 'Read-only'),
  alreadyExists: kind(409, errorTypes.alreadyExists, 'Already exists'),
  inUse: kind(409, ownType('in-use'), 'In use'),
  incompatibleChange: kind(409, ownType('incompatible-change'), 'Incompatible change'),
  dependencyChanged: kind(409, ownType('dependency-changed'), 'Something it depends on has changed'),
  preconditionFailed: kind(412, ownType('precondition-failed'), 'Precondition failed'),
  bodyTooLarge: kind(413, ownType('body-too-large'), 'Body too large'),
  mediaTypeNotSupported: kind(415, ownType('media-type-not-supported'), 'Media type not supported'),
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
  internalError: kind(500, errorTypes.internalError, 'Internal error'),
  deadlineExceeded: kind(504, ownType('deadline-exceeded'), 'Deadline exceeded'),
  contextNotHad: kind(504, errorTypes.ldContextNotAvailable, 'Context not available'),
  busy: kind(503, ownType('busy'), 'Busy'),
  storeUnavailable: kind(503, ownType('store-unavailable'), 'Store unavailable'),
} as const satisfies Record<string, ProblemKind>;

export type ProblemName = keyof typeof problemKinds;

function kind(status: number, type: string, title: string): ProblemKind {
  return { type, title, status };
}
