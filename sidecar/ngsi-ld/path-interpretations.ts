/**
 * How servers may interpret a path (RFC 3986 § 6): routers, proxies and frameworks decode, fold case, turn backslashes
 * into slashes, cut off path parameters, resolve dot segments and collapse slashes, each in its own order, and some of
 * them twice. A path is safe to forward only if none of these readings changes its meaning, so this module produces the
 * readings.
 */

/** One possible reading of a path. */
export interface PathInterpretation {
  /** Lower-case segments, without empty, `.` and `..` ones. */
  readonly segments: readonly string[];
  /** The first segment, even if a later `..` removed it. */
  readonly first: string | undefined;
  /** Whether a `..` leads above the first segment. */
  readonly escapesRoot: boolean;
}

/** No server is known to decode more than twice; a path that needs more is an attack or a mistake. */
const MAX_DECODINGS = 4;

/** The end of the path for a server that decodes before it splits: query, fragment, or the end of a C string. */
const PATH_END = /[?#\0][^]*$/;

/**
 * Returns the text itself and the results of decoding it repeatedly, at most four times, until nothing changes.
 * Compatibility characters (full-width slash, dot and so on) are normalised to the plain characters they resemble.
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

/** Whether the text is still encoded after the maximum number of decodings. */
function isEncodedTooOften(text: string): boolean {
  const levels = decodings(text);
  return levels.length > MAX_DECODINGS && /%(?:[0-9a-f]{2}|u[0-9a-f]{4})/i.test(levels.at(-1) ?? '');
}

/** Returns every reading of a path without a query; raw characters outside ASCII are allowed. */
export function interpretPath(path: string): readonly PathInterpretation[] {
  const texts = new Set(decodings(path).flatMap((text) => [text, text.replace(PATH_END, '')]));
  return [...texts].map(interpret);
}

/**
 * Splits a text into the pieces that a server could take as path segments: split at slashes and backslashes, without
 * parameters, trimmed.
 */
function possibleSegments(text: string): readonly string[] {
  return text.split(/[/\\]/).map((piece) => withoutControls(piece.replace(/[;?#][^]*$/, '')).trim());
}

function interpret(text: string): PathInterpretation {
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
  return { segments, first, escapesRoot: climbs };
}

function withoutControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '');
}

/** Decodes percent-encodings leniently: malformed ones, and all other text, are left unchanged. */
function decodeOnce(text: string): string {
  return text
    .replace(/%u([0-9a-f]{4})/gi, (_match, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
      const bytes = Buffer.from(run.replaceAll('%', ''), 'hex').toString('latin1');
      return Buffer.from(foldOverlong(bytes), 'latin1').toString('utf8');
    });
}

/** Replaces overlong UTF-8 encodings of ASCII characters (forbidden by RFC 3629 § 3, but accepted by careless decoders). */
function foldOverlong(bytes: string): string {
  return bytes.replace(/(?:\xe0|\xf0\x80)[\x80\x81][\x80-\xbf]|[\xc0\xc1][\x80-\xbf]/g, (sequence) => {
    const high = sequence.charCodeAt(sequence.length - 2) & 0x01;
    const low = sequence.charCodeAt(sequence.length - 1) & 0x3f;
    return String.fromCharCode((high << 6) | low);
  });
}

/**
 * Paths under /ngsi-ld/v1 that name exactly one resource with a DELETE operation (ETSI GS CIM 009 V1.9.1, clause 6.2);
 * `*` stands for one identifier. A DELETE of any other path never reaches a broker.
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
 * Whether the path, as spelled, names one resource that may be deleted, and no plausible reading of it names a
 * collection. Every identifier is well-formed percent-encoded UTF-8 and keeps at least one ordinary leading piece
 * however often it is decoded; none contains a dot segment, a control character or a bare `*`.
 *
 * Used both for received paths and for paths built here: an entity whose identifier is `urn:x/..` cannot be deleted by
 * its path, because a server that decodes before it routes would delete the collection.
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
  return matches && !interpretPath(path).some(isCollection);
}

/**
 * Whether each identifier in such a path can only be read as a single identifier. The identifier of the resource is a
 * URI (RFC 3986 § 3), which excludes `null` and `.json`; only contexts may have identifiers assigned by the broker. No
 * identifier may contain a comma, because some servers split lists at commas.
 *
 * @param target request-target for which `isSingleResourceDeletePath` is true
 */
export function hasSingleIdentifiers(target: string): boolean {
  const [path = ''] = target.split('?', 1);
  const [, , , ...segments] = path.split('/');
  if (segments.some((segment) => decodings(segment).some((text) => text.includes(',')))) return false;
  const [collection, id = ''] = segments[0] === 'temporal' ? segments.slice(1) : segments;
  return collection === 'jsonldContexts' || /^[a-z][a-z0-9+.-]*:./i.test(decodeURIComponent(id));
}

/** Whether a reading is under the NGSI-LD API, or begins there before dot segments lead out of it. */
export function isUnderApi(reading: PathInterpretation): boolean {
  return reading.segments[0] === 'ngsi-ld' || reading.first === 'ngsi-ld';
}

/** Whether a reading is one of the two collections that can be purged, with or without a version. */
export function isPurgeable(reading: PathInterpretation): boolean {
  return /^ngsi-ld\/(?:[^/]+\/)?(?:temporal\/)?entities$/.test(reading.segments.join('/'));
}

/** Whether a reading ends at a collection: the API's root, a list of resources, or all attributes of one entity. */
function isCollection(reading: PathInterpretation): boolean {
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
  const segments = possibleSegments(text);
  // A careless server takes the first piece as the identifier. Without a letter or a digit, it could mean everything
  // (`*`), an empty list (`,`), or nothing, which is the collection.
  return (
    /[\p{L}\p{N}]/u.test(segments[0] ?? '') && !segments.some((piece) => piece === '.' || piece === '..')
  );
}
