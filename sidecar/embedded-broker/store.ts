import type { Attribute, EntityContent, StoredEntity } from './model.js';

const NO_SCOPES: readonly string[] = [];

/** The entities of one tenant in creation order, with an index by type; `A` is the type in which attributes are stored. */
export class EntityStore<A = readonly Attribute[]> {
  readonly #byId = new Map<string, StoredEntity<A>>();
  readonly #byType = new Map<string, EntityList<A>>();
  readonly #all = new EntityList<A>();
  #sequence = 0;

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): StoredEntity<A> | undefined {
    return this.#byId.get(id);
  }

  /** Returns all entities, or those of one type, oldest first; counting and deleting are O(1). */
  list(type?: string): Iterable<StoredEntity<A>> & { readonly size: number } {
    return type === undefined ? this.#all : (this.#byType.get(type) ?? new EntityList<A>());
  }

  /** Returns the types that at least one entity has. */
  types(): readonly string[] {
    return [...this.#byType.keys()];
  }

  /** Creates an entity; undefined if the id already exists. */
  create(content: EntityContent<A>, now: number): StoredEntity<A> | undefined {
    if (this.#byId.has(content.id)) return undefined;
    this.#sequence += 1;
    const entity: StoredEntity<A> = {
      id: content.id,
      sequence: this.#sequence,
      types: this.#shared(content.types),
      scopes: content.scopes.length === 0 ? NO_SCOPES : content.scopes,
      attributes: content.attributes,
      createdAt: now,
      modifiedAt: now,
      live: true,
    };
    this.#byId.set(entity.id, entity);
    this.#all.add(entity);
    for (const type of entity.types) this.#listFor(type).add(entity);
    return entity;
  }

  /** Deletes an entity; false if it does not exist. */
  delete(id: string): boolean {
    const entity = this.#byId.get(id);
    if (entity === undefined) return false;
    this.#byId.delete(id);
    entity.live = false;
    this.#all.noteDeath();
    for (const type of entity.types) {
      const list = this.#byType.get(type);
      list?.noteDeath();
      if (list?.size === 0) this.#byType.delete(type);
    }
    return true;
  }

  /** Replaces the types of an entity. */
  setTypes(entity: StoredEntity<A>, types: readonly string[]): void {
    const changed = new Set([...entity.types, ...types]);
    for (const type of types) if (entity.types.includes(type)) changed.delete(type);
    entity.types = types;
    // Type changes are rare. The entity's place is among older ones of the new type, so the lists are rebuilt.
    for (const type of changed) {
      const list = new EntityList<A>();
      for (const each of this.#all) if (each.types.includes(type)) list.add(each);
      if (list.size > 0) this.#byType.set(type, list);
      else this.#byType.delete(type);
    }
  }

  /** Shares one array among all entities that have the same single type, to save memory. */
  #shared(types: readonly string[]): readonly string[] {
    const [type = ''] = types;
    const known = this.#byType.get(type)?.first?.types;
    return known?.length === 1 && types.length === 1 ? known : types;
  }

  #listFor(type: string): EntityList<A> {
    const present = this.#byType.get(type);
    if (present !== undefined) return present;
    const list = new EntityList<A>();
    this.#byType.set(type, list);
    return list;
  }
}

const COMPACT_FROM = 1024;

/**
 * Entities in creation order. Deleting is O(1): deleted entities are skipped, and dropped once they make up more than
 * half of the list, so a purge from the front stays linear.
 */
export class EntityList<A = readonly Attribute[]> {
  #slots: StoredEntity<A>[] = [];
  #head = 0;
  #live = 0;

  /** The number of live entities. */
  get size(): number {
    return this.#live;
  }

  /** Adds an entity newer than all others in the list. */
  add(entity: StoredEntity<A>): void {
    this.#slots.push(entity);
    this.#live += 1;
  }

  /** Notes that an entity in this list was deleted. */
  noteDeath(): void {
    this.#live -= 1;
    const dead = this.#slots.length - this.#live;
    if (dead >= COMPACT_FROM && dead > this.#live) {
      this.#slots = this.#slots.filter((entity) => entity.live);
      this.#head = 0;
    }
  }

  /** The oldest live entity. */
  get first(): StoredEntity<A> | undefined {
    while (this.#head < this.#slots.length && this.#slots[this.#head]?.live !== true) this.#head += 1;
    return this.#slots[this.#head];
  }

  *[Symbol.iterator](): Generator<StoredEntity<A>> {
    if (this.first === undefined) return;
    for (let at = this.#head; at < this.#slots.length; at += 1) {
      const entity = this.#slots[at];
      if (entity?.live === true) yield entity;
    }
  }
}
