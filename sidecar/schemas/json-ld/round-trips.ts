import { memberOf, pointerTo, type JsonMap } from './json.js';
import { lossSketch } from './loss-sketch.js';
import { oddParts } from './odd-parts.js';
import { processingErrorOf, sentenceOf } from './processing-errors.js';
import { type ProcessingSession, ProcessorFailure } from './processing-session.js';
import { RecentlyUsed } from '../../shared/recently-used.js';
import { lossesOf } from './round-trip.js';
import type { JsonLdWarning } from './outcomes.js';

/** A node at the top of a document. */
export interface TopNode {
  readonly node: JsonMap;
  /** What in it may be lost, by the survey of the document. */
  readonly odd: ReadonlySet<object>;
  /** Applied before its own; undefined for none. */
  readonly context: unknown;
  /** Pointers into the node of what is known to be dropped. */
  readonly skip: ReadonlySet<string>;
}

interface Remembered {
  readonly key: string;
  readonly losses: readonly JsonLdWarning[];
}

const MOST_CHARACTERS = 4 * 1024 * 1024;
const LONGEST_KEY = 64 * 1024;

/** What shows parts of the node, which are nobody else's. */
const SHOWING: ReadonlySet<string> = new Set(['value-changed', 'compaction-fails']);

/**
 * Expands nodes and compacts them again, to find out what does not come back. Entities of one model differ little in what
 * may be lost: what was found is remembered by that.
 */
export class RoundTrips {
  readonly #known = new RecentlyUsed<Remembered>(
    MOST_CHARACTERS,
    ({ key, losses }) => key.length + 200 * losses.length,
  );

  /** What of a node does not come back; pointers are into the node. */
  async losses(top: TopNode, session: ProcessingSession): Promise<readonly JsonLdWarning[]> {
    if (!top.odd.has(top.node)) return [];
    const key = keyOf(top, session);
    const known = key === undefined ? undefined : this.#known.get(key);
    if (known !== undefined) return known.losses;
    const losses = await found(top, session.withoutEvents());
    if (key !== undefined && !losses.some(({ code }) => SHOWING.has(code)))
      this.#known.set(key, { key, losses });
    return losses;
  }
}

/** The same for nodes that lose the same in the same contexts; undefined where that is not worth remembering. */
function keyOf(
  { node, odd, context, skip }: TopNode,
  { contextsKey }: ProcessingSession,
): string | undefined {
  if (contextsKey === undefined || skip.size > 0) return undefined;
  const outer = context === undefined ? '' : JSON.stringify(context);
  const text = `${outer}\n${lossSketch(node, odd)}`;
  return text.length > LONGEST_KEY ? undefined : `${contextsKey}\n${text}`;
}

/** Makes the round trip with the odd parts alone, and with all of the node where that fails. */
async function found(top: TopNode, session: ProcessingSession): Promise<readonly JsonLdWarning[]> {
  try {
    return await roundTrip({ ...top, node: oddParts(top.node, top.odd) }, session);
  } catch (error) {
    if (!(error instanceof ProcessorFailure)) throw error;
  }
  try {
    return await roundTrip(top, session);
  } catch (error) {
    if (!(error instanceof ProcessorFailure) || error.cause instanceof RangeError) throw error;
    const reason = sentenceOf(processingErrorOf(error.cause));
    const detail = `The result cannot be compacted with the same contexts: ${reason}`;
    return [{ code: 'compaction-fails', detail, pointer: '' }];
  }
}

async function roundTrip(
  { node, context, skip }: TopNode,
  session: ProcessingSession,
): Promise<readonly JsonLdWarning[]> {
  const contexts = [context, memberOf(node, '@context')].flatMap((one) => (one === undefined ? [] : one));
  const back = await session.compact(await session.expand(node, context), contexts);
  const graph = nodesOf(node);
  return graph === undefined
    ? lossesOf(node, back, '', skip)
    : lossesOf(graph, nodesOf(back) ?? [back], pointerTo('', '@graph'), skip);
}

/** The nodes of a document that holds nothing but them. */
function nodesOf(document: JsonMap): readonly unknown[] | undefined {
  const names = Object.keys(document).filter((name) => name !== '@context');
  const graph = memberOf(document, '@graph');
  return names.length === 1 && Array.isArray(graph) ? graph : undefined;
}
