import { kindNamed, KIND_OF_MEMBER, NO_OWN_ATTRIBUTES } from '../../ngsi-ld/members.js';
import { isPlainMember } from '../../ngsi-ld/representation/value-checks.js';
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
} from '../../shared/json/json.js';
import type { Names } from '../json-ld/names.js';
import type { WrittenType } from './policy-choice.js';
import type { WriteModel } from './write-models.js';

/** Something of an entity that brokers may read in different ways: nothing is said of it. */
export interface Doubt {
  readonly doubt: string;
}

/** An entity with its members by what they mean; the name under which each was submitted stays with it. */
export interface Submitted {
  readonly members: readonly SubmittedMember[];
  readonly types: readonly WrittenType[];
}

export interface SubmittedMember {
  readonly name: string;
  /** An IRI, or a keyword. */
  readonly iri: string;
  readonly value: JsonValue;
}

const CORE = 'https://uri.etsi.org/ngsi-ld/';

/** Reads what the names of an entity mean. */
export function readSubmitted(entity: JsonObject, names: Names): Submitted | Doubt {
  const members: SubmittedMember[] = [];
  let types: readonly WrittenType[] | undefined;
  for (const name of Object.keys(entity)) {
    if (name === '@context') continue;
    const value = entity[name] ?? null;
    const iri = names.iriOf(name);
    if (iri === undefined) return { doubt: `${shown(name)} means nothing in the @context` };
    if (iri.startsWith('@') && iri !== '@id' && iri !== '@type')
      return { doubt: `${shown(name)} is the keyword ${iri} of JSON-LD` };
    if (members.some((one) => one.iri === iri))
      return { doubt: `${shown(name)} stands for ${shown(iri)}, as another member does` };
    members.push({ name, iri, value });
    if (iri !== '@type') continue;
    const written = (isArray(value) ? value : [value]).filter((one) => typeof one === 'string');
    const scoped = written.find((one) => names.isScoped(one));
    if (scoped !== undefined) return { doubt: `the @context says other things of the type ${shown(scoped)}` };
    types = written.map((one) => ({ written: one, iri: names.iriOf(one) }));
  }
  return { members, types: types ?? [] };
}

/** An entity as a model would write it, and the way back to the names that were submitted. */
export interface Renamed {
  readonly entity: JsonObject;
  /** Submitted names by those of the entity. */
  readonly submittedAs: ReadonlyMap<string, string>;
}

/** @param asType the type that it is held to have, where it does not say one of the model's */
export function renamedFor(model: WriteModel, { members, types }: Submitted, asType?: string): Renamed {
  const submittedAs = new Map<string, string>();
  const entries = members.map(({ name, iri, value }) => {
    const meant = nameIn(model, name, iri);
    submittedAs.set(meant, name);
    return [meant, meant === 'type' ? typeIn(model, types, value) : value] as const;
  });
  const typed =
    submittedAs.has('type') || asType === undefined ? entries : [...entries, ['type', asType] as const];
  return { entity: objectOf(typed), submittedAs };
}

function nameIn(model: WriteModel, name: string, iri: string): string {
  if (iri === '@id') return 'id';
  if (iri === '@type') return 'type';
  if (NO_OWN_ATTRIBUTES.has(iri)) return iri.slice(CORE.length);
  // What is called as an attribute of the model and means something else must not be taken for it.
  return model.attributes.get(iri) ?? (model.whole.attributes.has(name) ? iri : name);
}

function typeIn(model: WriteModel, types: readonly WrittenType[], value: JsonValue): JsonValue {
  const named = types.map(({ written, iri }) => model.types.get(iri ?? '') ?? iri ?? written);
  if (!isArray(value)) return named[0] ?? value;
  return named.length === value.length ? named : value;
}

/** What stands for the end of an attribute, or of a member of its value (clause 5.2.4, NGSI-LD Null). */
const NULL = 'urn:ngsi-ld:null';

/** Whether an attribute is written down to delete it; of one dataset alone, it is not. */
export function isDeleted(value: JsonValue): boolean {
  if (isArray(value)) return value.some((one) => isObject(one) && isDeleted(one));
  if (!isObject(value)) return isNull(value);
  if (Object.hasOwn(value, 'datasetId') && member(value, 'datasetId') !== '@none') return false;
  for (const name of KIND_OF_MEMBER.keys()) {
    const held = Object.hasOwn(value, name) ? (value[name] ?? null) : undefined;
    if (held === undefined) continue;
    if (isNull(held)) return true;
    if (name === 'languageMap' && isObject(held) && Object.values(held).some(isNull)) return true;
  }
  return false;
}

function isNull(value: JsonValue): boolean {
  return value === NULL || value === null;
}

/** Whether an attribute is written without its value, which stays as it is. */
export function isWithoutValue(value: JsonValue): boolean {
  if (!isObject(value) || [...KIND_OF_MEMBER.keys()].some((name) => Object.hasOwn(value, name))) return false;
  const names = Object.keys(value);
  if (names.length === 0) return false;
  return kindNamed(member(value, 'type')) !== undefined || names.every(isPlainMember);
}

function shown(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
