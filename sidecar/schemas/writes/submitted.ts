import { kindOfType, KIND_BY_MEMBER, NON_ATTRIBUTE_MEMBERS } from '../../ngsi-ld/members.js';
import { isWrittenAlone } from '../../ngsi-ld/representation/value-checks.js';
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
import { doubtOfParts, findValueAlias, type ValueNames } from './attribute-parts.js';
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
  readonly valueNames: ReadonlyMap<string, string | undefined>;
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
  const seen = new Set<string>();
  const valueNames: ValueNames = new Map();
  const repeated: string[] = [];
  let types: readonly WrittenType[] | undefined;
  let doubt: string | undefined;
  for (const name of Object.keys(entity)) {
    if (name === '@context') continue;
    const value = entity[name] ?? null;
    const iri = names.iriOf(name);
    if (iri === undefined) return { ambiguity: `${shown(name)} means nothing in the @context` };
    doubt ??= names.doubtOf(name) ?? doubtOfParts(value, names, valueNames);
    if (iri.startsWith('@') && iri !== '@id' && iri !== '@type')
      return { ambiguity: `${shown(name)} is the keyword ${iri} of JSON-LD` };
    if (seen.has(iri)) {
      if (iri.startsWith('@'))
        return { ambiguity: `${shown(name)} stands for ${shown(iri)}, as another member does` };
      repeated.push(name);
      continue;
    }
    seen.add(iri);
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
  return {
    members,
    types: types ?? [],
    repeated,
    context: member(entity, '@context'),
    doubt,
    valueNames,
  };
}

/** Why brokers that expand values may store a member of one under another name than the model means. */
export function doubtOfValues(
  models: readonly WriteModel[],
  { valueNames }: SubmittedEntity,
): string | undefined {
  for (const [name, iri] of valueNames)
    for (const model of models)
      if (model.mayConfuse(name, iri))
        return `the @context of the write gives ${shown(name)} in a value another meaning than that of the model ${model.title}`;
  return undefined;
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
  return kindOfType(member(value, 'type')) !== undefined || names.every(isWrittenAlone);
}

function shown(text: string): string {
  return quoted(text, 200);
}
