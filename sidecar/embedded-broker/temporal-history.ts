import { randomUUID } from 'node:crypto';
import { datasetIdOf, type JsonObject, memberOf, type Instance } from './model.js';
import { instantOf } from '../ngsi-ld/q-time.js';

/** The temporal properties that an instance can have here (ETSI GS CIM 009 V1.9.1, clause 4.8). */
export const TIME_PROPERTIES = ['observedAt', 'createdAt', 'modifiedAt'] as const;
export type TimeProperty = (typeof TIME_PROPERTIES)[number];

/** When instances were written, in milliseconds since the epoch; shared by all instances of one request. */
export interface Written {
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/**
 * One instance in the history of an attribute. A history may hold a million of them, so that it has no more fields
 * than it needs. `number` grows from instance to instance; `live` ends with deletion.
 */
export class TemporalInstance implements Instance {
  readonly number: number;
  body: JsonObject;
  written: Written;
  live = true;

  constructor(number: number, body: JsonObject, written: Written) {
    this.number = number;
    this.body = body;
    this.written = written;
  }

  get createdAt(): number {
    return this.written.createdAt;
  }

  get modifiedAt(): number {
    return this.written.modifiedAt;
  }
}

/** The times of an instance in milliseconds since the epoch; -Infinity for one that it does not have. */
export const TIME_OF: Readonly<Record<TimeProperty, (instance: TemporalInstance) => number>> = {
  observedAt: ({ body }) => {
    const observedAt = memberOf(body, 'observedAt');
    return typeof observedAt === 'string' ? (instantOf(observedAt) ?? -Infinity) : -Infinity;
  },
  createdAt: ({ createdAt }) => createdAt,
  modifiedAt: ({ modifiedAt }) => modifiedAt,
};

const DIGITS = 12;

/** Turns the numbers of instances into URIs and back: a UUID whose last part is the number, so that nothing is kept. */
export class InstanceIds {
  readonly #prefix = `urn:ngsi-ld:Instance:${randomUUID().slice(0, -DIGITS)}`;

  idOf({ number }: TemporalInstance): string {
    return this.#prefix + number.toString(16).padStart(DIGITS, '0');
  }

  /** The number in an instanceId; undefined for one that was not made here. */
  numberOf(instanceId: string): number | undefined {
    const digits = instanceId.slice(this.#prefix.length);
    const isOurs = instanceId.startsWith(this.#prefix) && /^[\da-f]{12}$/.test(digits);
    return isOurs ? Number.parseInt(digits, 16) : undefined;
  }
}

const COMPACT_FROM = 64;

/** From `from` (inclusive) to `to` (exclusive). */
export interface KeyRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Instances in the order of a key, those with equal keys in the order of their numbers.
 *
 * Adding at the end costs nothing; what comes out of order is sorted in when somebody looks next. Deleting costs
 * nothing either: a dead instance is stepped over, and dropped when a quarter are dead, so that no splice of a long
 * array is ever needed and a deletion of all, page by page, stays linear.
 */
export class InstanceOrder {
  readonly #keyOf: (instance: TemporalInstance) => number;
  #instances: TemporalInstance[] = [];
  #keys: number[] = [];
  /** Added since somebody looked, and older than the last one then. */
  #late: TemporalInstance[] = [];
  #dead = 0;

  /** The key of an instance must not change while the instance is in the order. */
  constructor(keyOf: (instance: TemporalInstance) => number) {
    this.#keyOf = keyOf;
  }

  /** Adds instances with numbers above all that are here. */
  add(instances: readonly TemporalInstance[]): void {
    const keys = instances.map(this.#keyOf);
    if (this.#keys.length === 0 && keys.every((key, at) => at === 0 || key >= (keys[at - 1] ?? key))) {
      // Taken as they are: an array that grows by push has room to spare, which counts in many short histories.
      this.#instances = [...instances];
      this.#keys = keys;
      return;
    }
    for (const [at, instance] of instances.entries()) this.#append(instance, keys[at] ?? Number.NaN);
  }

  /** To be told for each instance of this order that is no longer live. */
  noteDeath(): void {
    this.#dead += 1;
    if (this.#dead < COMPACT_FROM || this.#dead * 4 < this.#instances.length + this.#late.length) return;
    this.#keys = this.#keys.filter((_, at) => this.#instances[at]?.live === true);
    this.#instances = this.#instances.filter(({ live }) => live);
    this.#late = this.#late.filter(({ live }) => live);
    this.#dead = 0;
  }

  /** The live instances whose keys are in the range. Nothing may be added or deleted while this is read. */
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

  /** Sorts in what came late. */
  #settle(): void {
    if (this.#late.length === 0) return;
    const keyed = this.#instances.map((instance, at) => ({ instance, key: this.#keys[at] ?? Number.NaN }));
    for (const instance of this.#late) keyed.push({ instance, key: this.#keyOf(instance) });
    keyed.sort((a, b) => a.key - b.key || a.instance.number - b.instance.number);
    this.#instances = keyed.map(({ instance }) => instance);
    this.#keys = keyed.map(({ key }) => key);
    this.#late = [];
  }

  /** Where the first key of `key` or more is (binary search). */
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

/** All times, and those instances too that have none. */
export const ALWAYS: KeyRange = { from: -Infinity, to: Infinity };

/** One function for all histories, which would otherwise keep one each. */
const numberOf = ({ number }: TemporalInstance) => number;

/** The instances of one attribute: found by their numbers, and in the order of any of their times. */
export class History {
  readonly #byNumber = new InstanceOrder(numberOf);
  /** Made when first asked for, and kept from then on. */
  #byTime: Partial<Record<TimeProperty, InstanceOrder>> = {};
  #size = 0;

  /** How many instances there are. */
  get size(): number {
    return this.#size;
  }

  /** Adds instances with numbers above all that are here. */
  add(instances: readonly TemporalInstance[]): void {
    for (const order of this.#orders()) order.add(instances);
    this.#size += instances.length;
  }

  /** O(log n). */
  get(number: number): TemporalInstance | undefined {
    return this.#byNumber.within({ from: number, to: number + 1 }).next().value;
  }

  /** Deletes an instance; false when there is none with the number. O(log n), a share of later compaction included. */
  delete(number: number): boolean {
    const instance = this.get(number);
    if (instance === undefined) return false;
    this.#remove(instance);
    return true;
  }

  /** Deletes the instances of a dataset (undefined: those without datasetId); false when there are none. */
  deleteDataset(datasetId: string | undefined): boolean {
    const doomed = [...this.all()].filter(({ body }) => datasetIdOf(body) === datasetId);
    for (const instance of doomed) this.#remove(instance);
    return doomed.length > 0;
  }

  /** Gives an instance other content (clause 5.6.14); false when there is none with the number. */
  replace(number: number, body: JsonObject, now: number): boolean {
    const instance = this.get(number);
    if (instance === undefined) return false;
    instance.body = body;
    instance.written = { createdAt: instance.createdAt, modifiedAt: now };
    this.#byTime = {};
    return true;
  }

  /** All instances in the order in which they were added. */
  all(): Iterable<TemporalInstance> {
    return this.#byNumber.within(ALWAYS);
  }

  /** The instances whose time is in the range, in the order of that time; those without one come first. */
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
