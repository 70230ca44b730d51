import type { Attribute, EntityContent, StoredEntity } from './model.js';

/** Entities by id, in creation order; deleting is O(1). */
type EntityList<A> = Map<string, StoredEntity<A>>;

/** The entities of one tenant in creation order, with an index by type; `A` is the type in which attributes are stored. */
export class EntityStore<A = readonly Attribute[]> {
  readonly #all: EntityList<A> = new Map();
  readonly #byType = new Map<string, EntityList<A>>();
  #sequence = 0;

  get size(): number {
    return this.#all.size;
  }

  get(id: string): StoredEntity<A> | undefined {
    return this.#all.get(id);
  }

  /** Returns all entities, or those of one type, oldest first. */
  list(type?: string): ReadonlyMap<string, StoredEntity<A>> {
    return type === undefined ? this.#all : (this.#byType.get(type) ?? new Map());
  }

  types(): readonly string[] {
    return [...this.#byType.keys()];
  }

  /** Creates an entity; undefined if the id already exists. */
  create(content: EntityContent<A>, now: number): StoredEntity<A> | undefined {
    if (this.#all.has(content.id)) return undefined;
    this.#sequence += 1;
    const entity: StoredEntity<A> = {
      ...content,
      sequence: this.#sequence,
      createdAt: now,
      modifiedAt: now,
    };
    this.#all.set(entity.id, entity);
    for (const type of entity.types) {
      const list = this.#byType.get(type) ?? new Map();
      this.#byType.set(type, list.set(entity.id, entity));
    }
    return entity;
  }

  /** Deletes an entity; false if it does not exist. */
  delete(id: string): boolean {
    const entity = this.#all.get(id);
    if (entity === undefined) return false;
    this.#all.delete(id);
    for (const type of entity.types) {
      const list = this.#byType.get(type);
      list?.delete(id);
      if (list?.size === 0) this.#byType.delete(type);
    }
    return true;
  }

  setTypes(entity: StoredEntity<A>, types: readonly string[]): void {
    const changed = [
      ...types.filter((type) => !entity.types.includes(type)),
      ...entity.types.filter((type) => !types.includes(type)),
    ];
    entity.types = types;
    // Type changes are rare. The entity's place is among older ones of the new type, so the lists are rebuilt.
    for (const type of changed) {
      const list = new Map([...this.#all].filter(([, each]) => each.types.includes(type)));
      if (list.size > 0) this.#byType.set(type, list);
      else this.#byType.delete(type);
    }
  }
}
