import { ownAttributesOf } from '../../ngsi-ld/entity-members.js';
import type { PurgeContext } from '../context.js';
import { QueryRefusedError } from '../errors.js';
import type { AttributeRemoval } from '../query/query.js';

type Entity = Readonly<Record<string, unknown>>;

/** The attributes of an entity that a removal reaches. */
export function attributesToRemove(entity: Entity, removal: AttributeRemoval): readonly string[] {
  const named = new Set(removal.names);
  return ownAttributesOf(entity).filter((name) => named.has(name) === (removal.kind === 'drop'));
}

/**
 * Checks that the broker shows each attribute under the very name that the removal uses. A term and its IRI, or two
 * terms of one IRI, name the same attribute: `keep` by one name would remove what the broker shows under the other.
 *
 * @throws QueryRefusedError naming the attribute and how the broker shows it
 */
export async function checkNames(context: PurgeContext, removal: AttributeRemoval): Promise<void> {
  const { lister, selection: whole } = context;
  const others = whole.filter(({ name }) => name !== 'attrs');
  for (const name of removal.names) {
    const selection = [...others, { name: 'attrs', value: name }];
    const { entities } = await lister.page({ selection, limit: 1 });
    for (const entity of entities) {
      const shown = ownAttributesOf(entity);
      if (shown.length === 0 || shown.includes(name)) continue;
      const detail = `The broker shows the attribute ${name} as ${shown.slice(0, 3).join(', ')}: name it so, or send the @context in which it is ${name}.`;
      throw new QueryRefusedError('badRequestData', detail, removal.kind);
    }
  }
}
