import { isObject, pointerTo, jsonEquals } from '../../shared/json/json.js';
import { type ContextPart, elementsOf, referencesOf } from './context-form.js';
import { visitMembers } from './document-survey.js';
import { type Refused, shortJson } from './outcomes.js';
import { processingErrorOf, sentenceOf } from './processing-errors.js';
import type { JsonLdRequest } from './request-body.js';

/** An error that the processor threw, which is the `cause`. */
export class ProcessorFailure extends Error {}

/**
 * Turns a failure into a refusal that says what is wrong, at each place that it may be about, or at the document if
 * none is found.
 */
export function refusalOf({ cause }: ProcessorFailure, request: JsonLdRequest): Refused {
  if (cause instanceof RangeError) return tooMuch('Processing goes too deep or produces too much.');
  const error = processingErrorOf(cause);
  const sentence = sentenceOf(error);
  const { code } = error;
  const about = error.term === undefined ? '' : `${shortJson(error.term)}: `;
  const detail = code === 'unforeseen' ? sentence : `${about}${sentence} (JSON-LD 1.1: ${code})`;
  const pointers =
    error.term === undefined ? placesOfValue(cause, request) : placesOfTerm(error.term, request);
  const errors = (pointers.length === 0 ? ['/document'] : pointers).map((pointer) => ({
    pointer,
    detail: sentence,
  }));
  return { refused: { kind: 'jsonLdInvalid', detail, errors } };
}

/** The places at which a request itself names the context of a URL; its document if another context names it. */
export function placesOfUrl(url: string, request: JsonLdRequest): readonly string[] {
  const found = contextsOf(request)
    .flatMap(({ value, pointer }) => referencesOf(value, pointer))
    .filter((reference) => reference.url === url)
    .map(({ pointer }) => pointer);
  return found.length === 0 ? ['/document'] : found.slice(0, MAX_PLACES);
}

/** Maximum number of places listed for one fault. */
const MAX_PLACES = 20;

/** Tests for members that break a rule, for errors in which the processor reports a value that it has already changed. */
const RULES: ReadonlyMap<string, (name: string, value: unknown) => boolean> = new Map([
  ['invalid @id value', (name: string, value: unknown) => /^@?id$/.test(name) && typeof value !== 'string'],
  [
    'invalid type value',
    (name: string, value: unknown) =>
      /^@?type$/.test(name) && ![value].flat().every((type) => typeof type === 'string'),
  ],
]);

/** Refuses a request that exceeds a limit. */
export function tooMuch(detail: string): Refused {
  return { refused: { kind: 'limitExceeded', detail, errors: [] } };
}

/** The members with the value that the error is about; if there are none, those that break the same rule. */
function placesOfValue(error: unknown, { document }: JsonLdRequest): readonly string[] {
  const details = error instanceof Error && 'details' in error ? error.details : undefined;
  if (!isObject(details)) return [];
  const wanted = details['value'] ?? details['languageMap'];
  const breaks = typeof details['code'] === 'string' ? RULES.get(details['code']) : undefined;
  if (wanted === undefined && breaks === undefined) return [];
  const same: string[] = [];
  const alike: string[] = [];
  visitMembers(document, '/document', ({ name, value, pointer }) => {
    const isAlike = breaks?.(name, value) ?? true;
    if (isAlike && alike.length < MAX_PLACES) alike.push(pointer);
    if (isAlike && wanted !== undefined && same.length < MAX_PLACES && jsonEquals(value, wanted))
      same.push(pointer);
    return same.length < MAX_PLACES;
  });
  return same.length > 0 || breaks === undefined ? same : alike;
}

/** The definitions of the term that the error is about, in the contexts of the request. */
function placesOfTerm(term: string, request: JsonLdRequest): readonly string[] {
  return contextsOf(request)
    .flatMap(({ value, pointer }) => elementsOf(value, pointer))
    .filter(({ value }) => isObject(value) && Object.hasOwn(value, term))
    .map(({ pointer }) => pointerTo(pointer, term))
    .slice(0, MAX_PLACES);
}

/** The context of a request, and those at the top of its documents. */
function contextsOf({ document, context, contextPointer }: JsonLdRequest): readonly ContextPart[] {
  const own = elementsOf(document, '/document').flatMap(({ value, pointer }) =>
    isObject(value) && Object.hasOwn(value, '@context')
      ? [{ value: value['@context'], pointer: pointerTo(pointer, '@context') }]
      : [],
  );
  return [{ value: context, pointer: contextPointer }, ...own];
}
