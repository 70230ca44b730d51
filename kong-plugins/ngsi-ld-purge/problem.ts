/** A problem detail (RFC 9457 § 3.1). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
}

const TYPE = 'urn:ngsi-ld-gateway:problem:';

const problems = {
  ambiguousPath: {
    type: `${TYPE}ambiguous-path`,
    title: 'Ambiguous path',
    status: 400,
    detail:
      'The path means a collection but is not spelt exactly. Send the DELETE to /ngsi-ld/v1/entities or /ngsi-ld/v1/temporal/entities.',
  },
  connectionHeader: {
    type: `${TYPE}hop-by-hop-header`,
    title: 'Connection header not accepted',
    status: 400,
    detail:
      'The Connection header of a purge must not name other headers: a proxy would remove them on the way.',
  },
  temporalDisabled: {
    type: `${TYPE}temporal-purge-disabled`,
    title: 'Purges of temporal data are not allowed',
    status: 403,
    detail: 'This gateway is configured not to delete temporal data by query.',
  },
  misconfigured: {
    type: `${TYPE}plugin-misconfigured`,
    title: 'The gateway is not configured correctly',
    status: 500,
    detail:
      'The configuration of the ngsi-ld-purge plugin is invalid, so nothing was deleted. The log of Kong names the fault.',
  },
  unavailable: {
    type: `${TYPE}gateway-failure`,
    title: 'The gateway failed to prepare the request',
    status: 503,
    detail: 'The request was not forwarded and nothing was deleted. It can be sent again.',
  },
} as const satisfies Record<string, Problem>;

/** One of the problems this plugin answers with. */
export function problem(name: keyof typeof problems): Problem {
  return problems[name];
}
