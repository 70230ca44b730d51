import { isObject, type JsonObject, pointerTo, sameJson } from '../../shared/json/json.js';
import { canonicalJson } from '../../shared/json/lossless-json.js';
import { type DocumentSurvey, surveyOf } from './document-survey.js';
import { eventWarnings } from './event-warnings.js';
import { namesIris } from './context-cache.js';
import { type JsonLdWarning, type Refused, refusedFor, shortJson } from './outcomes.js';
import type { ProcessingSession } from './processing-session.js';
import type { SizedRequest } from './request-body.js';
import { lossesOf, nullsIn } from './round-trip-losses.js';
import type { RoundTrips } from './round-trips.js';

/** A processed document, with warnings about what its author may not expect. */
export interface Processed {
  readonly result: unknown;
  /** What the processor dropped; empty in every result of a `safe` request. */
  readonly dropped: readonly JsonLdWarning[];
  /** What else a round trip would lose. */
  readonly lost: readonly JsonLdWarning[];
}

/**
 * Maximum number of characters of a request in which losses are searched: the search takes as long again as the
 * processing.
 */
const MAX_COMPARED = 512 * 1024;

const NOTHING: ReadonlySet<string> = new Set();

const NOT_COMPARED: JsonLdWarning = {
  code: 'not-compared',
  detail: 'The document is too large to check what compaction may lose.',
};

/**
 * Expands a document. If the survey found fragile parts, it also searches for what compaction would not restore.
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
  if (survey.fragile.size === 0) return { result, dropped, lost: [] };
  if (characters > MAX_COMPARED) return { result, dropped, lost: [NOT_COMPARED] };
  const nodes: readonly unknown[] = Array.isArray(document) ? document : [document];
  const lost: JsonLdWarning[] = [];
  const skipped = byNode(dropped, Array.isArray(document) ? /^\/document\/\d+/ : /^\/document/);
  for (const [index, node] of nodes.entries()) {
    if (!isObject(node)) continue;
    const at = Array.isArray(document) ? pointerTo('/document', index) : '/document';
    const skip = skipped.get(at) ?? NOTHING;
    const losses = await roundTrips.losses({ node, fragile: survey.fragile, context, skip }, session);
    // Not in one call of `push`: there may be more losses than a call may have arguments.
    for (const loss of losses) lost.push({ ...loss, pointer: at + (loss.pointer ?? '') });
  }
  return { result, dropped, lost };
}

/**
 * Compacts a document, with its own context if the request gives none.
 *
 * @returns a refusal if parts of the document have different contexts and the request gives none
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
    const detail = 'The parts of the document have different contexts. Give the one to compact with here.';
    return refusedFor('bodyInvalid', 'The body is invalid', [{ pointer: '/context', detail }]);
  }
  const expanded = await session.expand(document, undefined);
  // The package does not accept null, which means no context (JSON-LD 1.1 API § 9.1).
  const result = await session.compact(expanded, context ?? {});
  const dropped = eventWarnings(session.events, document);
  const skip = pointersOf(dropped);
  const isSmall = request.characters <= MAX_COMPARED;
  const lost = shouldRoundTrip(request, survey)
    ? isSmall
      ? lossesOf(document, result, '/document', skip)
      : [NOT_COMPARED]
    : survey.hasNull
      ? nullsIn(document, '/document', skip)
      : [];
  const readsIris = session.namesIris || namesIris(context);
  if (!mayLose(expanded) && !(readsIris && hasIriName(result))) return { result, dropped, lost };
  if (!isSmall) return { result, dropped, lost: [...new Set([...lost, NOT_COMPARED])] };
  const again = await session.withoutEvents().expand(result, undefined);
  const keepsNull = survey.hasNull && surveyOf(expanded).hasNull;
  return { result, dropped, lost: [...(keepsNull ? [] : lost), ...compactionLosses(expanded, again)] };
}

/** Whether the document is compacted with its own context, so that the result should equal the document. */
function shouldRoundTrip({ document, context }: SizedRequest, survey: DocumentSurvey): boolean {
  if (survey.fragile.size === 0) return false;
  if (Array.isArray(document) || survey.innerContexts.length > 0 || Object.hasOwn(document, '@graph'))
    return false;
  const [own] = survey.outerContexts;
  return own !== undefined && (context === undefined || sameJson(context, own));
}

function distinct(contexts: readonly unknown[]): readonly unknown[] {
  return [...new Map(contexts.map((context) => [JSON.stringify(context), context])).values()];
}

function pointersOf(warnings: readonly JsonLdWarning[]): ReadonlySet<string> {
  return new Set(warnings.flatMap(({ pointer }) => pointer ?? []));
}

/** The pointers of the warnings, relative to the node they are in, by the pointer of the node. */
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

/** Keywords that compaction always preserves; for other keywords it depends on the context. */
const PLAIN: ReadonlySet<string> = new Set(['@id', '@language', '@list', '@type', '@value']);

/** Names that JavaScript objects do not store like other names. */
const UNSAFE = /(?:__proto__|hasOwnProperty)$/;

/** Whether something in an expanded document may be lost when it is compacted. */
function mayLose(expanded: unknown): boolean {
  if (Array.isArray(expanded)) return expanded.some(mayLose);
  if (!isObject(expanded)) return false;
  for (const name of Object.keys(expanded)) {
    const value = expanded[name];
    if (name.startsWith('@')) {
      if (!PLAIN.has(name) || (name === '@type' && value === '@json')) return true;
      if (name === '@list' && mayLose(value)) return true;
    } else if (UNSAFE.test(name) || hasListAmongOthers(value) || mayLose(value)) return true;
  }
  return false;
}

/**
 * Whether a member of the result still has an IRI as its name. A context that has the IRI as a term applies that
 * term's definition to all values of the member, even if they do not suit it.
 */
function hasIriName(result: unknown): boolean {
  if (Array.isArray(result)) return result.some(hasIriName);
  if (!isObject(result)) return false;
  return Object.keys(result).some(
    (name) => name !== '@context' && (name.includes(':') || hasIriName(result[name])),
  );
}

/** Whether a member has a list among several values. A term for lists can hold only one list. */
function hasListAmongOthers(values: unknown): boolean {
  return (
    Array.isArray(values) &&
    values.length > 1 &&
    values.some((value: unknown) => isObject(value) && Object.hasOwn(value, '@list'))
  );
}

/**
 * Finds what an expanded document states but the result of compacting it does not.
 *
 * @param again the result, expanded again
 */
function compactionLosses(expanded: readonly unknown[], again: readonly unknown[]): readonly JsonLdWarning[] {
  const left = countsOf(again.map((node) => canonical(node)));
  const lost = expanded.filter((node) => !decrementCount(left, canonical(node)));
  return lost.map((node) => {
    const other = again.find((one) => isObject(node) && isObject(one) && one['@id'] === node['@id']);
    const names = isObject(node) && isObject(other) ? differentNames(node, other) : [];
    const where = names.length === 0 ? '' : ` in ${names.slice(0, 10).map(shortJson).join(', ')}`;
    const id = isObject(node) && typeof node['@id'] === 'string' ? ` of ${shortJson(node['@id'])}` : '';
    const detail = `The result does not say the same as the document${where}${id}: expanded again, it differs.`;
    return { code: 'compaction-lossy', detail };
  });
}

function differentNames(node: JsonObject, other: JsonObject): readonly string[] {
  return Object.keys(node).filter((name) => canonical(node[name]) !== canonical(other[name]));
}

function countsOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

function decrementCount(counts: Map<string, number>, text: string): boolean {
  const count = counts.get(text) ?? 0;
  counts.set(text, count - 1);
  return count > 0;
}

/**
 * A text that is equal for equivalent JSON-LD: the order of members does not matter, nor does that of values outside
 * lists.
 */
function canonical(value: unknown, isOrdered = false): string {
  if (Array.isArray(value)) {
    const items = value.map((item) => canonical(item, false));
    return `[${(isOrdered ? items : items.sort()).join(',')}]`;
  }
  if (!isObject(value)) return JSON.stringify(value);
  const isJson = value['@type'] === '@json';
  const members = Object.keys(value)
    .sort()
    .map((name) => {
      const inner =
        name === '@value' && isJson
          ? canonicalJson(value[name] ?? null)
          : canonical(value[name], name === '@list');
      return `${JSON.stringify(name)}:${inner}`;
    });
  return `{${members.join(',')}}`;
}
