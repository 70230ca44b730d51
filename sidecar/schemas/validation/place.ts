import { isArray, isObject, member, type JsonObject, type JsonValue } from '../../shared/json/json.js';

/**
 * A value in a document that is held against a schema, and the way that led to it. Values of one place are always the
 * same object where they hold others or have faults, so that what is known of them is found again.
 */
export class Place {
  readonly value: JsonValue;
  readonly #parent: Place | undefined;
  readonly #key: string | number;
  #inner: Map<string | number, Place> | undefined;
  #described: Set<JsonObject> | undefined;

  constructor(value: JsonValue, parent?: Place, key: string | number = '') {
    this.value = value;
    this.#parent = parent;
    this.#key = key;
  }

  get parent(): Place | undefined {
    return this.#parent;
  }

  /** The last token of the way. */
  get token(): string {
    return String(this.#key);
  }

  /** The way from the document: tokens of a JSON pointer. */
  get tokens(): readonly string[] {
    const tokens: string[] = [];
    for (let at = this as Place | undefined; at?.parent !== undefined; at = at.parent) tokens.push(at.token);
    return tokens.reverse();
  }

  /** How many steps the way has. */
  get depth(): number {
    let depth = 0;
    for (let at = this.#parent; at !== undefined; at = at.parent) depth += 1;
    return depth;
  }

  /** A member or an item. */
  child(key: string | number): Place {
    const known = this.#inner?.get(key);
    if (known !== undefined) return known;
    const place = new Place(this.#at(key), this, key);
    // Documents have many scalars, and few are spoken of: those are kept when they are.
    return isArray(place.value) || isObject(place.value) ? place.kept() : place;
  }

  /** The one that stands for this place from now on. */
  kept(): Place {
    if (this.#parent === undefined) return this;
    const around = this.#parent;
    around.#inner ??= new Map();
    const known = around.#inner.get(this.#key) ?? this;
    around.#inner.set(this.#key, known);
    return known;
  }

  /** Takes note that a schema speaks of these members. */
  describe(properties: JsonObject): void {
    this.#described ??= new Set();
    this.#described.add(properties);
  }

  /** The members that schemas speak of. */
  get describedNames(): readonly string[] {
    return [...new Set([...(this.#described ?? [])].flatMap((properties) => Object.keys(properties)))];
  }

  #at(key: string | number): JsonValue {
    if (typeof key === 'number') return isArray(this.value) ? (this.value[key] ?? null) : null;
    return isObject(this.value) ? (member(this.value, key) ?? null) : null;
  }
}
