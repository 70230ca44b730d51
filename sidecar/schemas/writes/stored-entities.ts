import type { WrittenType } from './policy-choice.js';
import type { StoredTypes } from './protocol.js';

/** What is known of the entities that the broker has, while a write that may depend on them is judged. */
export class StoredEntities {
  readonly #types: ReadonlyMap<string, StoredTypes>;
  readonly #dependsOn = new Set<string>();
  readonly #missing = new Set<string>();
  readonly #retyped = new Set<string>();
  readonly #keepingType = new Set<string>();
  readonly #inBatch = new Map<string, readonly WrittenType[]>();

  constructor(entities: Iterable<readonly [id: string, types: StoredTypes]> = []) {
    this.#types = new Map(entities);
  }

  /** The types of an entity, on which the judgement then depends. If they are not known, they are missing. */
  typesOf(id: string): StoredTypes {
    this.#dependsOn.add(id);
    if (!this.#types.has(id)) this.#missing.add(id);
    return this.#types.get(id);
  }

  /** Whether it is known if the broker has an entity. */
  isKnown(id: string): boolean {
    return this.#types.has(id);
  }

  /** Whether the broker is known not to have an entity. */
  isAbsent(id: string): boolean {
    return this.#types.has(id) && this.#types.get(id) === undefined;
  }

  /** Whether an entity exists when the one in question comes to the broker. */
  exists(id: string): boolean {
    return this.typesOf(id) !== undefined || this.#inBatch.has(id);
  }

  /** The types that the entities of a batch judged so far state, by id: a later one of the same id comes to them. */
  typesInBatch(id: string): readonly WrittenType[] {
    return this.#inBatch.get(id) ?? [];
  }

  addToBatch(id: string, types: readonly WrittenType[]): void {
    // What one item of a batch leaves unchanged, another one may change.
    if (this.#inBatch.has(id)) this.#retyped.add(id);
    this.#inBatch.set(id, [...this.typesInBatch(id), ...types]);
  }

  /** Notes that the write changes the types of an entity. */
  noteRetyped(id: string): void {
    this.#retyped.add(id);
  }

  /** Notes that an item of the write, if its entity exists, leaves the types unchanged. */
  noteKept(id: string): void {
    this.#keepingType.add(id);
  }

  keepsType(id: string): boolean {
    return this.#keepingType.has(id) && !this.#retyped.has(id);
  }

  /** Ids of the entities whose types the write changes. */
  get retyped(): readonly string[] {
    return [...this.#retyped];
  }

  /** Ids of the entities on whose types the judgement depends. */
  get dependsOn(): readonly string[] {
    return [...this.#dependsOn];
  }

  /** Ids of the entities whose types must be supplied before the write can be judged. */
  get missing(): readonly string[] {
    return [...this.#missing];
  }
}
