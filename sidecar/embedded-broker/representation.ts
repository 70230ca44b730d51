import { type JsonObject, type JsonValue, member } from '../shared/json/json.js';
import { MAIN_MEMBER } from './attribute-input.js';
import { datasetIdOf, type Instance, type StoredEntity } from './model.js';

/** Which members of an entity to show, and how (clauses 4.5.1, 4.5.4, 4.21). */
export interface Representation {
  readonly format: 'normalized' | 'simplified';
  readonly sysAttrs: boolean;
  /** Members to show: `id`, `type`, `scope` and attributes; undefined for all. */
  readonly pick: ReadonlySet<string> | undefined;
}

const MEMBERS_SHOWN_AS_OBJECT: ReadonlySet<string> = new Set([
  'languageMap',
  'vocab',
  'json',
  'valueList',
  'objectList',
]);

/** Returns an entity as JSON. */
export function represent(entity: StoredEntity, { format, sysAttrs, pick }: Representation): JsonObject {
  // A shortcut for the usual page of a purge, which asks for ids only.
  if (pick?.size === 1 && pick.has('id')) return { id: entity.id };

  const members = headMembers(entity, sysAttrs);
  for (const { name, instances } of entity.attributes) {
    if (pick !== undefined && !pick.has(name)) continue;
    members.push([name, format === 'simplified' ? simplified(instances) : normalized(instances, sysAttrs)]);
  }
  // Object.fromEntries defines members instead of setting them, so a name cannot reach a prototype.
  return Object.fromEntries(members.filter(([name]) => isPicked(pick, name)));
}

/** Returns the members of an entity that are not attributes. */
export function headMembers(entity: StoredEntity<unknown>, sysAttrs: boolean): [string, JsonValue][] {
  const members: [string, JsonValue][] = [['id', entity.id]];
  members.push(['type', single(entity.types)]);
  if (entity.scopes.length > 0) members.push(['scope', single(entity.scopes)]);
  if (sysAttrs) members.push(...Object.entries(times(entity)));
  return members;
}

/** Whether to show a member; system attributes are always shown. */
export function isPicked(pick: ReadonlySet<string> | undefined, member: string): boolean {
  return pick === undefined || pick.has(member) || member === 'createdAt' || member === 'modifiedAt';
}

function single(items: readonly string[]): JsonValue {
  return items.length === 1 ? (items[0] ?? null) : items;
}

/** Returns the system attributes of an entity or an instance. */
export function times(item: { readonly createdAt: number; readonly modifiedAt: number }): JsonObject {
  return {
    createdAt: new Date(item.createdAt).toISOString(),
    modifiedAt: new Date(item.modifiedAt).toISOString(),
  };
}

function normalized(instances: readonly Instance[], sysAttrs: boolean): JsonValue {
  const bodies = sysAttrs
    ? instances.map((instance) => ({ ...instance.body, ...times(instance) }))
    : instances.map((instance) => instance.body);
  return bodies.length === 1 ? (bodies[0] ?? null) : bodies;
}

function simplified(instances: readonly Instance[]): JsonValue {
  const [first] = instances;
  if (instances.length === 1 && first !== undefined) return simplifiedValue(first.body);
  const byDataset = instances.map(
    ({ body }) => [datasetIdOf(body) ?? '@none', simplifiedValue(body)] as const,
  );
  return { dataset: Object.fromEntries(byDataset) };
}

function simplifiedValue(body: JsonObject): JsonValue {
  const main = MAIN_MEMBER.get(member(body, 'type')) ?? 'value';
  const value = member(body, main) ?? null;
  return MEMBERS_SHOWN_AS_OBJECT.has(main) ? { [main]: value } : value;
}
