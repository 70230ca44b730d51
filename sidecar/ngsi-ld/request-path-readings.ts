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
export function isEncodedTooOften(text: string): boolean {
  const levels = decodings(text);
  return levels.length > MAX_DECODINGS && /%(?:[0-9a-f]{2}|u[0-9a-f]{4})/i.test(levels.at(-1) ?? '');
}

/** Every reading of a path that is given without its query; raw characters outside ASCII are allowed. */
export function readingsOf(path: string): readonly Reading[] {
  const texts = new Set(decodings(path).flatMap((text) => [text, text.replace(PATH_END, '')]));
  return [...texts].map(read);
}

/** The pieces that a server could take for path segments: split at slashes and backslashes, parameters cut off, trimmed. */
export function piecesOf(text: string): readonly string[] {
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
