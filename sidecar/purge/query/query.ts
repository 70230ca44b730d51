import { NO_OWN_ATTRIBUTES } from '../../ngsi-ld/members.js';
import {
  namesOf,
  ENTITY_PARAMETERS,
  parseParameters,
  refusedData,
  SCAN_PARAMETERS,
  type PurgeParameters,
} from './parameters.js';
import { vetSelection, type PurgeQuery, type WholeTenant } from './selection.js';

/** Attributes to remove from each match instead of the entity (clause 5.6.21). */
export interface AttributeRemoval {
  readonly kind: 'drop' | 'keep';
  readonly names: readonly string[];
}

/** A vetted query of an entity purge. */
export interface EntityPurgeQuery extends PurgeQuery {
  readonly removal: AttributeRemoval | undefined;
}

/**
 * Parses and vets the query string of `DELETE /ngsi-ld/v1/entities` (clauses 5.6.21 and 6.4.3.3, extended by all
 * parameters that select in Query Entities, and by dryRun and maxAffected).
 *
 * @param query the query string without its question mark, or its parameters
 * @param wholeTenant what is done with a purge that may empty its tenant
 * @throws QueryRefusedError for anything unknown, ambiguous, unparsable or too wide
 * @throws PolicyRefusedError for a purge of a whole tenant where none is allowed
 */
export function parseEntityPurgeQuery(
  query: string | PurgeParameters,
  wholeTenant: WholeTenant = 'bounded',
): EntityPurgeQuery {
  const parameters = parseParameters(query, ENTITY_PARAMETERS);
  const vetted = vetSelection(parameters, { wholeTenant });
  return { ...vetted, removal: removalOf(parameters) };
}

/**
 * Parses and vets the query of a scan: what a purge of whole entities would match. It deletes nothing, so it may reach every
 * entity of a tenant.
 *
 * @throws QueryRefusedError
 */
export function parseScanQuery(query: string | PurgeParameters): EntityPurgeQuery {
  const parameters = parseParameters(query, SCAN_PARAMETERS);
  return { ...vetSelection(parameters, { wholeTenant: 'allow' }), removal: undefined };
}

function removalOf(parameters: ReadonlyMap<string, string>): AttributeRemoval | undefined {
  const drop = namesOf(parameters, 'drop');
  const keep = namesOf(parameters, 'keep');
  if (drop !== undefined && keep !== undefined) {
    throw refusedData(
      'keep',
      'drop and keep cannot be combined: name the attributes to remove, or those to keep.',
    );
  }
  const names = drop ?? keep;
  if (names === undefined) return undefined;
  const kind = drop === undefined ? 'keep' : 'drop';
  const attrs = namesOf(parameters, 'attrs');
  // With attrs, the broker shows no other attributes, so the others could not be found.
  if (attrs !== undefined && kind === 'keep')
    throw refusedData(
      kind,
      'keep goes without attrs: with it, the broker does not show the attributes to remove.',
    );
  if (attrs !== undefined && names.some((name) => !attrs.includes(name)))
    throw refusedData(kind, `With attrs, drop can name only attributes listed there: ${attrs.join(', ')}.`);
  for (const name of names) {
    if (NO_OWN_ATTRIBUTES.has(name)) {
      throw refusedData(kind, `${name} is not an attribute that can be removed or kept.`);
    }
  }
  return { kind, names };
}
