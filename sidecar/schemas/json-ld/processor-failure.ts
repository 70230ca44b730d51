import { visitMembers } from './document-survey.js';
import type { ContextFault } from './errors.js';
import { isMap, pointerTo, sameValue } from './json.js';
import type { Refused } from './outcomes.js';
import { processingErrorOf, sentenceOf } from './processing-errors.js';
import type { JsonLdRequest } from './request-body.js';
import { shown } from './warnings.js';

/** What the processor threw; `cause` has it. */
export class ProcessorFailure extends Error {}

/** Says of a failure what is wrong, and where when there is but one place that it can be about. */
export function refusalOf({ cause }: ProcessorFailure, request: JsonLdRequest): Refused {
  if (cause instanceof RangeError) return tooMuch('Processing it goes too deep, or makes too much of it.');
  const error = processingErrorOf(cause);
  const sentence = sentenceOf(error);
  const { code } = error;
  const about = error.term === undefined ? '' : `${shown(error.term)}: `;
  const detail = code === 'unforeseen' ? sentence : `${about}${sentence} (JSON-LD 1.1: ${code})`;
  const pointers =
    error.term === undefined ? placesOfValue(cause, request) : placesOfTerm(error.term, request);
  const [pointer] = pointers;
  const errors: readonly ContextFault[] =
    pointers.length === 1 && pointer !== undefined ? [{ pointer, detail: sentence }] : [];
  return { refused: { code: 'JSON_LD_INVALID', detail, ...(errors.length > 0 ? { errors } : {}) } };
}

export function tooMuch(detail: string): Refused {
  return { refused: { code: 'LIMIT_EXCEEDED', detail } };
}

/** The members that have the value which the error is about. */
function placesOfValue(error: unknown, { document }: JsonLdRequest): readonly string[] {
  const details = error instanceof Error && 'details' in error ? error.details : undefined;
  if (!isMap(details)) return [];
  const wanted = details['value'] ?? details['languageMap'];
  if (wanted === undefined) return [];
  const pointers: string[] = [];
  visitMembers(document, '/document', ({ value, pointer }) => {
    if (pointers.length < 2 && sameValue(value, wanted)) pointers.push(pointer);
    return pointers.length < 2;
  });
  return pointers;
}

/** The contexts in the request that define the term which the error is about. */
function placesOfTerm(term: string, { document, context, contextPointer }: JsonLdRequest): readonly string[] {
  const documents: readonly unknown[] = Array.isArray(document) ? document : [document];
  const own = documents.flatMap((one, index) => {
    const base = Array.isArray(document) ? pointerTo('/document', index) : '/document';
    return isMap(one) && Object.hasOwn(one, '@context')
      ? [{ value: one['@context'], pointer: pointerTo(base, '@context') }]
      : [];
  });
  return [{ value: context, pointer: contextPointer }, ...own].flatMap(({ value, pointer }) => {
    const elements = Array.isArray(value)
      ? value.map((item: unknown, index) => ({ value: item, pointer: pointerTo(pointer, index) }))
      : [{ value, pointer }];
    return elements
      .filter((element) => isMap(element.value) && Object.hasOwn(element.value, term))
      .map((element) => pointerTo(element.pointer, term));
  });
}
