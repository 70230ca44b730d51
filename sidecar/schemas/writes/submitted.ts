import { kindOfType, KIND_BY_MEMBER, NON_ATTRIBUTE_MEMBERS } from '../../ngsi-ld/members.js';
import { isMetadataMember } from '../../ngsi-ld/representation/value-checks.js';
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
} from '../../shared/json/json.js';
import { quoted } from '../../shared/format-value.js';
import type { Names } from '../json-ld/names.js';
import type { WrittenType } from './policy-choice.js';
import type { WriteModel } from './write-models.js';

/** Something in an entity that brokers may read in different ways, so that the entity is not judged. */
export interface Ambiguity {
  readonly ambiguity: string;
}

/** An entity with the meanings of its members, which also keep the names under which they were submitted. */
export interface SubmittedEntity {
  readonly members: readonly SubmittedMember[];
  readonly types: readonly WrittenType[];
  /** Names of attributes that mean the same as an earlier attribute. */
  readonly repeated: readonly string[];
  /** Its own `@context`. */
  readonly context: JsonValue | undefined;
  /** Why some brokers may read its names in another way. */
  readonly doubt: string | undefined;
}

interface SubmittedMember {
  readonly name: string;
  /** An IRI or a keyword. */
  readonly iri: string;
  readonly value: JsonValue;
  /** A member of the attribute that some brokers use as its value, although it has another name. */
  readonly valueAlias?: string;
}

const CORE = 'https://uri.etsi.org/ngsi-ld/';

/** Reads an entity, and determines what its names mean. */
export function readSubmitted(entity: JsonObject, names: Names): SubmittedEntity | Ambiguity {
  const members: SubmittedMember[] = [];
  const repeated: string[] = [];
  let types: readonly WrittenType[] | undefined;
  let doubt: string | undefined;
  for (const name of Object.keys(entity)) {
    if (name === '@context') continue;
    const value = entity[name] ?? null;
    const iri = names.iriOf(name);
    if (iri === undefined) return { ambiguity: `${shown(name)} means nothing in the @context` };
    doubt ??= names.doubtOf(name) ?? doubtOfParts(value, names);
    if (iri.startsWith('@') && iri !== '@id' && iri !== '@type')
      return { ambiguity: `${shown(name)} is the keyword ${iri} of JSON-LD` };
    if (members.some((one) => one.iri === iri)) {
      if (iri.startsWith('@'))
        return { ambiguity: `${shown(name)} stands for ${shown(iri)}, as another member does` };
      repeated.push(name);
      continue;
    }
    if (names.isScoped(name))
      return { ambiguity: `the @context has other definitions within ${shown(name)}` };
    const valueAlias = iri.startsWith('@') ? undefined : findValueAlias(value, names);
    members.push({ name, iri, value, ...(valueAlias === undefined ? {} : { valueAlias }) });
    if (iri !== '@type') continue;
    const written = (isArray(value) ? value : [value]).filter((one) => typeof one === 'string');
    const scoped = written.find((one) => names.isScoped(one));
    if (scoped !== undefined)
      return { ambiguity: `the @context has other definitions for the type ${shown(scoped)}` };
    for (const one of written) doubt ??= names.doubtOf(one);
    types = written.map((one) => ({ written: one, iri: names.iriOf(one) }));
  }
  return { members, types: types ?? [], repeated, context: member(entity, '@context'), doubt };
}

/** The names under which brokers that expand names find values, such as hasValue and hasObject. */
const VALUE_IRI = /^https:\/\/uri\.etsi\.org\/ngsi-ld\/has[A-Z]/;

/** The first member of an attribute, or of one of its instances, that is its value under another name. */
function findValueAlias(value: JsonValue, names: Names): string | undefined {
  if (isArray(value)) {
    for (const item of value) {
      const found = isObject(item) ? findValueAlias(item, names) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isObject(value)) return undefined;
  return Object.keys(value).find((name) => {
    if (name.startsWith('@')) return name !== '@type' && name !== '@id' && isAttribute(value);
    if (name === 'type' || KIND_BY_MEMBER.has(name) || isMetadataMember(name)) return false;
    return VALUE_IRI.test(names.iriOf(name) ?? '');
  });
}

/** Why some brokers may read a member of an attribute in another way, perhaps as its value. */
function doubtOfParts(value: JsonValue, names: Names): string | undefined {
  for (const one of isArray(value) ? value : [value]) {
    if (!isObject(one) || !isAttribute(one)) continue;
    for (const name of Object.keys(one)) {
      const doubt = names.doubtOf(name);
      if (doubt !== undefined) return doubt;
    }
  }
  return undefined;
}

function isAttribute(object: JsonObject): boolean {
  return (
    kindOfType(member(object, 'type')) !== undefined ||
    [...KIND_BY_MEMBER.keys()].some((name) => Object.hasOwn(object, name))
  );
}

/** An entity with the names that a model uses, and a map back to the submitted names. */
export interface RenamedEntity {
  readonly entity: JsonObject;
  /** The submitted names, by the names in `entity`. */
  readonly submittedAs: ReadonlyMap<string, string>;
}

/** Renames the members of an entity for a model. @param asType the type to assume if the entity states none */
export function renameForModel(
  model: WriteModel,
  { members, types }: SubmittedEntity,
  asType?: string,
): RenamedEntity {
  const submittedAs = new Map<string, string>();
  const entries = members.map(({ name, iri, value }) => {
    const meant = modelNameOf(model, name, iri);
    submittedAs.set(meant, name);
    return [meant, meant === 'type' ? modelTypeOf(model, types, value) : value] as const;
  });
  const typed =
    submittedAs.has('type') || asType === undefined ? entries : [...entries, ['type', asType] as const];
  return { entity: objectOf(typed), submittedAs };
}

function modelNameOf(model: WriteModel, name: string, iri: string): string {
  if (iri === '@id') return 'id';
  if (iri === '@type') return 'type';
  if (NON_ATTRIBUTE_MEMBERS.has(iri)) return iri.slice(CORE.length);
  // An attribute must not be confused with one of the model that has the same name but another meaning.
  return model.attributes.get(iri) ?? (model.whole.attributes.has(name) ? iri : name);
}

function modelTypeOf(model: WriteModel, types: readonly WrittenType[], value: JsonValue): JsonValue {
  const named = types.map(({ written, iri }) => model.types.get(iri ?? '') ?? iri ?? written);
  if (!isArray(value)) return named[0] ?? value;
  return named.length === value.length ? named : value;
}

/** Whether an attribute is written without its value, which then stays unchanged. */
export function isWithoutValue(value: JsonValue): boolean {
  if (!isObject(value) || [...KIND_BY_MEMBER.keys()].some((name) => Object.hasOwn(value, name))) return false;
  const names = Object.keys(value);
  if (names.length === 0) return false;
  return kindOfType(member(value, 'type')) !== undefined || names.every(isMetadataMember);
}

function shown(text: string): string {
  return quoted(text, 200);
}
