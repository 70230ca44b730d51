import type { ArchivedEntity } from '../../archive/index.js';
import { attributeNames, attributesWithInstances } from '../../ngsi-ld/members.js';
import type { JsonObject, JsonValue } from '../../shared/json/json.js';
import { objectOf } from '../../shared/json/json.js';
import { type Archiving, NOT_UTF8 } from '../archiving/index.js';
import { portionsOf, RepeatedTries, walkItems, withIds } from '../deleting/index.js';
import { ReplyTooLargeError } from '../broker/index.js';
import { BrokerRefusedError, BrokerReplyError, FilterIgnoredError, isNotUnderstood } from '../errors.js';
import { IdStates, type Item, keyOf } from '../ledger/index.js';
import { entitiesIn, pagesUpTo, type PageSource } from '../listing/index.js';
import { impossibleSelections, LOCAL } from '../proof/index.js';
import type { HistoryArchive, PurgeContext } from '../run/index.js';
import { InstanceKind } from './instance-kind.js';
import { TruncationEvidence } from './instance-pages.js';
import type { InstanceGuard } from './instances.js';
import { attributeQuery, VALUE_FILTERS } from './narrowed-queries.js';
import { EVERY_TIME, isOfTime, type TimeFilter, timeParameters } from './time-filter.js';

/** Limits of a history that is archived as a whole: the length of all answers, and the time to read them. */
const MAX_HISTORY_CHARS = 12 * 1024 * 1024;
const MAX_READ_MS = 10_000;

/**
 * The number of histories read together grows while reading them takes less than the first time, and shrinks if it takes more
 * than the second.
 */
const QUICK_MS = 250;
const SLOW_MS = 1000;
const MAX_TOGETHER = 16;
const MAX_AT_ONCE = 64;

const TOO_LARGE =
  'Its history is too large to be archived as a whole (12 MiB, or ten seconds of reading). Purge its instances first, with a time filter.';
const REFUSED = 'The broker lists it, but refuses to show it by its id.';
const HIDDEN = 'The broker shows only some of its instances.';
const NO_SYSTEM_TIMES =
  'The broker lists instances neither by createdAt nor by modifiedAt, so it may hide those that were never observed. Purge instances, with a time filter.';
const NOT_SHOWN = 'The broker lists it, but does not show all of it when it is asked for by its id.';

/** Ends reading, because what was read cannot be archived; the message says why. */
class UnarchivableHistory extends Error {}

interface History {
  /** The members of the entity that are not attributes. */
  readonly about: JsonObject;
  /** Instances by attribute, and then by the key of their item. */
  readonly attributes: Map<string, Map<string, JsonValue>>;
  /** Whether an instance was shown by observedAt, but by none of the times that every instance has. */
  hasGap: boolean;
}

interface Histories {
  /** The history of each shown entity, or why it cannot be archived. */
  readonly histories: ReadonlyMap<string, History | string>;
  /** Entities to be read later. */
  readonly later: ReadonlySet<string>;
}

/** What to read, by which time, and where to collect it. */
interface Reading {
  readonly time: TimeFilter;
  readonly ids: readonly string[];
  readonly histories: Map<string, History>;
  /** Receives the times by which the broker refuses to list. */
  readonly refused: Set<TimeFilter>;
  /** When reading began. */
  readonly atMs: number;
}

/** How much a query showed. */
interface Shown {
  /** Whether no instance of the shown attributes is missing. */
  readonly isWhole: boolean;
  /** Whether the broker may have left out instances of other attributes. */
  readonly mayBeCut: boolean;
}

/**
 * Archives whole histories before they are deleted. A list shows only the newest instance of each attribute. Here, all
 * instances are read, by the id of their entity and by each time that instances have, in as many queries as the broker needs.
 */
export class TemporalHistories implements HistoryArchive {
  readonly #context: PurgeContext & { readonly archiving: Archiving };
  readonly #guard: InstanceGuard;
  readonly #evidence = new Map(EVERY_TIME.map((time) => [time, new TruncationEvidence()]));
  readonly #refused = new Set<TimeFilter>();
  /** Items that were listed, and missing when they were read by the id of their entity. */
  readonly #missed = new RepeatedTries();
  #hasProvenTimes = false;
  #most = 2;
  /** A broker takes too long for each answer if it is asked for too much at once. */
  #atOnce = 1;

  constructor(context: PurgeContext & { readonly archiving: Archiving }, guard: InstanceGuard) {
    this.#context = context;
    this.#guard = guard;
  }

  get most(): number {
    return this.#most;
  }

  get atOnce(): number {
    return this.#atOnce;
  }

  async keep(listed: readonly Item[]): ReturnType<HistoryArchive['keep']> {
    const { clock } = this.#context;
    const atMs = clock.monotonicMs();
    // Items whose ids do not fit into one URL are listed again.
    const [items = listed] = portionsOf(listed);
    const ids = new Set(items.map(({ entityId }) => entityId));
    const { histories, later } = await this.#read([...ids], atMs);
    // Asked last, because an entity may stop matching while its history is read.
    const askable = [...ids].filter((id) => histories.get(id) !== REFUSED);
    const matching = await this.#stillMatching(new Set(askable));
    // Before archiving, which may take long: the histories change in the meantime.
    const listedMs = clock.monotonicMs();
    const shown: Item[] = [];
    for (const item of items) {
      const read = histories.get(item.entityId);
      const isDue = read === REFUSED || matching.has(item.entityId);
      if (isDue && !later.has(item.entityId) && (await this.#keep(item, read))) shown.push(item);
    }
    this.#adapt(clock.monotonicMs() - atMs);
    return { items: shown, listed: { atMs: listedMs, tookMs: 0 } };
  }

  #adapt(tookMs: number): void {
    if (tookMs < QUICK_MS) this.#most = Math.min(MAX_TOGETHER, this.#most * 2);
    else if (tookMs > SLOW_MS) this.#most = Math.max(1, Math.floor(this.#most / 2));
    if (tookMs < SLOW_MS) this.#atOnce = Math.min(MAX_AT_ONCE, this.#atOnce * 2);
    else if (tookMs > 2 * SLOW_MS) this.#atOnce = Math.max(1, Math.floor(this.#atOnce / 2));
  }

  /**
   * Archives one item.
   *
   * @returns false if the item must be listed again; otherwise the archive still has to be asked whether it may be deleted
   */
  async #keep(item: Item, read: History | string | undefined): Promise<boolean> {
    const { archiving } = this.#context;
    const { entityId, attribute } = item;
    const key = keyOf(item);
    const found = typeof read === 'object' ? contentOf(read, item) : undefined;
    if (typeof read === 'string') archiving.doubt(key, read);
    else if (read === undefined || found === undefined || read.hasGap) {
      // The item was deleted or changed in the meantime; the next list will tell.
      if (this.#missed.note(key)) return false;
      archiving.doubt(key, NOT_SHOWN);
    } else if (attribute === undefined) {
      await archiving.keepEntities([[entityId, JSON.stringify({ ...read.about, ...found })]]);
    } else {
      const part = { entityId, attribute, key, content: found[attribute] ?? null };
      await archiving.keepParts(entityId, read.about['type'], [part]);
    }
    return true;
  }

  /**
   * Returns the entities that the query of the purge still shows, if it has filters that reading by id leaves out; otherwise
   * all.
   */
  async #stillMatching(ids: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const { selection, lister } = this.#context;
    if (ids.size === 0 || !selection.some(({ name }) => isByValue(name))) return ids;
    const shown = new Set<string>();
    for await (const page of pagesUpTo(lister, withIds(selection, ids), ids.size)) {
      for (const id of page.ids) if (ids.has(id)) shown.add(id);
      if (shown.size === ids.size) break;
    }
    return shown;
  }

  /** Reads histories together. If one of several cannot be archived, reads only the first one, with a time limit of its own. */
  async #read(ids: readonly string[], atMs: number): Promise<Histories> {
    const [first = '', ...others] = ids;
    const came = ids.length === 0 ? new Map<string, History>() : await this.#readTogether(ids, atMs);
    const later = new Set<string>();
    if (typeof came !== 'string') return { histories: came, later };
    if (others.length === 0) return { histories: new Map([[first, came]]), later };
    // It is not known which of them cannot be archived.
    this.#most = 1;
    const { histories } = await this.#read([first], this.#context.clock.monotonicMs());
    return { histories, later: new Set(others) };
  }

  /** @returns the histories, or why at least one of them cannot be archived */
  async #readTogether(ids: readonly string[], atMs: number): Promise<ReadonlyMap<string, History> | string> {
    const histories = new Map<string, History>();
    const refused = new Set<TimeFilter>();
    const times = EVERY_TIME.filter((time) => !this.#refused.has(time));
    try {
      for (const time of times)
        if (!(await this.#readBy({ time, ids, histories, refused, atMs }))) return HIDDEN;
    } catch (error) {
      if (error instanceof UnarchivableHistory) return error.message;
      throw error;
    }
    // If the broker refuses all three time properties, it objects to something else, such as an id that is not a URI (Scorpio).
    if (refused.size === times.length) return REFUSED;
    for (const time of refused) this.#refused.add(time);
    const hasSystemTime = EVERY_TIME.some(
      (time) => time.property !== 'observedAt' && !this.#refused.has(time),
    );
    return hasSystemTime ? histories : NO_SYSTEM_TIMES;
  }

  /**
   * Reads the instances that have a time. A time that the broker does not support is skipped.
   *
   * @returns whether the broker showed all of them
   */
  async #readBy(reading: Reading): Promise<boolean> {
    const { time, histories, refused } = reading;
    const view = this.#viewBy(reading);
    try {
      const { isWhole, mayBeCut } = await this.#walk(view, reading);
      if (!isWhole || time.property === 'observedAt') return isWhole;
      if (histories.size > 0 && !(await this.#honoursTimes(view))) {
        for (const each of EVERY_TIME) if (each.property !== 'observedAt') this.#refused.add(each);
        return true;
      }
      return !mayBeCut || (await this.#readUnshown(view, reading));
    } catch (error) {
      if (!isNotUnderstood(error)) throw error;
      refused.add(time);
      return true;
    }
  }

  /** Adds what a query shows to the histories. */
  async #walk(view: PurgeContext, { time, histories }: Reading): Promise<Shown> {
    const evidence = this.#evidence.get(time) ?? new TruncationEvidence();
    const options = {
      time,
      evidence,
      guard: this.#guard,
      startedMs: this.#context.startedMs,
      countsOnly: true,
    };
    const shown = { isWhole: true, mayBeCut: false };
    await walkItems(view, new InstanceKind(view, options), new IdStates(), (batch, page) => {
      shown.isWhole &&= batch.isIncomplete !== true;
      shown.mayBeCut ||= page.isPartial || batch.mayHideMore === true;
      for (const [at, item] of batch.items.entries()) {
        const { entityId, attribute = '' } = item;
        const entity = entitiesIn(page)[page.ids.indexOf(entityId)] ?? {};
        const history = histories.get(entityId) ?? newHistory(entity);
        histories.set(entityId, history);
        const instances = history.attributes.get(attribute) ?? new Map<string, JsonValue>();
        history.attributes.set(attribute, instances);
        const key = keyOf(item);
        if (instances.has(key)) continue;
        if (time.property === 'observedAt') history.hasGap = true;
        instances.set(key, batch.contents?.[at] ?? null);
      }
    });
    return shown;
  }

  /**
   * Reads the attributes that a list shows and the truncated answer did not. An answer that leaves out instances may leave out
   * whole attributes, such as those that have only older instances.
   *
   * @returns whether all of them could be read
   */
  async #readUnshown(view: PurgeContext, reading: Reading): Promise<boolean> {
    const { time, ids, histories } = reading;
    for await (const page of pagesUpTo(view.lister, view.selection, ids.length)) {
      // With lastN, the status is 206 if any attribute has more instances, but every attribute is shown.
      if (page.isPartial && page.instances === undefined) return false;
      for (const [at, entityId] of page.ids.entries())
        for (const attribute of attributesWithInstances(entitiesIn(page)[at] ?? {})) {
          if (histories.get(entityId)?.attributes.has(attribute) === true) continue;
          const one = attributeQuery(view.selection, { entityId, attribute }, { keepsValues: true });
          const part = { ...view, selection: [...one, ...timeParameters(time)] };
          const { isWhole } = await this.#walk(part, reading);
          if (!isWhole || histories.get(entityId)?.attributes.has(attribute) !== true) return false;
        }
    }
    return true;
  }

  /**
   * Whether the broker reads `timeproperty`. A broker that takes any value for observedAt hides instances that were never
   * observed.
   */
  async #honoursTimes({ lister, selection }: PurgeContext): Promise<boolean> {
    if (this.#hasProvenTimes) return true;
    for (const impossible of impossibleSelections(selection, 'timeproperty', true)) {
      const page = await lister
        .page({ selection: impossible.selection, limit: 1 })
        .catch((error: unknown) => {
          // The broker has read the name, because it accepts the others.
          if (!(error instanceof BrokerRefusedError)) throw error;
        });
      if (page && entitiesIn(page).some((entity) => attributesWithInstances(entity).length > 0)) return false;
    }
    this.#hasProvenTimes = true;
    return true;
  }

  /** Returns the view that reads some histories by id. The filters were proven in the query of the purge. */
  #viewBy({ time, ids, atMs }: Reading): PurgeContext {
    const { selection, lister, clock, limits } = this.#context;
    const asked = new Set(ids);
    const byId = withIds(
      selection.filter(({ name }) => !isByValue(name) && !isOfTime(name)),
      asked,
    );
    // Brokers refuse a query by ids alone (clause 5.7.4.4).
    const isTooWide = !byId.some(({ name }) => ['type', 'attrs', 'local'].includes(name));
    let chars = 0;
    const page: PageSource['page'] = async (query) => {
      if (clock.monotonicMs() - atMs > MAX_READ_MS) throw new UnarchivableHistory(TOO_LARGE);
      const shown = await lister.page(query).catch((error: unknown) => {
        const isLarge = error instanceof BrokerReplyError && error.cause instanceof ReplyTooLargeError;
        throw isLarge ? new UnarchivableHistory(TOO_LARGE) : error;
      });
      chars += shown.length;
      if (shown.isDamaged) throw new UnarchivableHistory(NOT_UTF8);
      if (chars > MAX_HISTORY_CHARS) throw new UnarchivableHistory(TOO_LARGE);
      if (shown.ids.some((id) => !asked.has(id)))
        throw new FilterIgnoredError(
          'id',
          'The broker ignores the id of a temporal query, so no history can be archived. Nothing more is deleted.',
        );
      return shown;
    };
    return {
      ...this.#context,
      lister: { ...lister, page },
      paging: { contradicted: false, longestPage: 0 },
      limits: { ...limits, concurrency: Math.min(4, limits.concurrency) },
      selection: [...byId, ...(isTooWide ? [LOCAL] : []), ...timeParameters(time)],
    };
  }
}

function newHistory(entity: Readonly<Record<string, unknown>>): History {
  const attributes = new Set(attributeNames(entity));
  const about = Object.entries(entity as ArchivedEntity).filter(([name]) => !attributes.has(name));
  return { about: objectOf(about), attributes: new Map(), hasGap: false };
}

/** Returns the instances of an item by attribute; undefined for an attribute that has none any more. */
function contentOf({ attributes }: History, { attribute }: Item): JsonObject | undefined {
  const names = attribute === undefined ? [...attributes.keys()] : [attribute];
  const found = names.flatMap((name) => {
    const all = [...(attributes.get(name)?.values() ?? [])];
    return all.length === 0 ? [] : [[name, all] as const];
  });
  return found.length === 0 && attribute !== undefined ? undefined : objectOf(found);
}

function isByValue(name: string): boolean {
  return VALUE_FILTERS.has(name) || name === 'scopeQ';
}
