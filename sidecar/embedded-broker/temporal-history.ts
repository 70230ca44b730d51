import { type JsonObject, member } from '../shared/json/json.js';
import { randomUUID } from 'node:crypto';
import { datasetIdOf, type Instance } from './model.js';
import { instantOf } from '../ngsi-ld/q-time.js';

/** The temporal properties supported here (ETSI GS CIM 009 V1.9.1, clause 4.8). */
export const TIME_PROPERTIES = ['observedAt', 'createdAt', 'modifiedAt'] as const;
export type TimeProperty = (typeof TIME_PROPERTIES)[number];

/** When an instance was written, in milliseconds since the epoch; shared by all instances of one request. */
export interface Written {
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/**
 * One instance in the history of an attribute. It has few fields, because a history may hold a million instances.
 * `number` increases with each instance; `live` becomes false on deletion.
 */
export class TemporalInstance implements Instance {
  live = true;

  constructor(
    readonly number: number,
    public body: JsonObject,
    public written: Written,
  ) {}

  get createdAt(): number {
    return this.written.createdAt;
  }

  get modifiedAt(): number {
    return this.written.modifiedAt;
  }
}

/** Reads a time of an instance, in milliseconds since the epoch; -Infinity if the instance does not have it. */
export const TIME_OF: Readonly<Record<TimeProperty, (instance: TemporalInstance) => number>> = {
  observedAt: ({ body }) => {
    const observedAt = member(body, 'observedAt');
    return typeof observedAt === 'string' ? (instantOf(observedAt) ?? -Infinity) : -Infinity;
  },
  createdAt: ({ createdAt }) => createdAt,
  modifiedAt: ({ modifiedAt }) => modifiedAt,
};

const DIGITS = 12;

/** Converts between instance numbers and URIs. The URI contains the number, so nothing has to be stored. */
export class InstanceIds {
  readonly #prefix = `urn:ngsi-ld:Instance:${randomUUID().slice(0, -DIGITS)}`;

  idOf({ number }: TemporalInstance): string {
    return this.#prefix + number.toString(16).padStart(DIGITS, '0');
  }

  /** Returns the number in an instanceId; undefined if the instanceId was not made here. */
  numberOf(instanceId: string): number | undefined {
    const digits = instanceId.slice(this.#prefix.length);
    const isOurs = instanceId.startsWith(this.#prefix) && /^[\da-f]{12}$/.test(digits);
    return isOurs ? Number.parseInt(digits, 16) : undefined;
  }
}

const COMPACT_FROM = 64;

/** A range of keys, from `from` (inclusive) to `to` (exclusive). */
export interface KeyRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Instances ordered by a key; those with equal keys are ordered by number.
 *
 * Adding at the end is O(1); instances added out of order are sorted in at the next read. Deleting is O(1) too: deleted
 * instances are skipped, and dropped once they make up a quarter. Deleting all of them page by page stays linear.
 */
class InstanceOrder {
  #instances: TemporalInstance[] = [];
  #keys: number[] = [];
  /** Instances added out of order since the last read. */
  #late: TemporalInstance[] = [];
  #dead = 0;

  /** The key of an instance must not change while the instance is in this order. */
  constructor(private readonly keyOf: (instance: TemporalInstance) => number) {}

  /** Adds instances whose numbers are above all existing ones. */
  add(instances: readonly TemporalInstance[]): void {
    const keys = instances.map(this.keyOf);
    if (this.#keys.length === 0 && keys.every((key, at) => at === 0 || key >= (keys[at - 1] ?? key))) {
      // Copied, because an array that grows by push wastes memory, which adds up over many short histories.
      this.#instances = [...instances];
      this.#keys = keys;
      return;
    }
    for (const [at, instance] of instances.entries()) this.#append(instance, keys[at] ?? Number.NaN);
  }

  /** Notes that an instance in this order was deleted. */
  noteDeath(): void {
    this.#dead += 1;
    if (this.#dead < COMPACT_FROM || this.#dead * 4 < this.#instances.length + this.#late.length) return;
    this.#keys = this.#keys.filter((_, at) => this.#instances[at]?.live === true);
    this.#instances = this.#instances.filter(({ live }) => live);
    this.#late = this.#late.filter(({ live }) => live);
    this.#dead = 0;
  }

  /** Returns the live instances whose keys are in the range. Nothing may be added or deleted during the iteration. */
  *within({ from, to }: KeyRange, newestFirst = false): Generator<TemporalInstance, undefined> {
    this.#settle();
    const start = this.#firstFrom(from);
    const end = this.#firstFrom(to);
    for (let step = start; step < end; step += 1) {
      const instance = this.#instances[newestFirst ? start + end - 1 - step : step];
      if (instance?.live === true) yield instance;
    }
  }

  #append(instance: TemporalInstance, key: number): void {
    const last = this.#keys.at(-1);
    if (last !== undefined && key < last) {
      this.#late.push(instance);
    } else {
      this.#instances.push(instance);
      this.#keys.push(key);
    }
  }

  /** Sorts in the instances that were added out of order. */
  #settle(): void {
    if (this.#late.length === 0) return;
    const keyed = this.#instances.map((instance, at) => ({ instance, key: this.#keys[at] ?? Number.NaN }));
    for (const instance of this.#late) keyed.push({ instance, key: this.keyOf(instance) });
    keyed.sort((a, b) => a.key - b.key || a.instance.number - b.instance.number);
    this.#instances = keyed.map(({ instance }) => instance);
    this.#keys = keyed.map(({ key }) => key);
    this.#late = [];
  }

  /** Finds the index of the first key that is `key` or greater (binary search). */
  #firstFrom(key: number): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] ?? Number.NaN) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Selects all instances, with or without the time property. */
export const ALWAYS: KeyRange = { from: -Infinity, to: Infinity };

/** One function shared by all histories, to save memory. */
const numberOf = ({ number }: TemporalInstance) => number;

/** The instances of one attribute: by number, and ordered by any of their times. */
export class History {
  readonly #byNumber = new InstanceOrder(numberOf);
  /** Each order is created on first use. */
  #byTime: Partial<Record<TimeProperty, InstanceOrder>> = {};
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds instances whose numbers are above all existing ones. */
  add(instances: readonly TemporalInstance[]): void {
    for (const order of this.#orders()) order.add(instances);
    this.#size += instances.length;
  }

  /** Finds an instance by its number. O(log n). */
  get(number: number): TemporalInstance | undefined {
    return this.#byNumber.within({ from: number, to: number + 1 }).next().value;
  }

  /** Deletes an instance; false if it does not exist. O(log n), including compaction. */
  delete(number: number): boolean {
    const instance = this.get(number);
    if (instance === undefined) return false;
    this.#remove(instance);
    return true;
  }

  /** Deletes the instances of a dataset (undefined: those without a datasetId); false if there are none. */
  deleteDataset(datasetId: string | undefined): boolean {
    const doomed = [...this.all()].filter(({ body }) => datasetIdOf(body) === datasetId);
    for (const instance of doomed) this.#remove(instance);
    return doomed.length > 0;
  }

  /** Replaces the content of an instance (clause 5.6.14); false if it does not exist. */
  replace(number: number, body: JsonObject, now: number): boolean {
    const instance = this.get(number);
    if (instance === undefined) return false;
    instance.body = body;
    instance.written = { createdAt: instance.createdAt, modifiedAt: now };
    this.#byTime = {};
    return true;
  }

  /** Returns all instances in the order in which they were added. */
  all(): Iterable<TemporalInstance> {
    return this.#byNumber.within(ALWAYS);
  }

  /** Returns the instances whose time is in the range, ordered by that time; instances without that time come first. */
  within(property: TimeProperty, range: KeyRange, newestFirst = false): Iterable<TemporalInstance> {
    return this.#orderOf(property).within(range, newestFirst);
  }

  /** Whether there is an instance whose time is in the range. */
  hasWithin(property: TimeProperty, range: KeyRange): boolean {
    return this.#orderOf(property).within(range).next().value !== undefined;
  }

  #remove(instance: TemporalInstance): void {
    instance.live = false;
    for (const order of this.#orders()) order.noteDeath();
    this.#size -= 1;
  }

  #orderOf(property: TimeProperty): InstanceOrder {
    const present = this.#byTime[property];
    if (present !== undefined) return present;
    const order = new InstanceOrder(TIME_OF[property]);
    order.add([...this.all()]);
    this.#byTime[property] = order;
    return order;
  }

  #orders(): readonly InstanceOrder[] {
    return [this.#byNumber, ...Object.values(this.#byTime)];
  }
}
