import { isObject, type JsonObject, pointerTo, sameJson } from '../../shared/json/json.js';
import { canonicalJson } from '../../shared/json/lossless-json.js';
import { type DocumentSurvey, surveyOf } from './document-survey.js';
import { eventWarnings } from './event-warnings.js';
import { namesIris } from './known-contexts.js';
import { type JsonLdWarning, type Refused, refusedFor, shown } from './outcomes.js';
import type { ProcessingSession } from './processing-session.js';
import type { SizedRequest } from './request-body.js';
import { lossesOf, nullsIn } from './round-trip-losses.js';
import type { RoundTrips } from './round-trips.js';

/** A processed document, and what may not be as its author expects. */
export interface Processed {
  readonly result: unknown;
  /** What the processor dropped; no `safe` result has any. */
  readonly dropped: readonly JsonLdWarning[];
  /** What else does not survive. */
  readonly lost: readonly JsonLdWarning[];
}

/** Characters of a request for which there is time to look for what is lost: it takes about as long again. */
const MAX_COMPARED = 512 * 1024;

const NOTHING: ReadonlySet<string> = new Set();

const NOT_COMPARED: JsonLdWarning = {
  code: 'not-compared',
  detail: 'The document is too large to check what compaction may lose.',
};

/**
 * Expands a document. Looks for what compaction would not restore only where the survey says that there may be
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
    const detail = 'The parts of the document have different contexts. Give the one to compact with here.';
    return refusedFor('bodyInvalid', 'The body is invalid', [{ pointer: '/context', detail }]);
  }
  const expanded = await session.expand(document, undefined);
  // The package takes no null, which means no context (JSON-LD 1.1 API § 9.1).
  const result = await session.compact(expanded, context ?? {});
  const dropped = eventWarnings(session.events, document);
  const skip = pointersOf(dropped);
  const isSmall = request.characters <= MAX_COMPARED;
  const lost = comesBack(request, survey)
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

/** Whether the document is compacted with its own context, so that it should come back as it was. */
function comesBack({ document, context }: SizedRequest, survey: DocumentSurvey): boolean {
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

/** What compaction keeps in any case; with other keywords it depends on the context. */
const PLAIN: ReadonlySet<string> = new Set(['@id', '@language', '@list', '@type', '@value']);

/** Names that objects of JavaScript do not hold as they hold others. */
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

/** Whether a name is still an IRI: a context that has it as a term reads all its values by that, whatever they are. */
function hasIriName(result: unknown): boolean {
  if (Array.isArray(result)) return result.some(hasIriName);
  if (!isObject(result)) return false;
  return Object.keys(result).some(
    (name) => name !== '@context' && (name.includes(':') || hasIriName(result[name])),
  );
}

/** A term for lists holds one. */
function hasListAmongOthers(values: unknown): boolean {
  return (
    Array.isArray(values) &&
    values.length > 1 &&
    values.some((value: unknown) => isObject(value) && Object.hasOwn(value, '@list'))
  );
}

/**
 * What an expanded document says and the result of compacting it does not.
 *
 * @param again the result, expanded
 */
function compactionLosses(expanded: readonly unknown[], again: readonly unknown[]): readonly JsonLdWarning[] {
  const left = countsOf(again.map((node) => canonical(node)));
  const lost = expanded.filter((node) => !taken(left, canonical(node)));
  return lost.map((node) => {
    const other = again.find((one) => isObject(node) && isObject(one) && one['@id'] === node['@id']);
    const names = isObject(node) && isObject(other) ? differentNames(node, other) : [];
    const where = names.length === 0 ? '' : ` in ${names.slice(0, 10).map(shown).join(', ')}`;
    const id = isObject(node) && typeof node['@id'] === 'string' ? ` of ${shown(node['@id'])}` : '';
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

function taken(counts: Map<string, number>, text: string): boolean {
  const count = counts.get(text) ?? 0;
  counts.set(text, count - 1);
  return count > 0;
}

/** The same text for the same JSON-LD: the order of members does not count, nor that of values but in lists. */
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
