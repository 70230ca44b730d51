import type { JsonValue } from '../../shared/json/json.js';
import type { ModelAttribute } from './attributes.js';
import type { Preferred } from './example-maker.js';

/** What an entity has beside what its schema asks for: an id, its type, and URIs where it refers to others. */
export function preferredFor(
  attributes: readonly Pick<ModelAttribute, 'name' | 'kind'>[],
  model: string,
  types: readonly string[],
): Preferred {
  const relationships = attributes.filter(({ kind }) => kind === 'Relationship');
  return new Map<string, readonly JsonValue[]>([
    ['id', [uriOf(model)]],
    ['type', types.flatMap((type) => [type, [type]])],
    ...relationships.map(({ name }) => [name, [uriOf(typeFor(name)), [uriOf(typeFor(name))]]] as const),
  ]);
}

function uriOf(type: string): string {
  return `urn:ngsi-ld:${type}:001`;
}

/** The type that the name of a relationship suggests: `refDevice` and `hasDevice` lead to a Device. */
function typeFor(name: string): string {
  const word = name.replace(/^(?:ref|has|is)(?=[A-Z])/, '').replaceAll(/[^A-Za-z0-9]/g, '');
  return word === '' ? 'Entity' : `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}
