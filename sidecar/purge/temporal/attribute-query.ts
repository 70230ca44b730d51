import type { Parameter } from '../query/parameters.js';
import type { AttributeInstance } from './instances.js';

/** The instances shown of one attribute of one entity; the broker may have left some out. */
export interface TruncatedList {
  readonly entityId: string;
  readonly attribute: string;
  readonly instances: readonly AttributeInstance[];
}

/** Parameters that are replaced, or that select the entity. */
const REPLACED_PARAMETERS: ReadonlySet<string> = new Set([
  ...['id', 'idPattern', 'scopeQ', 'attrs', 'timerel', 'timeAt', 'endTimeAt', 'timeproperty'],
]);

/** Filters by value. */
export const VALUE_FILTERS: ReadonlySet<string> = new Set([
  ...[
    'q',
    'georel',
    'geometry',
    'coordinates',
    'geoproperty',
    'geometryProperty',
    'expandValues',
    'jsonKeys',
  ],
]);

/**
 * The query for one attribute of one entity, without its time filter.
 *
 * @param keepsValues keep filters by value; otherwise the query may show instances that they exclude
 */
export function attributeQuery(
  selection: readonly Parameter[],
  { entityId, attribute }: Pick<TruncatedList, 'entityId' | 'attribute'>,
  { keepsValues }: { readonly keepsValues: boolean },
): readonly Parameter[] {
  return [
    ...selection.filter(
      ({ name }) => !REPLACED_PARAMETERS.has(name) && (keepsValues || !VALUE_FILTERS.has(name)),
    ),
    { name: 'id', value: entityId },
    { name: 'attrs', value: attribute },
  ];
}
