/** The grammars of RFC 3986 (URI), RFC 3987 (IRI) and RFC 6570 (URI template) as regular expressions. */

/** The characters beyond ASCII that an IRI may contain: anywhere, and in queries (RFC 3987, section 2.2). */
const UCSCHAR = [
  String.raw`\u{A0}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFEF}`,
  ...Array.from({ length: 13 }, (_, index) =>
    range(`${(index + 1).toString(16)}0000`, `${(index + 1).toString(16)}FFFD`),
  ),
  range('E1000', 'EFFFD'),
].join('');
const IPRIVATE = String.raw`\u{E000}-\u{F8FF}\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}`;

function range(first: string, last: string): string {
  return String.raw`\u{${first}}-\u{${last}}`;
}

const UNRESERVED = String.raw`A-Za-z0-9\-._~`;
const SUB_DELIMS = "!$&'()*+,;=";
const ENCODED = '%[0-9A-Fa-f]{2}';

const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;

/** An IPv4 address, as the source of a regular expression. */
export const IPV4 = String.raw`(?:${OCTET}\.){3}${OCTET}`;

/** An IPv6 address, as the source of a regular expression. */
export const IPV6 = ((): string => {
  const h16 = '[0-9A-Fa-f]{1,4}';
  const ls32 = `(?:${h16}:${h16}|${IPV4})`;
  const before = (most: number) => `(?:(?:${h16}:){0,${most}}${h16})?::`;
  const addresses = [
    `(?:${h16}:){6}${ls32}`,
    `::(?:${h16}:){5}${ls32}`,
    ...[0, 1, 2, 3, 4].map((most) => `${before(most)}(?:${h16}:){${4 - most}}${ls32}`),
    `${before(5)}${h16}`,
    before(6),
  ];
  return `(?:${addresses.join('|')})`;
})();

/** An IP literal in brackets. */
const LITERAL = String.raw`\[(?:${IPV6}|[Vv][0-9A-Fa-f]+\.[${UNRESERVED}${SUB_DELIMS}:]+)\]`;

interface Grammar {
  /** Matches a URI with a scheme, with or without a fragment. */
  readonly absolute: RegExp;
  /** Matches such a URI, or a relative reference. */
  readonly reference: RegExp;
}

/**
 * Makes a grammar. @param more the characters beyond ASCII that are allowed in names
 * @param ofQueries those that are allowed in queries in addition
 */
function grammarOf(more: string, ofQueries: string): Grammar {
  const one = (characters: string) => `(?:[${UNRESERVED}${SUB_DELIMS}${characters}${more}]|${ENCODED})`;
  const inPath = one(':@');
  const authority = String.raw`(?:${one(':')}*@)?(?:${LITERAL}|${one('')}*)(?::\d*)?`;
  const further = `(?:/${inPath}*)*`;
  const rooted = `//${authority}${further}|/(?:${inPath}+${further})?`;
  const tail = String.raw`(?:\?${one(`:@/?${ofQueries}`)}*)?(?:#${one(':@/?')}*)?`;
  const absolute = String.raw`[A-Za-z][A-Za-z0-9+\-.]*:(?:${rooted}|${inPath}+${further})?${tail}`;
  const relative = `(?:${rooted}|${one('@')}+${further})?${tail}`;
  return {
    absolute: new RegExp(`^${absolute}$`, 'u'),
    reference: new RegExp(`^(?:${absolute}|${relative})$`, 'u'),
  };
}

/** The grammar of RFC 3986. */
export const URI_GRAMMAR = grammarOf('', '');

/** The grammar of RFC 3987. */
export const IRI_GRAMMAR = grammarOf(UCSCHAR, IPRIVATE);

const NAME_CHARACTER = `(?:[A-Za-z0-9_]|${ENCODED})`;
const VARIABLE = String.raw`${NAME_CHARACTER}(?:\.?${NAME_CHARACTER})*(?::[1-9]\d{0,3}|\*)?`;
const LITERALS = String.raw`[!#$&-;=?-\[\]_a-z~${UCSCHAR}${IPRIVATE}]|${ENCODED}`;

/** Matches a template of RFC 6570, with the erratum that allows an apostrophe in literals. */
export const URI_TEMPLATE = new RegExp(
  String.raw`^(?:${LITERALS}|\{[+#./;?&=,!@|]?${VARIABLE}(?:,${VARIABLE})*\})*$`,
  'u',
);

/** A URI reference after resolution: the URI of the document or resource, and the decoded fragment. */
export interface ResolvedUri {
  readonly uri: string;
  readonly fragment: string;
}

/** The base of schemas that name none. No URI but that of the schema itself can be below it. */
const NO_BASE = 'schema:///';

/** The URI of a schema without `$id`. */
export const ANONYMOUS = `${NO_BASE}schema.json`;

/**
 * Resolves a URI reference (RFC 3986 section 5) to its normal form, so that equal URIs are equal strings. Undefined
 * if it is not a URI reference, or if its fragment is not percent-encoded UTF-8.
 */
export function resolveUri(reference: string, base: string = ANONYMOUS): ResolvedUri | undefined {
  try {
    const url = new URL(reference, base);
    const fragment = decodeURIComponent(url.hash.slice(1));
    url.hash = '';
    return { uri: url.href, fragment };
  } catch {
    return undefined;
  }
}

/** Whether a resolved URI does not depend on {@link ANONYMOUS}. */
export function isAbsolute(uri: string): boolean {
  return !uri.startsWith(NO_BASE);
}

/**
 * A resolved URI as it is written in a schema. If it got its beginning from {@link ANONYMOUS}, it is written as a
 * path from the root, provided that the path resolves to the same URI.
 *
 * @param base the URI that the written one is resolved against
 */
export function writtenUri(uri: string, base: string = ANONYMOUS): string {
  if (isAbsolute(uri)) return uri;
  const path = uri.slice(NO_BASE.length - 1);
  return resolveUri(path, base)?.uri === uri ? path : uri;
}

/**
 * The form in which reference documents are stored and looked up: absolute, normalised, without fragment. Undefined
 * if the text is not an absolute URI.
 */
export function documentUri(text: string): string | undefined {
  if (URL.parse(text) === null) return undefined;
  const uri = resolveUri(text)?.uri;
  return uri !== undefined && isAbsolute(uri) ? uri : undefined;
}
