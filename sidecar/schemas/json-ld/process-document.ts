import { compactionLosses, mayLose } from './compaction-losses.js';
import { surveyOf, type DocumentSurvey } from './document-survey.js';
import { eventWarnings } from './event-warnings.js';
import { isMap, pointerTo, sameValue } from './json.js';
import { refusedFor, type Refused } from './outcomes.js';
import type { ProcessingSession } from './processing-session.js';
import type { SizedRequest } from './request-body.js';
import { lossesOf, nullsIn } from './round-trip.js';
import type { RoundTrips } from './round-trips.js';
import type { JsonLdWarning } from './warnings.js';

/** A processed document, and what may not be as its author expects. */
export interface Processed {
  readonly result: unknown;
  /** What the processor dropped; no `safe` result has any. */
  readonly dropped: readonly JsonLdWarning[];
  /** What else does not survive. */
  readonly lost: readonly JsonLdWarning[];
}

/** Characters of a request for which there is time to look for what is lost: it takes about as long again. */
const MOST_COMPARED = 512 * 1024;

const NOTHING: ReadonlySet<string> = new Set();

const NOT_COMPARED: JsonLdWarning = {
  code: 'not-compared',
  detail: 'The document is too large to look for all that compaction may lose.',
};

/**
 * Expands a document. What compaction would not bring back is looked for only where the survey says that there may be
 * something.
 *
 * @throws ProcessorFailure
 */
export async function expandDocument(
  { document, context, characters }: SizedRequest,
  survey: DocumentSurvey,
  session: ProcessingSession,
  roundTrips: RoundTrips,
): Promise<Processed> {
  const result = await session.expand(document, context);
  const dropped = eventWarnings(session.events, document);
  if (survey.odd.size === 0) return { result, dropped, lost: [] };
  if (characters > MOST_COMPARED) return { result, dropped, lost: [NOT_COMPARED] };
  const nodes: readonly unknown[] = Array.isArray(document) ? document : [document];
  const lost: JsonLdWarning[] = [];
  const skipped = byNode(dropped, Array.isArray(document) ? /^\/document\/\d+/ : /^\/document/);
  for (const [index, node] of nodes.entries()) {
    if (!isMap(node)) continue;
    const at = Array.isArray(document) ? pointerTo('/document', index) : '/document';
    const skip = skipped.get(at) ?? NOTHING;
    const losses = await roundTrips.losses({ node, odd: survey.odd, context, skip }, session);
    // There may be more of them than a call has room for.
    for (const loss of losses) lost.push({ ...loss, pointer: at + (loss.pointer ?? '') });
  }
  return { result, dropped, lost };
}

/**
 * Compacts a document, with its own context where none is given.
 *
 * @returns a refusal when its parts have different contexts and none is given
 * @throws ProcessorFailure
 */
export async function compactDocument(
  request: SizedRequest,
  survey: DocumentSurvey,
  session: ProcessingSession,
): Promise<Processed | Refused> {
  const { document } = request;
  const [context, ...others] =
    request.context === undefined ? distinct(survey.outerContexts) : [request.context];
  if (others.length > 0) {
    const detail = 'The parts of the document have different contexts: say here which to compact with.';
    return refusedFor('BODY_INVALID', 'The body is invalid', [{ pointer: '/context', detail }]);
  }
  const expanded = await session.expand(document, undefined);
  // The package takes no null, which means no context (JSON-LD 1.1 API § 9.1).
  const result = await session.compact(expanded, context ?? {});
  const dropped = eventWarnings(session.events, document);
  const skip = pointersOf(dropped);
  const isSmall = request.characters <= MOST_COMPARED;
  const lost = comesBack(request, survey)
    ? isSmall
      ? lossesOf(document, result, '/document', skip)
      : [NOT_COMPARED]
    : survey.hasNull
      ? nullsIn(document, '/document', skip)
      : [];
  if (!mayLose(expanded)) return { result, dropped, lost };
  if (!isSmall) return { result, dropped, lost: [...lost, NOT_COMPARED] };
  const again = await session.withoutEvents().expand(result, undefined);
  const keepsNull = survey.hasNull && surveyOf(expanded).hasNull;
  return { result, dropped, lost: [...(keepsNull ? [] : lost), ...compactionLosses(expanded, again)] };
}

/** Whether the document is compacted with its own context, so that it should come back as it was. */
function comesBack({ document, context }: SizedRequest, survey: DocumentSurvey): boolean {
  if (survey.odd.size === 0) return false;
  if (Array.isArray(document) || survey.innerContexts.length > 0 || Object.hasOwn(document, '@graph'))
    return false;
  const [own] = survey.outerContexts;
  return own !== undefined && (context === undefined || sameValue(context, own));
}

function distinct(contexts: readonly unknown[]): readonly unknown[] {
  return [...new Map(contexts.map((context) => [JSON.stringify(context), context])).values()];
}

function pointersOf(warnings: readonly JsonLdWarning[]): ReadonlySet<string> {
  return new Set(warnings.flatMap(({ pointer }) => pointer ?? []));
}

/** Pointers into each node, by where it stands. */
function byNode(warnings: readonly JsonLdWarning[], node: RegExp): ReadonlyMap<string, ReadonlySet<string>> {
  const pointers = new Map<string, Set<string>>();
  for (const { pointer = '' } of warnings) {
    const [at] = node.exec(pointer) ?? [];
    if (at === undefined) continue;
    const inside = pointers.get(at) ?? new Set();
    pointers.set(at, inside.add(pointer.slice(at.length)));
  }
  return pointers;
}
