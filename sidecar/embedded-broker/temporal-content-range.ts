import { TIME_OF } from './temporal-instance.js';
import type { Choice } from './temporal-choice.js';
import type { TimeQuery } from './temporal-time.js';

/** The greatest time that a Date can hold, in milliseconds. */
const LATEST_MS = 8.64e15;

/** Collects what an answer shows, and tells by `Content-Range` how far it is complete (clause 6.3.10). */
export class ContentRange {
  readonly #time: TimeQuery;
  #start: number | undefined;
  #end: number | undefined;

  constructor(time: TimeQuery) {
    this.#time = time;
  }

  /** To be told of all instances of an attribute that are shown. */
  note({ instances, isCut }: Choice): void {
    const [first] = instances;
    const last = instances.at(-1);
    if (first === undefined || last === undefined) return;
    const { lastN } = this.#time;
    const timeOf = TIME_OF[this.#time.property];
    // Whatever is cut short first ends the range: a client that goes on from there misses no instance.
    const nearer = lastN === undefined ? Math.min : Math.max;
    const start = timeOf(first);
    this.#start = nearer(this.#start ?? start, start);
    if (!isCut) return;
    const end = timeOf(last);
    this.#end = nearer(this.#end ?? end, end);
  }

  /** The header's value; undefined when everything is shown. */
  get header(): string | undefined {
    if (this.#start === undefined || this.#end === undefined) return undefined;
    const { range, lastN } = this.#time;
    const bound = lastN === undefined ? range.from : range.to;
    const start = Math.abs(bound) <= LATEST_MS ? bound : this.#start;
    return `DateTime ${dateTime(start)}-${dateTime(this.#end)}/${lastN ?? '*'}`;
  }
}

/** Instances without the time come before all others; where only such are shown, the range is from 1970. */
function dateTime(time: number): string {
  return new Date(Math.abs(time) <= LATEST_MS ? time : 0).toISOString();
}
