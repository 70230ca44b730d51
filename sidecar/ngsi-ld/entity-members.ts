const CORE = 'https://uri.etsi.org/ngsi-ld/';

/** Attributes that the broker itself writes; everything has them. */
const SYSTEM_ATTRIBUTES = ['createdAt', 'modifiedAt', 'deletedAt'];

/** Members that are no attributes (clause 5.2.4). */
const MEMBERS = ['scope', 'expiresAt'];

/**
 * What an entity holds besides its own attributes, by term and by IRI. A filter on nothing else does not restrict a
 * purge (clause 5.6.21.4), and none of it can be removed as an attribute.
 */
export const NO_OWN_ATTRIBUTES: ReadonlySet<string> = new Set([
  ...['id', 'type', '@id', '@type', '@context'],
  ...[...SYSTEM_ATTRIBUTES, ...MEMBERS].flatMap((name) => [name, `${CORE}${name}`]),
]);

/** The names of an entity's own attributes, as the entity shows them. */
export function ownAttributesOf(entity: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(entity).filter((name) => !NO_OWN_ATTRIBUTES.has(name));
}
