import type { EntityQuery, Selection } from './entity-query.js';
import type { Attribute, StoredEntity } from './model.js';
import type { History } from './temporal-history.js';
import type { TemporalInstance } from './temporal-instance.js';
import type { Histories, TemporalEntity } from './temporal-store.js';
import type { TimeQuery } from './temporal-time.js';

/**
 * Which temporal entities a query selects (clause 5.7.4): those with an instance in the interval, of the attributes
 * that `attrs` names or else of any, and whose instances in the interval make `q` and the geoquery hold.
 */
export function temporalEntityQuery(selection: Selection, time: TimeQuery): EntityQuery<Histories> {
  const { ids, type, filters, attrs, valueFilters } = selection;
  const isInTime = (entity: TemporalEntity) => hasInstanceInTime(entity, attrs, time);
  const hasValues = (entity: TemporalEntity) => {
    const view = viewOf(entity, time);
    return valueFilters.every((filter) => filter(view));
  };
  return { ids, type, filters: [...filters, isInTime, ...(valueFilters.length > 0 ? [hasValues] : [])] };
}

/** Whether an entity has an instance in the interval, of the named attributes or else of any. */
export function hasInstanceInTime(
  entity: TemporalEntity,
  attrs: readonly string[] | undefined,
  { property, range }: TimeQuery,
): boolean {
  const isHere = (history: History | undefined) => history?.hasWithin(property, range) === true;
  if (attrs !== undefined) return attrs.some((name) => isHere(entity.attributes.get(name)));
  for (const history of entity.attributes.values()) if (isHere(history)) return true;
  return false;
}

/** The entity as filters of current entities see it: only what lies in the interval. */
function viewOf(entity: TemporalEntity, time: TimeQuery): StoredEntity {
  const attributes = Array.from(entity.attributes, ([name, history]) => lazyAttribute(name, history, time));
  return { ...entity, attributes };
}

/** Whether an instance makes the filters by value hold without any other. */
export function matchesAlone(
  entity: TemporalEntity,
  history: History,
  { valueFilters }: Selection,
): (instance: TemporalInstance) => boolean {
  const [name = ''] = [...entity.attributes].find(([, other]) => other === history) ?? [];
  return (instance) => {
    const view = { ...entity, attributes: [{ name, instances: [instance] }] };
    return valueFilters.every((filter) => filter(view));
  };
}

/** Collects its instances when it is looked at: a query seldom speaks of every attribute. */
function lazyAttribute(name: string, history: History, { property, range }: TimeQuery): Attribute {
  let instances: Attribute['instances'] | undefined;
  return {
    name,
    get instances() {
      instances ??= [...history.within(property, range)];
      return instances;
    },
  };
}
