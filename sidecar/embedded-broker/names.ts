/**
 * Names as the embedded broker keeps them.
 *
 * It resolves no @context: a name means what the core @context makes of it, so that a short name and its
 * IRI in the default context are the same, and every other name is compared as written. A `Link` to another
 * @context is taken and has no effect.
 */

const DEFAULT_CONTEXT = 'https://uri.etsi.org/ngsi-ld/default-context/';
export const CORE_CONTEXT = 'https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.9.jsonld';
export const CONTEXT_LINK_RELATION = 'http://www.w3.org/ns/json-ld#context';

const FORBIDDEN_IN_NAME = /[<>"'=;(),|*\s\u0000-\u001f\u007f]/u;
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`\u0000-\u001f\u007f]+$/u;
const LONGEST_NAME = 2048;

/** Names that belong to the system or to JSON-LD and never name an attribute. */
const NOT_ATTRIBUTES: ReadonlySet<string> = new Set([
  'id', 'type', 'scope', '@id', '@type', '@context', 'createdAt', 'modifiedAt', 'deletedAt',
]); // prettier-ignore

/** The short name of an IRI in the default context; any other name as it is. */
export function canonicalName(name: string): string {
  return name.startsWith(DEFAULT_CONTEXT) && name.length > DEFAULT_CONTEXT.length
    ? name.slice(DEFAULT_CONTEXT.length)
    : name;
}

export function isName(name: string): boolean {
  return name !== '' && name.length <= LONGEST_NAME && !FORBIDDEN_IN_NAME.test(name);
}

export function isAttributeName(name: string): boolean {
  return isName(name) && !NOT_ATTRIBUTES.has(name);
}

export function isUri(text: unknown): text is string {
  return typeof text === 'string' && text.length <= LONGEST_NAME && URI.test(text);
}

/** Attributes that the broker sets itself; they can be compared, but do not narrow a query (clause 5.7.2.4). */
export function isSystemAttribute(name: string): boolean {
  return name === 'createdAt' || name === 'modifiedAt' || name === 'deletedAt';
}
