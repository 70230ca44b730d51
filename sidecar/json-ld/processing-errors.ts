import { isMap, memberOf } from './json.js';

/** What the processor says of a context that it cannot process. */
export interface ProcessingError {
  /** An error code of JSON-LD 1.1 API § 9.6. */
  readonly code: string;
  readonly term?: string;
  readonly url?: string;
}

/** Reads an error of the processor. Some it does not foresee itself: members of types that it does not check. */
export function processingErrorOf(error: unknown): ProcessingError {
  const details = error instanceof Error && 'details' in error ? error.details : undefined;
  if (!isMap(details) || typeof details['code'] !== 'string') return { code: 'unforeseen' };
  const term = memberOf(details, 'term');
  const url = memberOf(details, 'url');
  return {
    code: details['code'],
    ...(typeof term === 'string' ? { term } : {}),
    ...(typeof url === 'string' ? { url } : {}),
  };
}

/** For errors of a map without its terms: the member they are about. */
export const KEYWORD_OF_CODE: ReadonlyMap<string, string> = new Map([
  ['invalid @version value', '@version'],
  ['invalid base IRI', '@base'],
  ['invalid vocab mapping', '@vocab'],
  ['invalid default language', '@language'],
  ['invalid base direction', '@direction'],
  ['invalid @propagate value', '@propagate'],
  ['invalid @import value', '@import'],
  ['invalid @protected value', '@protected'],
  ['invalid context entry', '@import'],
]);

const SENTENCES: ReadonlyMap<string, string> = new Map([
  ['context overflow', 'The context leads to more than 10 others by their URLs.'],
  ['cyclic IRI mapping', 'The definition leads back to the term itself.'],
  ['invalid @import value', '@import must be a URL.'],
  ['invalid @nest value', '@nest must be a term, or @nest itself.'],
  ['invalid @prefix value', '@prefix must be true or false, and only of a term without colon and slash.'],
  ['invalid @propagate value', '@propagate must be true or false.'],
  ['invalid @version value', '@version must be the number 1.1.'],
  ['invalid base IRI', '@base must be an IRI or null.'],
  ['invalid base direction', '@direction must be "ltr", "rtl" or null.'],
  [
    'invalid container mapping',
    '@container must be @list, @set, @index, @language, @graph, @id or @type, or an array of those that go together.',
  ],
  ['invalid context entry', 'An imported context must not import another one.'],
  ['invalid context nullification', 'A context with protected terms cannot be taken away by null.'],
  ['invalid default language', '@language must be a language tag or null.'],
  [
    'invalid IRI mapping',
    'The term is mapped to no absolute IRI: give one, or a compact IRI whose prefix is defined. A term with a colon or slash can only be mapped to the IRI it stands for.',
  ],
  ['invalid keyword alias', '@context and @preserve can have no alias.'],
  ['invalid language mapping', '@language of a term must be a language tag or null.'],
  ['invalid local context', 'A context is a map of terms, a URL, or an array of these.'],
  ['invalid remote context', 'What the URL gives is no context that can be imported.'],
  [
    'invalid reverse property',
    '@reverse goes with no @id and no @nest, and with no @container but @set and @index.',
  ],
  ['invalid scoped context', 'The context of the term is itself invalid.'],
  [
    'invalid term definition',
    'A term is defined by an IRI, null, or a map of @id, @type, @container, @context, @direction, @index, @language, @nest, @prefix, @protected and @reverse; no term is empty.',
  ],
  ['invalid type mapping', '@type of a term must be @id, @vocab, @json, @none or an absolute IRI.'],
  ['invalid vocab mapping', '@vocab must be an IRI or null.'],
  ['unforeseen', 'JSON-LD processors fail on it: a member is of a type that it cannot have.'],
  ['keyword redefinition', 'Keywords of JSON-LD cannot be defined as terms.'],
  ['loading remote context failed', 'A context that this one names cannot be loaded.'],
  [
    'protected term redefinition',
    'The term is protected by a context before this one, such as the NGSI-LD core context, and means something else there. The core context belongs last.',
  ],
]);

/** What a person can do about an error. */
export function sentenceOf({ code, url }: ProcessingError): string {
  if (code === 'context overflow' && url !== undefined)
    return `The context includes itself, by the URL ${url}.`;
  return SENTENCES.get(code) ?? `JSON-LD processing fails: ${code}.`;
}
