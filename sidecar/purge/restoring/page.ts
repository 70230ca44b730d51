import type { BrokerProblem } from '../broker/index.js';
import { BrokerReplyError } from '../errors.js';
import { itemProblem } from '../ledger/index.js';
import type { OutageEvent, Requester } from '../requests/index.js';
import type { Problem } from '../../shared/problem.js';
import type { JsonValue } from '../../shared/json/json.js';
import type { RestoreItem, RestoreKind } from './item.js';

/** Counts of the items of an archive. At the end, `restored`, `alreadyThere`, `failed` and `unknown` add up to `matched`. */
interface RestoreCounts {
  readonly matched: number;
  /** Items created again; in a dry run, items that would be created. */
  readonly restored: number;
  /** Items that existed before, and were left as they are. */
  readonly alreadyThere: number;
  readonly failed: number;
  /** Items for which a create was sent, with unknown effect. */
  readonly unknown: number;
  /** Items of `restored` that differ from the archive at the broker; in a dry run, those of `alreadyThere`. */
  readonly different: number;
}

/** How far a restore has come. Everything before a line of the archive is settled and counted. */
export interface RestorePosition extends RestoreCounts {
  /** Lines of the archive before this one are settled. */
  readonly line: number;
  /** The page that the restore was about to create. */
  readonly begun?: {
    readonly lines: number;
    /** Which of its items did not exist: a bit for each, in their order, in base64. */
    readonly missing: string;
  };
}

/** An item that could not be restored. */
export interface RestoreError {
  readonly entityId: string;
  readonly attribute?: string;
  readonly error: Problem;
}

export interface RestoreReport extends RestoreCounts {
  readonly dryRun: boolean;
  /** At most 100. */
  readonly errors: readonly RestoreError[];
  /** Ids of entities that existed before, as a whole or in part; at most 100. In a dry run, those that differ come first. */
  readonly sample: readonly string[];
  readonly requests: number;
  readonly retries: number;
  /** Requested ids that were not found in the archive so far. */
  readonly absent: readonly string[];
}

/** Events of a restore, in order. */
export type RestoreEvent = ({ readonly type: 'progress' } & RestoreReport) | OutageEvent;

export const NOTHING_RESTORED: RestorePosition = {
  line: 0,
  matched: 0,
  restored: 0,
  alreadyThere: 0,
  failed: 0,
  unknown: 0,
  different: 0,
};

/** What the broker shows of some items, by their keys, and whether they can be compared with the archive. */
interface Seen {
  readonly shown: ReadonlyMap<string, JsonValue>;
  readonly isWhole: boolean;
}

export interface PageRestorerOptions {
  readonly kind: RestoreKind;
  readonly requester: Pick<Requester, 'waitBeforeCheck'>;
  readonly dryRun: boolean;
  readonly save: (position: RestorePosition) => Promise<void>;
  readonly position: RestorePosition | undefined;
}

/** How often to look up created items that are not shown yet: brokers may answer from a stale index. */
const MAX_LOOKS = 4;

/** Maximum number of errors, and of entities, that a report names. */
const MAX_NAMED = 100;

const NOT_SHOWN: BrokerProblem = {
  status: 502,
  title: 'Not shown',
  detail: 'The broker confirmed that it was created, but does not show it.',
};

/** Restores the pages of an archive one after the other, and counts the items. */
export class PageRestorer {
  readonly #options: PageRestorerOptions;
  readonly #errors: RestoreError[] = [];
  readonly #there = new Set<string>();
  readonly #different = new Set<string>();
  #position: RestorePosition;

  constructor(options: PageRestorerOptions) {
    this.#options = options;
    this.#position = options.position ?? NOTHING_RESTORED;
  }

  get position(): RestorePosition {
    return this.#position;
  }

  get report(): Omit<RestoreReport, 'requests' | 'retries' | 'dryRun' | 'absent'> {
    const { line: _line, begun, ...counts } = this.#position;
    // What was about to be created may exist.
    const open = begun === undefined ? 0 : bitsIn(begun.missing);
    const sample = [...new Set([...this.#different, ...this.#there])].slice(0, MAX_NAMED);
    return {
      ...counts,
      matched: counts.matched + open,
      unknown: counts.unknown + open,
      errors: this.#errors,
      sample,
    };
  }

  /** Restores one page. @param line number of its first line in the archive @param lines how many lines it covers */
  async restore(items: readonly RestoreItem[], line: number, lines: number): Promise<void> {
    const { kind, dryRun, save } = this.#options;
    const { begun } = this.#position;
    const before = await kind.shown(items, dryRun);
    if (dryRun) {
      this.#compare(items, before);
      this.#settle(line + lines, {});
      return;
    }
    // If an earlier process had begun this page, it has created what was missing then and exists now.
    const wasMissing = begun?.lines === lines ? begun.missing : undefined;
    const missing = items.filter((item, index) =>
      wasMissing === undefined ? !before.has(item.key) : isSet(wasMissing, index),
    );
    const open = new Set(missing.map(({ key }) => key));
    for (const item of items) if (!open.has(item.key)) this.#noteThere(item);
    const created = missing.filter(({ key }) => before.has(key));
    const toCreate = missing.filter(({ key }) => !before.has(key));
    let came = { restored: created.length, existing: 0, failed: 0, unknown: 0, different: 0 };
    if (toCreate.length > 0) {
      const bits = wasMissing ?? bitsOf(items, open);
      this.#position = { ...this.#position, line, begun: { lines, missing: bits } };
      await save(this.#position);
      const outcome = await this.#create(toCreate);
      came = { ...outcome, restored: outcome.restored + created.length };
    }
    const { existing, ...counts } = came;
    const alreadyThere = items.length - missing.length + existing;
    this.#settle(line + lines, { ...counts, matched: items.length, alreadyThere });
  }

  async #create(items: readonly RestoreItem[]) {
    const { kind, requester } = this.#options;
    const results = await kind.create(items);
    const mayBeThere = items.filter((item) => results.get(item.key)?.kind !== 'refused');
    let seen: Seen = { shown: new Map(), isWhole: false };
    for (let look = 1; look <= MAX_LOOKS; look += 1) {
      if (look > 1) await requester.waitBeforeCheck(look - 1);
      seen = await this.#look(mayBeThere);
      const { shown } = seen;
      const isLacking = mayBeThere.some(
        ({ key, isHidden }) => !shown.has(key) && isHidden !== true && results.get(key)?.kind === 'created',
      );
      if (!isLacking) break;
    }
    const counts = { restored: 0, existing: 0, failed: 0, unknown: 0, different: 0 };
    for (const item of items) {
      const result = results.get(item.key) ?? { kind: 'unclear', problem: NOT_SHOWN };
      const now = seen.shown.get(item.key);
      const isThere = now !== undefined || (item.isHidden === true && result.kind === 'created');
      if (result.kind === 'exists') {
        counts.existing += 1;
        this.#noteThere(item);
      } else if (result.kind !== 'refused' && isThere) {
        counts.restored += 1;
        if (seen.isWhole && now !== undefined && !kind.isSame(item, now)) counts.different += 1;
      } else if (result.kind === 'unclear' && item.isHidden === true) counts.unknown += 1;
      else {
        counts.failed += 1;
        this.#noteError(item, 'problem' in result ? result.problem : NOT_SHOWN);
      }
    }
    return counts;
  }

  /**
   * Looks up items that may have been created: as a whole, because a broker may confirm a create and store less (Orion-LD:
   * without datasets). Not everything that can be created can be read, such as values that are nested very deeply.
   */
  async #look(items: readonly RestoreItem[]): Promise<Seen> {
    const { kind } = this.#options;
    try {
      return { shown: await kind.shown(items, true), isWhole: true };
    } catch (error) {
      if (!(error instanceof BrokerReplyError)) throw error;
      return { shown: await kind.shown(items, false), isWhole: false };
    }
  }

  #compare(items: readonly RestoreItem[], shown: ReadonlyMap<string, JsonValue>): void {
    let [there, different, failed] = [0, 0, 0];
    for (const item of items) {
      const refusal = this.#options.kind.refusalOf?.(item);
      if (refusal !== undefined) {
        failed += 1;
        this.#noteError(item, refusal);
      }
      const now = shown.get(item.key);
      if (now === undefined) continue;
      there += 1;
      this.#noteThere(item);
      if (this.#options.kind.isSame(item, now)) continue;
      different += 1;
      if (this.#different.size < MAX_NAMED) this.#different.add(item.entityId);
    }
    const matched = items.length;
    const restored = matched - there - failed;
    this.#settle(this.#position.line, { matched, alreadyThere: there, restored, different, failed });
  }

  #settle(line: number, more: Partial<RestorePosition>): void {
    const { begun: _begun, ...before } = this.#position;
    this.#position = {
      line,
      matched: before.matched + (more.matched ?? 0),
      restored: before.restored + (more.restored ?? 0),
      alreadyThere: before.alreadyThere + (more.alreadyThere ?? 0),
      failed: before.failed + (more.failed ?? 0),
      unknown: before.unknown + (more.unknown ?? 0),
      different: before.different + (more.different ?? 0),
    };
  }

  #noteThere({ entityId }: RestoreItem): void {
    if (this.#there.size < MAX_NAMED) this.#there.add(entityId);
  }

  #noteError({ entityId, attribute }: RestoreItem, problem: BrokerProblem): void {
    if (this.#errors.length >= MAX_NAMED) return;
    const of = attribute === undefined ? { entityId } : { entityId, attribute };
    this.#errors.push({ ...of, error: itemProblem(problem) });
  }
}

function bitsOf(items: readonly RestoreItem[], keys: ReadonlySet<string>): string {
  const bits = Buffer.alloc(Math.ceil(items.length / 8));
  for (const [index, { key }] of items.entries())
    if (keys.has(key)) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
  return bits.toString('base64');
}

function isSet(bits: string, index: number): boolean {
  return ((Buffer.from(bits, 'base64')[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
}

function bitsIn(bits: string): number {
  let count = 0;
  for (const byte of Buffer.from(bits, 'base64'))
    for (let rest = byte; rest > 0; rest >>= 1) count += rest & 1;
  return count;
}
