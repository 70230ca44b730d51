import { randomUUID } from 'node:crypto';
import { instantOf } from '../ngsi-ld/q-time.js';
import { memberOf } from './model.js';
import type { Instance, JsonObject } from './model.js';

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
