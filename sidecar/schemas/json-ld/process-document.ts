import { droppedLists } from './dropped-lists.js';
import type { DocumentSurvey } from './document-survey.js';
import { eventWarnings } from './event-warnings.js';
import { flattenedArrays } from './flattened-arrays.js';
import { type JsonLdWarning, type Refused, refusedFor } from './outcomes.js';
import type { ProcessingSession } from './processing-session.js';
import type { JsonLdRequest } from './request-body.js';

/** A processed document, with warnings about what its author may not expect. */
export interface Processed {
  readonly result: unknown;
  /** What the processor dropped; empty in every result of a `safe` request. */
  readonly dropped: readonly JsonLdWarning[];
  /** Arrays of which the processor changed the structure. */
  readonly flattened: readonly JsonLdWarning[];
}

/** Expands a document. @throws ProcessorFailure */
export async function expandDocument(
  { document, context }: JsonLdRequest,
  survey: DocumentSurvey,
  session: ProcessingSession,
): Promise<Processed> {
  const result = await session.expand(document, context);
  const dropped = eventWarnings(session.events, document);
  return { result, dropped, flattened: flattenedArrays(document, survey, result, dropped) };
}

/**
 * Compacts a document, with its own context if the request gives none.
 *
 * @returns a refusal if parts of the document have different contexts and the request gives none
 * @throws ProcessorFailure
 */
export async function compactDocument(
  request: JsonLdRequest,
  survey: DocumentSurvey,
  session: ProcessingSession,
): Promise<Processed | Refused> {
  const { document } = request;
  const [context, ...others] =
    request.context === undefined ? distinct(survey.outerContexts) : [request.context];
  if (others.length > 0) {
    const detail = 'The parts of the document have different contexts. Give the one to compact with here.';
    return refusedFor('bodyInvalid', 'The body is invalid', [{ pointer: '/context', detail }]);
  }
  const expanded = await session.expand(document, undefined);
  // The package does not accept null, which means no context (JSON-LD 1.1 API § 9.1).
  const result = await session.compact(expanded, context ?? {});
  const dropped = eventWarnings(session.events, document);
  const flattened = flattenedArrays(document, survey, expanded, dropped);
  // The package may compact to what it does not expand, such as a number in a language map.
  const expandAgain = () => session.expand(result, undefined).catch(() => expanded);
  const lists = await droppedLists(document, expanded, expandAgain);
  return { result, dropped: [...dropped, ...lists], flattened };
}

function distinct(contexts: readonly unknown[]): readonly unknown[] {
  return [...new Map(contexts.map((context) => [JSON.stringify(context), context])).values()];
}
