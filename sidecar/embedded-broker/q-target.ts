import type { QPath } from '../ngsi-ld/q.js';
import { MAIN_MEMBER } from './attribute-input.js';
import { isJsonObject, itemsOf, memberOf } from './model.js';
import type { Instance, Json, JsonObject, StoredEntity } from './model.js';
import { canonicalName } from './names.js';

/** A value that a path addresses. Relationships know equality only (clause 4.9). */
export interface Target {
  readonly value: Json;
  readonly isRelationship: boolean;
}

/** Makes the function that finds all values a path addresses in an entity: one for each instance on the way. */
export function targetFinder(path: QPath): (entity: StoredEntity) => readonly Target[] {
  const [first = '', ...rest] = path.names.map(canonicalName);
  if (first === 'createdAt' || first === 'modifiedAt') {
    // The entity's own system attributes have neither sub-attributes nor members.
    if (rest.length > 0 || path.valuePath.length > 0) return () => [];
    return (entity) => [{ value: new Date(entity[first]).toISOString(), isRelationship: false }];
  }
  return (entity) => {
    const attribute = entity.attributes.find(({ name }) => name === first);
    if (attribute === undefined) return [];
    return attribute.instances.flatMap((instance) => instanceTargets(instance, rest, path.valuePath));
  };
}

function instanceTargets(
  instance: Instance,
  rest: readonly string[],
  members: readonly string[],
): readonly Target[] {
  const [name] = rest;
  if (rest.length === 1 && (name === 'createdAt' || name === 'modifiedAt')) {
    return members.length > 0
      ? []
      : [{ value: new Date(instance[name]).toISOString(), isRelationship: false }];
  }
  let found: readonly Json[] = [instance.body];
  for (const step of rest) found = found.flatMap((value) => subAttributes(value, step));
  return found.flatMap((value) => valueTargets(value, members));
}

function subAttributes(value: Json, name: string): readonly Json[] {
  if (!isJsonObject(value) || name === 'type' || name === MAIN_MEMBER.get(memberOf(value, 'type'))) return [];
  const sub = memberOf(value, name);
  if (sub === undefined) return [];
  return itemsOf(sub);
}

function valueTargets(body: Json, members: readonly string[]): readonly Target[] {
  // A plain member such as observedAt or unitCode is its own value.
  if (!isJsonObject(body)) return members.length > 0 ? [] : [{ value: body, isRelationship: false }];
  const kind = memberOf(body, 'type');
  const value = memberOf(body, MAIN_MEMBER.get(kind) ?? 'value');
  if (value === undefined) return [];
  const isRelationship = kind === 'Relationship' || kind === 'ListRelationship';
  const values = kind === 'LanguageProperty' ? languageValues(value, members) : memberValues(value, members);
  return values.map((item) => ({ value: item, isRelationship }));
}

/** Without a language, or with `*`, the texts of all languages. */
function languageValues(languageMap: Json, members: readonly string[]): readonly Json[] {
  if (!isJsonObject(languageMap) || members.length > 1) return [];
  const [language = '*'] = members;
  return language === '*' ? Object.values(languageMap) : memberValues(languageMap, members);
}

function memberValues(value: Json, members: readonly string[]): readonly Json[] {
  let found: Json = value;
  for (const member of members) {
    const next: Json | undefined =
      typeof found === 'object' && found !== null ? memberOf(found as JsonObject, member) : undefined;
    if (next === undefined) return [];
    found = next;
  }
  return [found];
}
