import type { JsonObject } from '../shared/json/json.js';
import type { StoredEntity } from './model.js';
import type { InstanceChoice } from './query-parameters.js';
import { EntityStore } from './store.js';
import { History, InstanceIds, TemporalInstance } from './temporal-history.js';
import type { TemporalContent } from './entity-input.js';

export type Histories = Map<string, History>;
export type TemporalEntity = StoredEntity<Histories>;

/**
 * The temporal entities of one tenant, independent of the current entities.
 *
 * An attribute disappears with its last instance. An entity without attributes remains: it can be retrieved and added
 * to, but no temporal query finds it.
 */
export class TemporalStore {
  readonly entities = new EntityStore<Histories>();
  readonly ids = new InstanceIds();
  #lastNumber = 0;

  /** Creates an entity, or adds to the one with the same id (clauses 5.6.11, 5.6.12). */
  put(content: TemporalContent & { readonly types: readonly string[] }, now: number): void {
    const { id, types, scopes = [] } = content;
    const present = this.entities.get(id);
    const entity = present ?? this.entities.create({ id, types, scopes, attributes: new Map() }, now);
    if (entity !== undefined) this.add(entity, content, now);
  }

  /** Adds instances, and any types that the entity does not have yet; scopes are replaced. */
  add(entity: TemporalEntity, content: Omit<TemporalContent, 'id'>, now: number): void {
    const written = { createdAt: now, modifiedAt: now };
    for (const [name, bodies] of content.attributes) {
      const history = entity.attributes.get(name) ?? new History();
      history.add(bodies.map((body) => new TemporalInstance(this.#nextNumber(), body, written)));
      entity.attributes.set(name, history);
    }
    const types = new Set([...entity.types, ...(content.types ?? [])]);
    if (types.size > entity.types.length) this.entities.setTypes(entity, [...types]);
    entity.scopes = content.scopes ?? entity.scopes;
    entity.modifiedAt = now;
  }

  /** Replaces the content of an instance (clause 5.6.14); false if it does not exist. */
  replaceInstance(
    entity: TemporalEntity,
    name: string,
    number: number,
    body: JsonObject,
    now: number,
  ): boolean {
    if (entity.attributes.get(name)?.replace(number, body, now) !== true) return false;
    entity.modifiedAt = now;
    return true;
  }

  /** Deletes one instance (clause 5.6.15); false if it does not exist. */
  deleteInstance(entity: TemporalEntity, name: string, number: number, now: number): boolean {
    return this.#change(entity, name, now, (history) => history.delete(number));
  }

  /** Deletes instances of an attribute (clause 5.6.13); false if there are none. */
  deleteAttribute(entity: TemporalEntity, name: string, which: InstanceChoice, now: number): boolean {
    return this.#change(entity, name, now, (history) =>
      which === 'all' ? entity.attributes.delete(name) : history.deleteDataset(which.datasetId),
    );
  }

  #change(entity: TemporalEntity, name: string, now: number, apply: (history: History) => boolean): boolean {
    const history = entity.attributes.get(name);
    if (history === undefined || !apply(history)) return false;
    if (history.size === 0) entity.attributes.delete(name);
    entity.modifiedAt = now;
    return true;
  }

  #nextNumber(): number {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }
}
