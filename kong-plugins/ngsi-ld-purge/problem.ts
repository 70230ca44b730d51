/** A problem detail (RFC 9457 § 3.1). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The path of the request, without its query. */
  readonly instance?: string;
}

const TYPE = 'urn:ngsi-ld-gateway:problem:';

/** Problems that the sidecar also has share its type, title and status. */
const problems = {
  ambiguousPath: {
    type: 'https://uri.etsi.org/ngsi-ld/errors/InvalidRequest',
    title: 'Invalid request',
    status: 400,
    detail:
      'The path of this DELETE could be read as a collection, but is not spelled as one. Send it to /ngsi-ld/v1/entities or /ngsi-ld/v1/temporal/entities.',
  },
  connectionHeader: {
    type: `${TYPE}hop-by-hop-header`,
    title: 'Connection header not accepted',
    status: 400,
    detail:
      'The Connection header must not name other headers here: a proxy would remove them on the way. Nothing was done.',
  },
  misconfigured: {
    type: `${TYPE}plugin-misconfigured`,
    title: 'The gateway is not configured correctly',
    status: 500,
    detail:
      'The fault is in the gateway, not in the request: the configuration of its ngsi-ld-purge plugin is invalid. The request was not forwarded, and nothing was done. The log of Kong names the fault.',
  },
  unavailable: {
    type: `${TYPE}gateway-failure`,
    title: 'The gateway failed to prepare the request',
    status: 503,
    detail:
      'The fault is in the gateway, not in the request, which was not forwarded: nothing was done, and it can be sent again. The log of Kong has the cause.',
  },
} as const satisfies Record<string, Problem>;

/** Returns one of the problems that this plugin answers with. */
export function problem(name: keyof typeof problems): Problem {
  return problems[name];
}

/** Returns a path as a URI reference for `instance`, encoded as the sidecar encodes it. */
export function instanceOf(rawPath: string): string {
  return rawPath.replace(/[^\x21-\x7e]|["#<>\\^`{|}]|%(?![0-9a-f]{2})/giu, (character) =>
    Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&'),
  );
}
