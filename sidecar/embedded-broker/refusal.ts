import { STATUS_CODES } from 'node:http';
import { errorTypes, type Problem } from '../shared/problem.js';

/** Thrown when the embedded broker answers a request with a problem. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;

  constructor(problem: Problem, headers: Readonly<Record<string, string>> = {}) {
    super(problem.detail ?? problem.title);
    this.problem = problem;
    this.headers = headers;
  }
}

/** Makes a refusal with the given status, for a configured fault. */
export function refusalWith(status: number, detail: string): Refusal {
  if (status === 501) return refusals.notImplemented(detail);
  return new Refusal({ type: 'about:blank', title: STATUS_CODES[status] ?? 'Refused', status, detail });
}

function maker(status: number, type: string, title: string) {
  return (detail: string, headers?: Readonly<Record<string, string>>): Refusal =>
    new Refusal({ type, title, status, detail }, headers);
}

/** Makers of refusals, one for each kind (ETSI GS CIM 009 V1.9.1, clauses 5.5.2 and 6.3.2); each takes the detail. */
export const refusals = {
  badRequest: maker(400, errorTypes.badRequestData, 'The content of the request is wrong'),
  invalidRequest: maker(400, errorTypes.invalidRequest, 'The request cannot be understood'),
  notFound: maker(404, errorTypes.resourceNotFound, 'The resource does not exist'),
  nonexistentTenant: maker(404, errorTypes.nonexistentTenant, 'The tenant does not exist'),
  alreadyExists: maker(409, errorTypes.alreadyExists, 'The resource already exists'),
  conflict: maker(409, errorTypes.conflict, 'It is locked'),
  tooManyResults: maker(403, errorTypes.tooManyResults, 'Too many results were requested'),
  notImplemented: maker(501, errorTypes.operationNotSupported, 'The embedded broker does not support this'),
  internal: maker(500, errorTypes.internalError, 'Something went wrong'),
  methodNotAllowed: maker(405, 'about:blank', 'Method Not Allowed'),
  notAcceptable: maker(406, 'about:blank', 'Not Acceptable'),
  tooLarge: maker(413, 'about:blank', 'Content Too Large'),
  unsupportedMediaType: maker(415, 'about:blank', 'Unsupported Media Type'),
  tooManyRequests: maker(429, 'about:blank', 'Too Many Requests'),
  unavailable: maker(503, 'about:blank', 'Service Unavailable'),
} as const;
