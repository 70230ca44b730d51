import type { Attribute, StoredEntity } from './model.js';

const COMPACT_FROM = 1024;

/**
 * Entities in the order of their creation. Deleting costs nothing here: a dead entity is stepped over and
 * dropped when half of the list is dead, so that a purge from the front stays linear in all.
 */
export class EntityList<A = readonly Attribute[]> {
  #slots: StoredEntity<A>[] = [];
  #head = 0;
  #live = 0;

  /** How many live entities it holds. */
  get size(): number {
    return this.#live;
  }

  /** Adds an entity younger than all others here. */
  add(entity: StoredEntity<A>): void {
    this.#slots.push(entity);
    this.#live += 1;
  }

  /** To be told for each entity of this list that is no longer live. */
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
