import { NO_OWN_ATTRIBUTES } from '../ngsi-ld/members.js';
import { itemSpans } from '../shared/json/json-positions.js';
import { isObject, itemsOf, type JsonObject, type JsonValue, objectOf } from '../shared/json/json.js';
import { parseJson, writeJson } from '../shared/json/lossless-json.js';
import { digestOf } from './digest-table.js';
import { ArchiveUnreadableError } from './errors.js';

/**
 * The texts of the items of a JSON array, as they stand there, each on one line. Numbers stay as they were written, which
 * parsing would not keep.
 *
 * @param text valid JSON: it was parsed before
 */
export function textsOfItems(text: string): readonly string[] {
  return itemSpans(text).map(([start, end]) => onOneLine(text.slice(start, end)));
}

/** JSON has line ends only between its tokens. */
function onOneLine(text: string): string {
  return /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]+\s*/g, ' ') : text;
}

/** An entity, or some of its attributes, as a line of an archive has it. */
export type ArchivedEntity = JsonObject;

/** @throws ArchiveUnreadableError */
export function readLine(line: string): { readonly id: string; readonly entity: ArchivedEntity } {
  const entity = parsed(line);
  const id = isObject(entity) ? (entity['id'] ?? entity['@id']) : undefined;
  if (!isObject(entity) || typeof id !== 'string')
    throw new ArchiveUnreadableError('The archive has a line that is not an entity.');
  return { id, entity };
}

function parsed(line: string): unknown {
  try {
    return parseJson(line);
  } catch (cause) {
    throw new ArchiveUnreadableError('The archive has a line that is not JSON.', { cause });
  }
}

/** The key of an instance of an attribute: its instanceId in a history, or what it holds; else its dataset. */
export function instanceKey(instance: JsonValue, isTemporal: boolean): string {
  const { instanceId, datasetId, createdAt: _created, modifiedAt: _modified, ...rest } = membersOf(instance);
  if (isTemporal && typeof instanceId === 'string') return `i${instanceId}`;
  const dataset = typeof datasetId === 'string' ? datasetId : '@none';
  return isTemporal ? `x${dataset} ${String(digestOf(writeJson(rest)))}` : `d${dataset}`;
}

function membersOf(value: JsonValue): JsonObject {
  return isObject(value) ? value : { value };
}

/**
 * What two lines say of the same entity: an entity whose delete failed half, or that was purged again after a restart, has
 * several. All attributes and instances stay; of the same one, what the later line says.
 */
export function mergeLines(
  earlier: ArchivedEntity,
  later: ArchivedEntity,
  isTemporal: boolean,
): ArchivedEntity {
  const merged = new Map(Object.entries(earlier));
  for (const [name, value] of Object.entries(later)) {
    const before = merged.get(name);
    const isAttribute = before !== undefined && !NO_OWN_ATTRIBUTES.has(name);
    merged.set(name, isAttribute ? mergeInstances(before, value, isTemporal) : value);
  }
  return objectOf(merged);
}

function mergeInstances(earlier: JsonValue, later: JsonValue, isTemporal: boolean): JsonValue {
  const instances = new Map<string, JsonValue>();
  for (const instance of [...itemsOf(earlier), ...itemsOf(later)])
    instances.set(instanceKey(instance, isTemporal), instance);
  const all = [...instances.values()];
  const [only] = all;
  return all.length === 1 && only !== undefined && !Array.isArray(later) ? only : all;
}
