import { DEFAULT_DATASET, NON_ATTRIBUTE_MEMBERS } from '../ngsi-ld/members.js';
import { itemSpans } from '../shared/json/json-positions.js';
import { isObject, itemsOf, type JsonObject, type JsonValue, objectOf } from '../shared/json/json.js';
import { parseToKeep } from '../shared/json/lossless-json.js';
import { digestOf } from './digest-table.js';
import { ArchiveUnreadableError } from './errors.js';

/**
 * Returns the text of each item of a JSON array, unchanged except that it is on one line. Numbers keep their spelling,
 * which would be lost by parsing.
 *
 * @param text valid JSON: the caller has already parsed it
 */
export function itemTexts(text: string): readonly string[] {
  return itemSpans(text).map(([start, end]) => onOneLine(text.slice(start, end)));
}

/** JSON has line ends only between tokens. */
function onOneLine(text: string): string {
  return /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]+\s*/g, ' ') : text;
}

/** An entity, or some of its attributes, as contained in a line of an archive. */
export type ArchivedEntity = JsonObject;

/** @throws ArchiveUnreadableError */
export function parseLine(line: string): { readonly id: string; readonly entity: ArchivedEntity } {
  const entity = parseLineJson(line);
  const id = isObject(entity) ? (entity['id'] ?? entity['@id']) : undefined;
  if (!isObject(entity) || typeof id !== 'string')
    throw new ArchiveUnreadableError('The archive has a line that is not an entity.');
  return { id, entity };
}

function parseLineJson(line: string): unknown {
  try {
    return parseToKeep(line);
  } catch (cause) {
    throw new ArchiveUnreadableError('The archive has a line that is not JSON.', { cause });
  }
}

/**
 * Returns the key of an attribute instance: in a history its instanceId, or else a digest of its content; otherwise its
 * dataset.
 */
export function instanceKey(instance: JsonValue, isTemporal: boolean): string {
  const {
    instanceId,
    datasetId,
    createdAt: _created,
    modifiedAt: _modified,
    ...rest
  } = membersOfInstance(instance);
  if (isTemporal && typeof instanceId === 'string') return `i${instanceId}`;
  const dataset = typeof datasetId === 'string' ? datasetId : DEFAULT_DATASET;
  return isTemporal ? `x${dataset} ${String(digestOf(JSON.stringify(rest)))}` : `d${dataset}`;
}

function membersOfInstance(value: JsonValue): JsonObject {
  return isObject(value) ? value : { value };
}

/**
 * Merges two lines of the same entity. An entity has several lines if its delete partly failed, or if it was purged
 * again after a restart. All attributes and instances are kept; the later version of the same one wins.
 */
export function mergeLines(
  earlier: ArchivedEntity,
  later: ArchivedEntity,
  isTemporal: boolean,
): ArchivedEntity {
  const merged = new Map(Object.entries(earlier));
  for (const [name, value] of Object.entries(later)) {
    const before = merged.get(name);
    const isAttribute = before !== undefined && !NON_ATTRIBUTE_MEMBERS.has(name);
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
