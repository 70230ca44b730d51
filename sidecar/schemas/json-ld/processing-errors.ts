import { isObject, member } from '../../shared/json/json.js';
import { ContextFailureError } from './errors.js';

/** An error of the processor, usually about a context that it cannot process. */
export interface ProcessingError {
  /** An error code of JSON-LD 1.1 API § 9.6. */
  readonly code: string;
  readonly term?: string;
  readonly url?: string;
  /** Why a context could not be loaded, as a sentence. */
  readonly reason?: string;
}

/** Reads an error of the processor. Some errors have no code: the processor does not check the types of all members. */
export function processingErrorOf(error: unknown): ProcessingError {
  const details = error instanceof Error && 'details' in error ? error.details : undefined;
  if (!isObject(details) || typeof details['code'] !== 'string') return { code: 'unforeseen' };
  const term = member(details, 'term');
  const url = member(details, 'url');
  const { cause } = details as { readonly cause?: unknown };
  return {
    code: details['code'],
    ...(typeof term === 'string' ? { term } : {}),
    ...(typeof url === 'string' ? { url } : {}),
    ...(cause instanceof ContextFailureError ? { reason: cause.message } : {}),
  };
}

/** For errors in a map without terms: the member that an error code is about. */
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

const SENTENCES: Readonly<Record<string, string>> = {
  'IRI confused with prefix':
    'An IRI of the document begins like a prefix of the context, and would be taken for a compact one.',
  'colliding keywords': 'An object has the same keyword twice, as two of its aliases.',
  'invalid @graph value': '@graph must be an object or an array.',
  'invalid @id value': 'An id must be a string.',
  'invalid @included value': '@included must hold objects with an id or members of their own.',
  'invalid @index value': '@index must be a string.',
  'invalid @reverse value': '@reverse must be an object.',
  'invalid language map value': 'A language map holds strings, or arrays of them.',
  'invalid language-tagged string': '@language must be a string.',
  'invalid language-tagged value': 'Only a string can have a language.',
  'invalid reverse property map': '@reverse must not contain keywords.',
  'invalid reverse property value':
    'The target of a reverse property must be an object or an IRI, not a value or a list.',
  'invalid set or list object': 'Only @index may stand next to @list or @set.',
  'invalid type value': 'A type must be a string, or an array of strings.',
  'invalid typed value': 'The @type of a @value must be one absolute IRI.',
  'invalid value object':
    'Only @index, and either @type or @language and @direction, may stand next to @value.',
  'invalid value object value': '@value must be a string, a number, a boolean or null.',
  'context overflow':
    'Contexts may refer to each other by URL at most 10 deep, and lead to at most 1000 maps of terms; these exceed that.',
  'cyclic IRI mapping': 'The definition leads back to the term itself.',
  'invalid @import value': '@import must be a URL.',
  'invalid @nest value': '@nest must be a term or @nest itself in a context, and an object in a document.',
  'invalid @prefix value': '@prefix must be true or false, and only of a term without colon and slash.',
  'invalid @propagate value': '@propagate must be true or false.',
  'invalid @version value': '@version must be the number 1.1.',
  'invalid base IRI': '@base must be an IRI or null.',
  'invalid base direction': '@direction must be "ltr", "rtl" or null.',
  'invalid container mapping':
    '@container must be @list, @set, @index, @language, @graph, @id or @type, or an array of those that go together.',
  'invalid context entry': 'An imported context must not import another one.',
  'invalid context nullification': 'null cannot remove a context with protected terms.',
  'invalid default language': '@language must be a language tag or null.',
  'invalid IRI mapping':
    'The term is not mapped to an absolute IRI. Give one, or a compact IRI whose prefix ' +
    'is defined. A term with a colon or slash can only be mapped to the IRI it stands for.',
  'invalid keyword alias': '@context and @preserve cannot have an alias.',
  'invalid language mapping': '@language of a term must be a language tag or null.',
  'invalid local context': 'A context is a map of terms, a URL, or an array of these.',
  'invalid remote context': 'The document at the URL cannot be imported as a context.',
  'invalid reverse property':
    '@reverse cannot be combined with @id or @nest, nor with a @container other than @set and @index.',
  'invalid scoped context': 'The context of the term is itself invalid.',
  'invalid term definition':
    'A term is defined by an IRI, null, or a map of @id, @type, @container, @context, @direction, ' +
    '@index, @language, @nest, @prefix, @protected and @reverse; a term must not be empty.',
  'invalid type mapping': '@type of a term must be @id, @vocab, @json, @none or an absolute IRI.',
  'invalid vocab mapping': '@vocab must be an IRI or null.',
  unforeseen: 'JSON-LD processors fail on it: a member has a value of the wrong type.',
  'keyword redefinition': 'Keywords of JSON-LD cannot be defined as terms.',
  'loading remote context failed': 'A context that this one names cannot be loaded.',
  'protected term redefinition':
    'The term is protected by a context before this one, such as the ' +
    'NGSI-LD core context, and means something else there. The core context ' +
    'belongs last, in one version: contexts of models here already include it.',
};

/** A sentence about an error that tells a person what is wrong and what to do. */
export function sentenceOf({ code, url, reason }: ProcessingError): string {
  if (code === 'loading remote context failed' && reason !== undefined) return reason;
  if (code === 'context overflow' && url !== undefined)
    return `The context includes itself, by the URL ${url}.`;
  return member(SENTENCES, code) ?? `JSON-LD processing fails: ${code}.`;
}
