import { type ArchivedLine, digestOf, readLine, wholeEntity } from '../../archive/index.js';
import { ownAttributesOf } from '../../ngsi-ld/members.js';
import { isObject, type JsonValue } from '../../shared/json/json.js';
import { writeJson } from '../../shared/json/lossless-json.js';
import { keyOf } from '../ledger/index.js';

/**
 * What the lines of an archive stand for, as the process that wrote them knew it: keys of items, and digests of what they held.
 *
 * @param unit what the purge deletes
 */
export function archivedKeys(
  unit: 'entities' | 'attributes' | 'datasets' | 'instances',
): (id: string, line: string) => ArchivedLine['parts'] {
  return (id, line) => (unit === 'entities' ? wholeEntity(id, line).parts : partsOf(id, line, unit));
}

function partsOf(
  entityId: string,
  line: string,
  unit: 'attributes' | 'datasets' | 'instances',
): ArchivedLine['parts'] {
  const { entity } = readLine(line);
  const parts = new Map<string, number>();
  for (const attribute of ownAttributesOf(entity)) {
    const content = entity[attribute] ?? null;
    if (unit === 'attributes') parts.set(keyOf({ entityId, attribute }), digestOf(writeJson(content)));
    // Datasets are read anew before they are deleted: what they held does not help.
    else if (unit === 'datasets')
      for (const instance of listOf(content))
        parts.set(keyOf({ entityId, attribute, datasetId: textIn(instance, 'datasetId') ?? NO_DATASET }), 0);
    else
      for (const instance of listOf(content)) {
        const instanceId = textIn(instance, 'instanceId');
        if (instanceId === undefined) continue;
        parts.set(keyOf({ entityId, attribute, instanceId }), digestOf(writeJson(instance)));
      }
  }
  return parts;
}

/** Stands for the instances without a datasetId. */
const NO_DATASET = '@none';

function textIn(instance: JsonValue, member: 'instanceId' | 'datasetId'): string | undefined {
  const text = isObject(instance) ? instance[member] : undefined;
  return typeof text === 'string' ? text : undefined;
}

function listOf(content: JsonValue): readonly JsonValue[] {
  return Array.isArray(content) ? (content as readonly JsonValue[]) : [content];
}
