import { readTemporalEntity } from '../../../sidecar/embedded-broker/entity-input.js';
import { TemporalStore, type TemporalEntity } from '../../../sidecar/embedded-broker/temporal-store.js';
import type { TimeQuery } from '../../../sidecar/embedded-broker/temporal-selection.js';
import { CREATED_AT } from './entities.js';

/** A temporal entity as a store holds it, created at CREATED_AT. */
export function storedHistory(input: object): { store: TemporalStore; entity: TemporalEntity } {
  const content = readTemporalEntity({ id: 'urn:ngsi-ld:T:1', type: 'T', ...input });
  const store = new TemporalStore();
  store.put({ ...content, types: content.types ?? [] }, CREATED_AT);
  const entity = store.entities.get(content.id);
  if (entity === undefined) throw new Error('what was put is there');
  return { store, entity };
}

/** The moment so many minutes into 2026, as instances and queries write it. */
export const minute = (at: number): string => new Date(minuteMs(at)).toISOString();
export const minuteMs = (at: number): number => Date.UTC(2026, 0, 1, 0, at);

/** A Property observed at a minute. */
export function observed(at: number, value: unknown = at, more: object = {}): object {
  return { type: 'Property', value, observedAt: minute(at), ...more };
}

/** A time query on observedAt, from one minute to another. */
export function timeQuery(from: number, to: number, lastN?: number): TimeQuery {
  return {
    property: 'observedAt',
    relation: 'between',
    range: { from: minuteMs(from), to: minuteMs(to) },
    lastN,
  };
}
