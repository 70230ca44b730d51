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
  return (id, line) =>
    unit === 'entities' ? wholeEntity(id, line).parts : partsOf(id, line, unit === 'attributes');
}

function partsOf(entityId: string, line: string, areWhole: boolean): ArchivedLine['parts'] {
  const { entity } = readLine(line);
  const parts = new Map<string, number>();
  for (const attribute of ownAttributesOf(entity)) {
    const content = entity[attribute] ?? null;
    if (areWhole) parts.set(keyOf({ entityId, attribute }), digestOf(writeJson(content)));
    else
      for (const instance of listOf(content)) {
        const instanceId = isObject(instance) ? instance['instanceId'] : undefined;
        if (typeof instanceId !== 'string') continue;
        parts.set(keyOf({ entityId, attribute, instanceId }), digestOf(writeJson(instance)));
      }
  }
  return parts;
}

function listOf(content: JsonValue): readonly JsonValue[] {
  return Array.isArray(content) ? (content as readonly JsonValue[]) : [content];
}
