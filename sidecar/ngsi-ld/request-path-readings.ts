/**
 * How servers may read a path (RFC 3986 § 6): routers, proxies and frameworks decode, fold case, turn backslashes into
 * slashes, cut path parameters, resolve dot segments and collapse slashes, each in its own order and some of them
 * twice. A path is safe to forward when no such reading changes what it means, so this module produces the readings.
 */

/** One reading of a path. */
export interface Reading {
  /** Lower-case segments, without empty, `.` and `..` ones. */
  readonly segments: readonly string[];
  /** The segment it began with, even if a `..` removed it later. */
  readonly first: string | undefined;
  /** True when a `..` takes the path above the first segment it began with. */
  readonly climbs: boolean;
}

/** No server is known to decode more often than twice; a path that needs more is an attack or a mistake. */
const MAX_DECODINGS = 4;

/** The end of the path for a server that decodes before it splits: query, fragment, end of a C string. */
const PATH_END = /[?#\0][^]*$/;

/**
 * The text itself, then decoded once, twice and so on while that changes anything, at most four times.
 * Compatibility characters (full-width slash, dot and so on) are folded to the plain ones they look like.
 */
export function decodings(text: string): readonly string[] {
  if (!/[^\0-\x7f]|%/.test(text)) return [text];
  const levels = [text.normalize('NFKC')];
  for (let current = text; levels.length <= MAX_DECODINGS;) {
    const next = decodeOnce(current);
    if (next === current) break;
    levels.push(next.normalize('NFKC'));
    current = next;
  }
  return levels;
}

/** True when the text is still encoded after as many decodings as `decodings` follows. */
function isEncodedTooOften(text: string): boolean {
  const levels = decodings(text);
  return levels.length > MAX_DECODINGS && /%(?:[0-9a-f]{2}|u[0-9a-f]{4})/i.test(levels.at(-1) ?? '');
}

/** Every reading of a path that is given without its query; raw characters outside ASCII are allowed. */
export function readingsOf(path: string): readonly Reading[] {
  const texts = new Set(decodings(path).flatMap((text) => [text, text.replace(PATH_END, '')]));
  return [...texts].map(read);
}

/** The pieces that a server could take for path segments: split at slashes and backslashes, parameters cut off, trimmed. */
function piecesOf(text: string): readonly string[] {
  return text.split(/[/\\]/).map((piece) => withoutControls(piece.replace(/[;?#][^]*$/, '')).trim());
}

function read(text: string): Reading {
  const segments: string[] = [];
  let first: string | undefined;
  let climbs = false;
  for (const raw of text.toLowerCase().split(/[/\\]/)) {
    const segment = withoutControls(raw.replace(/;[^]*$/, '')).replace(/\s/g, '');
    if (segment === '' || segment === '.') continue;
    first ??= segment;
    if (segment !== '..') segments.push(segment);
    else {
      climbs ||= segments.length <= 1;
      segments.pop();
    }
  }
  return { segments, first, climbs };
}

function withoutControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '');
}

/** Decodes percent-encodings leniently: malformed ones stay, and so does everything else. */
function decodeOnce(text: string): string {
  return text
    .replace(/%u([0-9a-f]{4})/gi, (_match, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
      const bytes = Buffer.from(run.replaceAll('%', ''), 'hex').toString('latin1');
      return Buffer.from(foldOverlong(bytes), 'latin1').toString('utf8');
    });
}

/** Replaces overlong UTF-8 forms of ASCII characters (RFC 3629 § 3 forbids them, careless decoders accept them). */
function foldOverlong(bytes: string): string {
  return bytes.replace(/(?:\xe0|\xf0\x80)[\x80\x81][\x80-\xbf]|[\xc0\xc1][\x80-\xbf]/g, (sequence) => {
    const high = sequence.charCodeAt(sequence.length - 2) & 0x01;
    const low = sequence.charCodeAt(sequence.length - 1) & 0x3f;
    return String.fromCharCode((high << 6) | low);
  });
}

/**
 * Paths under /ngsi-ld/v1 that name exactly one resource with a DELETE operation (ETSI GS CIM 009 V1.9.1, clause 6.2);
 * `*` stands for one identifier. Any other path never reaches a broker as a DELETE.
 */
const SINGLE_RESOURCES = [
  'entities/*',
  'entities/*/attrs/*',
  'temporal/entities/*',
  'temporal/entities/*/attrs/*',
  'temporal/entities/*/attrs/*/*',
  'subscriptions/*',
  'csourceRegistrations/*',
  'csourceSubscriptions/*',
  'jsonldContexts/*',
  'entityMaps/*',
  'temporal/entityMaps/*',
  'snapshots/*',
].map((template) => ['', 'ngsi-ld', 'v1', ...template.split('/')]);

/**
 * True when the path, spelled exactly, names one resource that may be deleted, and no plausible reading of it names a
 * collection: every identifier is well-formed percent-encoded UTF-8 and keeps at least one ordinary leading piece
 * however often it is decoded; none holds a dot segment, a control character or a bare `*`.
 *
 * The check for paths that are built as well as for those received: an entity whose identifier is `urn:x/..` cannot be
 * deleted by its path, because a server that decodes before it routes would delete the collection.
 *
 * @param target request-target in origin form; the query is ignored
 */
export function isSingleResourceDeletePath(target: string): boolean {
  const [path = ''] = target.split('?', 1);
  if (!/^[\x21-\x7e]+$/.test(path) || /[#\\]/.test(path)) return false;
  const segments = path.split('/');
  const matches = SINGLE_RESOURCES.some(
    (template) =>
      template.length === segments.length &&
      template.every((part, index) =>
        part === '*' ? isPlainIdentifier(segments[index] ?? '') : part === segments[index],
      ),
  );
  return matches && !readingsOf(path).some(isCollection);
}

/**
 * True when each identifier in such a path can be nothing but one identifier. The resource itself has a URI (RFC 3986
 * § 3), which `null` and `.json` are not; only contexts have identifiers of the broker's own making. No identifier has a
 * comma, at which some servers split lists.
 *
 * @param target request-target for which `isSingleResourceDeletePath` holds
 */
export function hasSingleIdentifiers(target: string): boolean {
  const [path = ''] = target.split('?', 1);
  const [, , , ...segments] = path.split('/');
  if (segments.some((segment) => decodings(segment).some((text) => text.includes(',')))) return false;
  const [collection, id = ''] = segments[0] === 'temporal' ? segments.slice(1) : segments;
  return collection === 'jsonldContexts' || /^[a-z][a-z0-9+.-]*:./i.test(decodeURIComponent(id));
}

/** True when a reading lies under the NGSI-LD API, or begins there before dot segments lead out of it. */
export function isUnderApi(reading: Reading): boolean {
  return reading.segments[0] === 'ngsi-ld' || reading.first === 'ngsi-ld';
}

/** True when a reading is one of the two collections that can be purged, with or without a version. */
export function isPurgeable(reading: Reading): boolean {
  return /^ngsi-ld\/(?:[^/]+\/)?(?:temporal\/)?entities$/.test(reading.segments.join('/'));
}

/** True when a reading stops at a collection: the API's root, a list of resources, or all attributes of one entity. */
function isCollection(reading: Reading): boolean {
  const path = reading.segments.join('/');
  return (
    /^ngsi-ld(?:\/[^/]+){0,2}$/.test(path) ||
    /^ngsi-ld\/[^/]+\/temporal\/[^/]+$/.test(path) ||
    /^ngsi-ld\/[^/]+\/(?:temporal\/)?entities\/[^/]+\/attrs$/.test(path)
  );
}

function isPlainIdentifier(segment: string): boolean {
  return isWellFormed(segment) && !isEncodedTooOften(segment) && decodings(segment).every(isPlainText);
}

function isWellFormed(segment: string): boolean {
  try {
    decodeURIComponent(segment);
    return true;
  } catch {
    return false;
  }
}

function isPlainText(text: string): boolean {
  if (/[\0-\x1f\x7f-\x9f]/.test(text)) return false;
  const pieces = piecesOf(text);
  // A careless server takes the first piece for the identifier: without a letter or a digit it could mean all (`*`), an
  // empty list (`,`), or nothing, which is the collection.
  return /[\p{L}\p{N}]/u.test(pieces[0] ?? '') && !pieces.some((piece) => piece === '.' || piece === '..');
}
