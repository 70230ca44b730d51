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

/** A range of times in milliseconds since the epoch, from `from` (inclusive) to `to` (exclusive). */
export interface KeyRange {
  readonly from: number;
  readonly to: number;
}

/** Selects all instances, with or without the time property. */
export const ALWAYS: KeyRange = { from: -Infinity, to: Infinity };

/** Some instances in ascending order of a key. */
interface Ordered {
  readonly keys: readonly number[];
  readonly instances: readonly TemporalInstance[];
}

/** The instances of one attribute. Deleted ones are skipped, and dropped together once they make up half. */
export class History {
  /** By number, which is the order in which they were added. */
  #instances: TemporalInstance[] = [];
  #dead = 0;
  /** Sorted when needed, until something is added or replaced. */
  #byTime: Partial<Record<TimeProperty, Ordered>> = {};

  get size(): number {
    return this.#instances.length - this.#dead;
  }

  /** Adds instances whose numbers are above all existing ones. */
  add(instances: readonly TemporalInstance[]): void {
    for (const instance of instances) this.#instances.push(instance);
    this.#byTime = {};
  }

  get(number: number): TemporalInstance | undefined {
    const at = indexFrom(number, this.#instances.length, (index) => this.#instances[index]?.number);
    const found = this.#instances[at];
    return found?.number === number && found.live ? found : undefined;
  }

  /** Deletes an instance; false if it does not exist. */
  delete(number: number): boolean {
    const instance = this.get(number);
    if (instance !== undefined) this.#remove(instance);
    return instance !== undefined;
  }

  /** Deletes the instances of a dataset (undefined: those without a datasetId); false if there are none. */
  deleteDataset(datasetId: string | undefined): boolean {
    const doomed = this.all().filter(({ body }) => datasetIdOf(body) === datasetId);
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
  all(): readonly TemporalInstance[] {
    return this.#instances.filter(({ live }) => live);
  }

  /** Yields the instances whose time is in the range, ordered by that time; instances without that time come first. */
  *within(
    property: TimeProperty,
    { from, to }: KeyRange,
    newestFirst = false,
  ): Generator<TemporalInstance, undefined> {
    const { keys, instances } = (this.#byTime[property] ??= this.#orderedBy(TIME_OF[property]));
    const indexOf = (key: number) => indexFrom(key, keys.length, (index) => keys[index]);
    const [start, end] = [indexOf(from), indexOf(to)];
    for (let step = start; step < end; step += 1) {
      const instance = instances[newestFirst ? start + end - 1 - step : step];
      if (instance?.live === true) yield instance;
    }
  }

  /** Whether there is an instance whose time is in the range. */
  hasWithin(property: TimeProperty, range: KeyRange): boolean {
    return this.within(property, range).next().value !== undefined;
  }

  #remove(instance: TemporalInstance): void {
    instance.live = false;
    this.#dead += 1;
    if (this.#dead * 2 < this.#instances.length) return;
    this.#instances = this.#instances.filter(({ live }) => live);
    this.#dead = 0;
    this.#byTime = {};
  }

  #orderedBy(timeOf: (instance: TemporalInstance) => number): Ordered {
    const keyed = this.all().map((instance) => ({ instance, key: timeOf(instance) }));
    // The sort is stable, so equal times are in the order of the numbers. Instances without the time are equal, too.
    keyed.sort((a, b) => a.key - b.key || 0);
    return { keys: keyed.map(({ key }) => key), instances: keyed.map(({ instance }) => instance) };
  }
}

/** Finds the index of the first of some ascending keys that is `key` or greater (binary search). */
function indexFrom(key: number, length: number, keyAt: (index: number) => number | undefined): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keyAt(middle) ?? Number.NaN) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
