/** Decides what a request path means to this plugin. All functions are pure and total. */

/** The collections of ETSI GS CIM 009 clauses 6.4 and 6.18 whose DELETE is a purge. */
const COLLECTIONS: ReadonlySet<string> = new Set(['/ngsi-ld/v1/entities', '/ngsi-ld/v1/temporal/entities']);

/** A character that no known broker decodes into a separator: not "/", ";", "?", "#", "%" or "\", in any spelling. */
const CHARACTER = '(?:[A-Za-z0-9._~:+-]|%3A)';
/**
 * A URI without slashes, e.g. a URN. The scheme excludes empty segments, dot segments, and anything that could be the name of a
 * collection.
 */
const URI = `[A-Za-z][A-Za-z0-9+.-]*(?::|%3A)${CHARACTER}+`;
const NAME = `[A-Za-z0-9_]${CHARACTER}*`;

/**
 * The paths of exactly one resource, in the regular expression syntax common to PCRE, Rust and JavaScript. kong.yml routes a
 * DELETE directly to the broker for these paths and no others; a test keeps the two in agreement.
 *
 * Ids and attribute names with other characters (e.g. http URIs, with their encoded slashes) are equally valid. They go through
 * the sidecar, which judges the path as a whole.
 */
export const resourcePatterns: readonly string[] = [
  `/ngsi-ld/v1/entities/${URI}`,
  `/ngsi-ld/v1/entities/${URI}/attrs/${NAME}`,
  `/ngsi-ld/v1/temporal/entities/${URI}`,
  `/ngsi-ld/v1/temporal/entities/${URI}/attrs/${NAME}`,
  `/ngsi-ld/v1/temporal/entities/${URI}/attrs/${NAME}/${URI}`,
  `/ngsi-ld/v1/(?:subscriptions|csourceRegistrations|csourceSubscriptions|snapshots)/${URI}`,
  `/ngsi-ld/v1/(?:temporal/)?entityMaps/${URI}`,
  `/ngsi-ld/v1/jsonldContexts/${NAME}`,
].map((pattern) => `${pattern}$`);

const RESOURCE = new RegExp(resourcePatterns.map((pattern) => `^${pattern}`).join('|'));

/** Whether a path, as normalised by Kong, names exactly one resource of the broker. */
export function isResource(path: string): boolean {
  return RESOURCE.test(path);
}

/** Whether a path is exactly that of a collection whose DELETE is a purge, with or without a trailing slash. */
export function isCollection(path: string): boolean {
  return COLLECTIONS.has(path.endsWith('/') ? path.slice(0, -1) : path);
}

/** Whether a path belongs to the schema service. */
export function isSchemaService(path: string): boolean {
  return path === '/api/v2' || path.startsWith('/api/v2/');
}

/**
 * Whether the sidecar also protects a path against reading: records of purges and scans, policies, findings of write checks,
 * and who the caller is.
 */
export function isGuardedRecord(path: string): boolean {
  return /^\/api\/v2\/(?:purges|retention-policies|write-policies|write-checks|scans|me)(?:\/|$)/.test(path);
}

/**
 * Whether a lenient server (one that decodes twice, ignores case, drops `;x`, accepts backslashes …) could take a path for one
 * of the broker's. Undoes everything that servers are known to undo, and a little more.
 */
export function isNgsiLd(path: string): boolean {
  const [visible = ''] = decodeFully(path).split(/[?#]/, 1);
  const segments: string[] = [];
  for (const written of visible
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/, '')
    .split(/[/\\]/)) {
    const [bare = ''] = written.split(';', 1);
    const segment = bare.replace(/[\x00-\x20\x7f]/g, '');
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return segments[0] === 'ngsi-ld';
}

/**
 * Undoes percent-encoding, including nested encodings (`%2565`). The number of rounds is limited, because a path that unwraps
 * by one layer per round would hold up every other request. A path that is still encoded after them is not a resource either.
 */
function decodeFully(path: string): string {
  let text = path;
  for (let round = 0; round < 4; round += 1) {
    const decoded = text.replace(/%(?:25)*([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(parseInt(hex, 16)),
    );
    if (decoded === text) break;
    text = decoded;
  }
  return text;
}
