const CORE = 'https://uri.etsi.org/ngsi-ld/';

/** Attributes that the broker itself writes; everything has them. */
const SYSTEM_ATTRIBUTES = ['createdAt', 'modifiedAt', 'deletedAt'];

/** Members that are not attributes (clause 5.2.4). */
const MEMBERS = ['scope', 'expiresAt'];

/**
 * The members of an entity that are not its own attributes, by term and by IRI. A filter on these alone does not restrict
 * a purge (clause 5.6.21.4), and they cannot be removed as attributes.
 */
export const NO_OWN_ATTRIBUTES: ReadonlySet<string> = new Set([
  ...['id', 'type', '@id', '@type', '@context'],
  ...[...SYSTEM_ATTRIBUTES, ...MEMBERS].flatMap((name) => [name, `${CORE}${name}`]),
]);

/** The names of an entity's own attributes, as the entity shows them. */
export function ownAttributesOf(entity: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(entity).filter((name) => !NO_OWN_ATTRIBUTES.has(name));
}
