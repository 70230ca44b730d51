import type { JsonObject } from '../shared/json/json.js';
import type { Clock } from '../shared/clock.js';
import { refusals } from './refusal.js';
import type { Tenants } from './tenants.js';
import { readTemporalEntity } from './entity-input.js';
import { representTemporal } from './temporal-representation.js';
import type { TemporalEntity } from './temporal-store.js';

/** Direct access to the temporal entities, without HTTP. `tenant` undefined is the default tenant. */
export interface TemporalAccess {
  /** The number of temporal entities, including those without attributes. */
  count(tenant?: string): number;
  /** The ids of all temporal entities, oldest first. */
  ids(tenant?: string): readonly string[];
  has(id: string, tenant?: string): boolean;
  /** A temporal entity with all its instances, each attribute an array; undefined if it does not exist. */
  get(id: string, tenant?: string): JsonObject | undefined;
  /** The number of attributes in all temporal entities. */
  attributes(tenant?: string): number;
  /** The number of instances in all temporal entities. */
  instances(tenant?: string): number;
  /**
   * Puts `make(0)` to `make(amount - 1)`, each a temporal entity as POST takes it. Where the id is taken, the
   * instances are added.
   *
   * @throws Refusal when one is not a temporal entity
   */
  seed(amount: number, make: (index: number) => object, tenant?: string): void;
}

export function temporalAccess(tenants: Tenants, clock: Clock): TemporalAccess {
  const storeOf = (tenant?: string) => tenants.find(tenant)?.history;
  const all = (tenant?: string): Iterable<TemporalEntity> => storeOf(tenant)?.entities.list() ?? [];
  return {
    count: (tenant) => storeOf(tenant)?.entities.size ?? 0,
    ids: (tenant) => Array.from(all(tenant), ({ id }) => id),
    has: (id, tenant) => storeOf(tenant)?.entities.get(id) !== undefined,
    get: (id, tenant) => {
      const store = storeOf(tenant);
      const entity = store?.entities.get(id);
      if (store === undefined || entity === undefined) return undefined;
      const everything = { pick: undefined, sysAttrs: false, instanceIds: true, singleAsObject: false };
      return representTemporal(entity, store.ids, everything, (history) => [...history.all()]);
    },
    attributes: (tenant) => sum(all(tenant), ({ attributes }) => attributes.size),
    instances: (tenant) => sum(all(tenant), ({ attributes }) => sum(attributes.values(), ({ size }) => size)),
    seed: (amount, make, tenant) => {
      const { history } = tenants.created(tenant);
      const now = clock.now();
      for (let index = 0; index < amount; index += 1) {
        const content = readTemporalEntity(make(index));
        if (content.types === undefined)
          throw refusals.badRequest(`Temporal entity ${content.id} needs a type`);
        history.put({ ...content, types: content.types }, now);
      }
    },
  };
}

function sum<T>(items: Iterable<T>, valueOf: (item: T) => number): number {
  let total = 0;
  for (const item of items) total += valueOf(item);
  return total;
}
