import { datasetIdOf } from './model.js';
import type { JsonObject } from './model.js';
import { TIME_OF } from './temporal-instance.js';
import type { TemporalInstance, TimeProperty } from './temporal-instance.js';
import { InstanceOrder } from './temporal-order.js';
import type { KeyRange } from './temporal-order.js';

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
