import type { WriteKind } from '../../ngsi-ld/write-route.js';
import type { JudgeOptions } from './judge-entity.js';
import type { JudgeInput } from './protocol.js';

/** Writes of parts of entities. */
export const FRAGMENTS: ReadonlySet<WriteKind> = new Set([
  ...(['merge', 'append', 'update', 'attribute', 'replace-attribute'] as const),
  ...(['batch-update', 'batch-merge', 'temporal-append', 'temporal-instance'] as const),
]);

export function isMerge(kind: WriteKind): boolean {
  return kind === 'merge' || kind === 'batch-merge';
}

/** How to judge the entities of a write. */
export function judgeOptionsOf({
  kind,
  isSimplified,
}: Pick<JudgeInput, 'kind' | 'isSimplified'>): JudgeOptions {
  return {
    isSimplified,
    isMerge: isMerge(kind),
    deletes:
      isMerge(kind) || kind === 'attribute'
        ? 'attributes and parts'
        : kind === 'update' || kind.startsWith('temporal-')
          ? 'attributes'
          : 'nothing',
    isPartial: isMerge(kind) || kind === 'update' || kind === 'attribute' || kind === 'batch-update',
    isTemporal: kind.startsWith('temporal-'),
  };
}

/** Whether the verdict on an entity may depend on the entity that its id, in the body, names at the broker. */
export function dependsOnStored({ kind, id, updates }: Pick<JudgeInput, 'kind' | 'id' | 'updates'>): boolean {
  if (id !== undefined) return false;
  return FRAGMENTS.has(kind) || kind === 'temporal-create' || (kind === 'batch-upsert' && updates !== 'no');
}
