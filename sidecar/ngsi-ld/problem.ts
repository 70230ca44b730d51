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
