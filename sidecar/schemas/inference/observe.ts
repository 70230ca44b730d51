import { isArray, isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { wrappedMemberOf } from '../../ngsi-ld/representation/form.js';
import {
  bitOf,
  emptyShape,
  type Format,
  formatOf,
  hasUriFormat,
  noObjects,
  type ObjectsShape,
  type Shape,
} from './shape.js';
import { typeOf } from '../json-schema/value-constraints.js';
import { geometryTypeOf, LANGUAGE_MAP, languagesOf } from './geojson.js';
import { INFERENCE_LIMITS } from './errors.js';

/**
 * What the strings at a place are known to be, regardless of their appearance: `reference`, the URI of an entity;
 * `name`, a word of a vocabulary, such as an entity type.
 */
export type Meaning = 'reference' | 'name' | undefined;

/** Adds what is observed in samples to shapes. Takes time and memory linear in the size of the samples. */
export class Observer {
  readonly #enumerates: boolean;

  /** @param enumerates whether to keep distinct strings, for enumerations; names are always kept */
  constructor(enumerates: boolean) {
    this.#enumerates = enumerates;
  }

  /** Adds a value to a shape. @param level the nesting depth of the value in its sample */
  observe(shape: Shape, value: JsonValue, level: number, meaning?: Meaning): void {
    shape.types |= bitOf(typeOf(value));
    if (typeof value === 'string') this.#observeString(shape, value, meaning);
    else if ((isArray(value) || isObject(value)) && level < INFERENCE_LIMITS.levels) {
      if (isArray(value)) this.#observeItems(shape, value, level, meaning);
      else this.#observeObject((shape.objects ??= noObjects()), value, level);
    }
  }

  #observeItems(shape: Shape, items: readonly JsonValue[], level: number, meaning: Meaning): void {
    if (items.length === 0) return;
    const shared = (shape.items ??= emptyShape());
    for (const item of items) this.observe(shared, item, level + 1, meaning);
  }

  #observeObject(objects: ObjectsShape, object: JsonObject, level: number): void {
    const geometry = geometryTypeOf(object);
    if (geometry !== undefined) {
      (objects.geometries ??= new Set()).add(geometry);
      return;
    }
    const wrapping = wrappedMemberOf(object);
    if (wrapping !== undefined) (objects.wrappings ??= new Set()).add(wrapping);
    const languages = wrapping === LANGUAGE_MAP ? languagesOf(object) : undefined;
    if (languages === undefined) {
      this.observeMembers(objects, object, level);
      return;
    }
    const shared = (objects.languages ??= emptyShape());
    for (const text of languages) this.observe(shared, text, level + 2);
  }

  /**
   * Adds an object that was not recognised as a well-known one.
   *
   * @param mostNames maximum number of distinct names to describe; beyond it, none is described
   * @param meaningOf returns what the strings of a member are known to be
   */
  observeMembers(
    objects: ObjectsShape,
    object: JsonObject,
    level: number,
    mostNames: number = INFERENCE_LIMITS.names,
    meaningOf?: (name: string) => Meaning,
  ): void {
    objects.others += 1;
    for (const name of Object.keys(object)) {
      if (objects.members === undefined) return;
      const value = object[name];
      if (value === undefined) continue;
      const shape = objects.members.get(name) ?? addMember(objects.members, name);
      shape.count += 1;
      if (objects.members.size > mostNames) objects.members = undefined;
      else this.observe(shape, value, level + 1, meaningOf?.(name));
    }
  }

  #observeString(shape: Shape, text: string, meaning: Meaning): void {
    const format = formatFor(text, meaning);
    if (shape.format === undefined) shape.format = format ?? null;
    else if (shape.format !== format) shape.format = null;

    if (shape.areEntityIds !== false) shape.areEntityIds = text.startsWith('urn:ngsi-ld:');
    if (shape.words === null) return;
    // A string with a format is not a word: when the format no longer applies to all strings, it would turn free text
    // into an enumeration.
    const isWord = meaning === 'name' || (this.#enumerates && meaning === undefined && format === undefined);
    shape.words =
      isWord && text.length <= INFERENCE_LIMITS.enumeratedLength ? withWord(shape.words, text) : null;
  }
}

function addMember(members: Map<string, Shape>, name: string): Shape {
  const added = emptyShape();
  members.set(name, added);
  return added;
}

function formatFor(text: string, meaning: Meaning): Format | undefined {
  switch (meaning) {
    case 'reference':
      return hasUriFormat(text) ? 'uri' : undefined;
    case 'name':
      return undefined;
    case undefined:
      return formatOf(text);
  }
}

function withWord(words: Set<string> | undefined, word: string): Set<string> | null {
  const all = words ?? new Set();
  all.add(word);
  return all.size > INFERENCE_LIMITS.enumeratedValues ? null : all;
}
