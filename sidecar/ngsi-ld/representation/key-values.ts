import type { AttributeKind } from '../attribute-kinds.js';
import { isArray, type JsonObject, type JsonValue, member, objectOf } from '../../shared/json/json.js';
import { NO_OWN_ATTRIBUTES } from '../entity-members.js';
import { idMemberOf, isOfModel, typeMemberOf } from './entity-checks.js';
import type { Entries } from './form.js';
import { datasetsOf, instanceOf, instancesOf, type Instance, type Standing } from './instances.js';
import { keyValueAt, keyValuesPlaceOf, placeOf, tokensAt, type Place } from './place.js';

/** How an entity is turned into its key-values form. */
export interface Conversion {
  readonly isKeyValues: boolean;
  /** Whether every array of objects is meant as instances. */
  readonly isNormalized: boolean;
  readonly model: string | undefined;
  readonly unwraps: (attribute: string) => boolean;
}

/** An attribute with more than one instance. */
export interface Several {
  readonly name: string;
  /** The default one, or the first, is not among them. */
  readonly others: readonly Standing[];
}

/** An entity in key-values form (clause 4.5.4), and where its parts come from. */
export class KeyValues {
  readonly #entity: JsonObject;
  readonly #conversion: Conversion;
  readonly #entries: (readonly [string, JsonValue])[] = [];
  readonly several: readonly Several[];
  readonly kinds: ReadonlyMap<string, AttributeKind>;

  constructor(entity: JsonObject, entries: Entries, conversion: Conversion) {
    this.#entity = entity;
    this.#conversion = conversion;
    const several: Several[] = [];
    const kinds = new Map<string, AttributeKind>();
    for (const [name, value] of entries) {
      if (NO_OWN_ATTRIBUTES.has(name)) {
        this.#addMember(name, value);
        continue;
      }
      const standings = this.#standings(value);
      const submitted = standings[0]?.submitted ?? value;
      if (standings.length > 1) several.push({ name, others: standings.slice(1) });
      const instance = conversion.isKeyValues ? undefined : instanceOf(submitted);
      this.#entries.push([name, this.#convert(name, submitted, instance)]);
      if (instance !== undefined && instance.how !== 'foreign') kinds.set(name, instance.kind);
    }
    this.several = several;
    this.kinds = kinds;
  }

  /** How many members the key-values form has. */
  get size(): number {
    return this.#entries.length;
  }

  /** The whole form; with one attribute as another of its instances has it, when one is given. */
  toObject(attribute?: string, instance?: Standing): JsonObject {
    if (attribute === undefined || instance === undefined) return objectOf(this.#entries);
    const value = this.#convert(attribute, instance.submitted);
    return objectOf(this.#entries.map((entry) => (entry[0] === attribute ? [attribute, value] : entry)));
  }

  /** Where something in {@link toObject} stands in the entity as submitted; by its name when it is not there. */
  locate(tokens: readonly string[], attribute?: string, instance?: Standing): readonly string[] {
    const [name, ...below] = tokens;
    if (name === undefined) return [];
    if (name === 'id') return [idMemberOf(this.#entity), ...below];
    if (name === 'type') return [...this.#locateType(), ...below];
    const value = member(this.#entity, name);
    if (value === undefined || NO_OWN_ATTRIBUTES.has(name)) return tokens;
    const standing = name === attribute ? instance : this.#standings(value)[0];
    if (standing === undefined) return tokens;
    const place = this.#place(name, standing.submitted);
    return [name, ...standing.path, ...tokensAt(place, below, this.#conversion.isKeyValues)];
  }

  #addMember(name: string, value: JsonValue): void {
    const isId = name === idMemberOf(this.#entity);
    const isType = name === typeMemberOf(this.#entity);
    if (isId) this.#entries.push(['id', value]);
    else if (isType) this.#entries.push(['type', this.#typeFor(value)]);
    else if (!name.startsWith('@')) this.#entries.push([name, value]);
  }

  /** Schemas say the model's name, where entities may have further types or say it as an IRI. */
  #typeFor(type: JsonValue): JsonValue {
    const { model } = this.#conversion;
    return model !== undefined && isOfModel(type, model) ? model : type;
  }

  #locateType(): readonly string[] {
    const name = typeMemberOf(this.#entity);
    const type = member(this.#entity, name);
    const { model } = this.#conversion;
    const index =
      isArray(type) && model !== undefined ? type.findIndex((item) => isOfModel(item, model)) : -1;
    return index < 0 ? [name] : [name, String(index)];
  }

  #standings(value: JsonValue): readonly Standing[] {
    const { isKeyValues, isNormalized } = this.#conversion;
    return isKeyValues ? datasetsOf(value) : instancesOf(value, isNormalized);
  }

  #place(name: string, submitted: JsonValue, known?: Instance): Place {
    const unwraps = this.#conversion.unwraps(name);
    return this.#conversion.isKeyValues
      ? keyValuesPlaceOf(submitted, unwraps)
      : placeOf(known ?? instanceOf(submitted), unwraps);
  }

  #convert(name: string, submitted: JsonValue, known?: Instance): JsonValue {
    return keyValueAt(this.#place(name, submitted, known), this.#conversion.isKeyValues);
  }
}
