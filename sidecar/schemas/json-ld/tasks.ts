import { isObject, type JsonValue, member } from '../../shared/json/json.js';
import { losslessNumbersIn, withDoubles } from '../../shared/json/lossless-json.js';
import { readJson } from '../../shared/json/strict-json.js';
import { truncate } from '../../shared/format-value.js';
import { checkContext, contextTerms, type TermsInput } from './check-context.js';
import { composeContext, type ComposeInput } from './compose-context.js';
import { type DocumentSurvey, isLarger, surveyOf } from './document-survey.js';
import { ContextCache, MAX_CONTEXTS } from './context-cache.js';
import { type JsonLdWarning, limitWarnings, type Outcome, type Refused, refusedFor } from './outcomes.js';
import { compactDocument, expandDocument, type Processed } from './process-document.js';
import { ProcessingSession } from './processing-session.js';
import { placesOfUrl, ProcessorFailure, refusalOf, tooMuch } from './processor-refusals.js';
import { type JsonLdRequest, readRequest } from './request-body.js';
import { contextUse, RequestContextReader, SharedProcessors } from './request-contexts.js';
import type { ContextResults } from './errors.js';

interface JsonLdInput {
  /** Text of the body `{document, context?, safe?}`. */
  readonly text: string;
  /** Changes whenever the URL of a context may have another meaning. */
  readonly stamp: string;
  /** The contexts that were needed in earlier rounds. */
  readonly supplied: ContextResults;
}

/** Maximum number of characters of an answer. */
const MAX_CHARACTERS = 32 * 1024 * 1024;
/** Characters of a request whose result cannot be too large, because the IRIs in contexts are bounded. */
const SMALL = 48 * 1024;

type Operation = (
  request: JsonLdRequest,
  survey: DocumentSurvey,
  session: ProcessingSession,
) => Promise<Processed | Refused>;

/** Creates the JSON-LD tasks of a worker. They share the contexts that the worker knows. */
export function createJsonLdTasks() {
  const known = new ContextCache();
  const shared = new SharedProcessors();
  const contexts = new RequestContextReader();

  async function run({ text, stamp, supplied }: JsonLdInput, operation: Operation): Promise<Outcome> {
    protectPrototypes();
    const read = readJson(text, { anyName: false });
    if ('unreadable' in read) return read;
    const submitted = read.value as JsonValue;
    const body = withDoubles(submitted);
    const request = readRequest(body);
    if ('faults' in request) return refusedFor('bodyInvalid', 'The body is invalid', request.faults);
    // If nothing had to be replaced, `body` is the submitted object itself.
    const changed = body === submitted ? [] : changedNumbers(documentIn(submitted), '/document');
    const survey = surveyOf(request.document);
    const own = contexts.read(request, survey);
    if ('refused' in own) return own;
    const gathered = known.gather(own.urls, stamp, supplied);
    if (gathered.isTooMuch)
      return tooMuch(`The contexts lead to more than ${MAX_CONTEXTS} others by their URLs.`);
    if (gathered.missing.length > 0) return { needs: { urls: gathered.missing } };

    const session = new ProcessingSession(shared.for(contextUse(own, gathered)), gathered);
    try {
      return answerOf(await operation(request, survey, session), changed, request.safe, text.length > SMALL);
    } catch (error) {
      if (!(error instanceof ProcessorFailure)) throw error;
      const { failure } = session;
      if (failure === undefined) return refusalOf(error, request);
      const errors = placesOfUrl(failure.url, request).map((pointer) => ({
        pointer,
        detail: failure.detail,
      }));
      return { refused: { ...failure, errors } };
    }
  }

  return {
    /** JSON-LD expansion; the answer is `{result, warnings}`. */
    expandDocument: (input: JsonLdInput): Promise<Outcome> => run(input, expandDocument),

    /** JSON-LD compaction; the answer has the same form as that of `expandDocument`. */
    compactDocument: (input: JsonLdInput): Promise<Outcome> => run(input, compactDocument),

    checkContext,

    /** Determines what the terms of a context mean; see `contextTerms`. */
    contextTerms: (input: TermsInput) => {
      protectPrototypes();
      return contextTerms(input);
    },

    /** Composes the context of a model that has its own; see `composeContext`. */
    composeContext: (input: ComposeInput) => {
      protectPrototypes();
      return composeContext(input);
    },
  };
}

export type JsonLdTasks = ReturnType<typeof createJsonLdTasks>;

export const jsonLdTasks = createJsonLdTasks();

function documentIn(body: JsonValue): JsonValue {
  return isObject(body) ? (member(body, 'document') ?? null) : null;
}

function answerOf(
  processed: Processed | Refused,
  changed: readonly JsonLdWarning[],
  isSafe: boolean,
  isLarge: boolean,
): Outcome {
  if ('refused' in processed) return processed;
  const { result, dropped, flattened } = processed;
  if (isSafe && dropped.length > 0) {
    const errors = limitWarnings(dropped).map(({ pointer = '/document', detail }) => ({ pointer, detail }));
    return refusedFor('dataDropped', 'Data would be dropped', errors);
  }
  const excess = tooMuch(`The result has more than ${MAX_CHARACTERS} characters.`);
  if (isLarge && isLarger(result, MAX_CHARACTERS)) return excess;
  const answer = JSON.stringify({ result, warnings: limitWarnings([...dropped, ...changed, ...flattened]) });
  return answer.length > MAX_CHARACTERS ? excess : { answer };
}

/**
 * Makes `Object.prototype` and the functions in it non-extensible. The JSON-LD package uses IRIs as names of members.
 * With a hostile context that has relative IRIs, such as "constructor", it would write to one of these objects, and
 * later requests would read what it wrote.
 */
function protectPrototypes(): void {
  if (!Object.isExtensible(Object.prototype)) return;
  for (const descriptor of Object.values(Object.getOwnPropertyDescriptors(Object.prototype)))
    for (const held of Object.values(descriptor) as readonly unknown[])
      if (typeof held === 'function') Object.preventExtensions(held);
  Object.preventExtensions(Object.prototype);
}

/** Maximum number of characters of a number that are shown. */
const MAX_SHOWN = 80;

/**
 * A warning for each number that processing changes because no double holds it: JSON-LD processors calculate with
 * doubles.
 *
 * @param document the document as submitted
 * @param pointer its position in the body
 */
function changedNumbers(document: JsonValue, pointer: string): readonly JsonLdWarning[] {
  return [...losslessNumbersIn(document, pointer)].map(({ pointer: at, number }) => ({
    code: 'number-changed',
    pointer: at,
    detail: `${truncate(number.text, MAX_SHOWN)} is a number that an IEEE 754 double cannot hold exactly; the result has ${number.double}.`,
  }));
}
