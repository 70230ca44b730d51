/** Maximum length of a name in UTF-16 code units: a common limit for URLs. */
export const MAX_NAME_CHARS = 2048;

/**
 * A term, or the beginning of a compact IRI. Clause 4.6.2 of ETSI GS CIM 009 allows letters, digits and `_`; published
 * data models also use `-`, and brokers accept `.`.
 */
const TERM = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]*$/u;

/** `scheme:…` or `prefix:name`, without characters that no IRI may contain (RFC 3987), brackets and `*`. */
const IRI = /^[\p{L}_][\p{L}\p{M}\p{N}_+.-]*:(?:[^\s\p{C}<>"{}|\\^`*[\]%]|%[\da-f]{2})+$/iu;

/** Whether a text can name an attribute or a type: a term, a compact IRI or an IRI (clauses 4.6.2 and 5.5.7). */
export function isName(text: string): boolean {
  return text.length <= MAX_NAME_CHARS && (TERM.test(text) || IRI.test(text));
}

/** An absolute URI or IRI (RFC 3987): brokers accept letters of all scripts. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`\u0000-\u001f\u007f]+$/u;

/**
 * Whether a value is a URI or IRI with a scheme, as ids are (clause 4.6.1). Less strict than the format `uri` of JSON
 * Schema, which a model may require in addition.
 */
export function isUri(text: string): boolean;
export function isUri(value: unknown): value is string;
export function isUri(value: unknown): boolean {
  return typeof value === 'string' && URI.test(value);
}
