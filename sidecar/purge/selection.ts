import { parseGeoQuery } from '../ngsi-ld/geo-query.js';
import { attributePathsOf, hasLinkedEntityPath, parseQ } from '../ngsi-ld/q.js';
import { NO_OWN_ATTRIBUTES } from '../ngsi-ld/entity-members.js';
import { NgsiLdSyntaxError } from '../ngsi-ld/syntax-error.js';
import { parseTypeSelector } from '../ngsi-ld/type-selector.js';
import { QueryRefusedError } from './errors.js';
import { matchesAnyId } from './id-guard.js';
import { SELECTION_PARAMETERS, type Parameter } from './parameters.js';

/** What every purge query says, of whatever kind. */
export interface PurgeQuery {
  /** Goes to the broker's GET as it is. */
  readonly selection: readonly Parameter[];
  /** The ids that the query names, to check the broker's answers against. */
  readonly ids: readonly string[] | undefined;
  readonly idPattern: string | undefined;
  readonly dryRun: boolean;
  /** Most items that may be affected; undefined for no bound. */
  readonly maxAffected: number | undefined;
}

/**
 * Vets the parameters that select, dryRun and maxAffected.
 *
 * @param narrowsFurther the query has another filter than those vetted here
 * @throws QueryRefusedError for anything unparsable, contradictory or too wide
 */
export function vetSelection(parameters: ReadonlyMap<string, string>, narrowsFurther = false): PurgeQuery {
  const dryRun = booleanOf(parameters, 'dryRun') ?? false;
  const maxAffected = maxAffectedOf(parameters.get('maxAffected'));
  const local = booleanOf(parameters, 'local');
  const ids = idsOf(parameters.get('id'));
  const restrictions = restrictionsOf(parameters);
  checkOutputLists(parameters);

  const anyType = parameters.get('type') === '*';
  if (anyType && local === false) {
    throw refusedData('type', 'type=* is always local, so local=false contradicts it.');
  }
  const isLocal = local === true || anyType;
  if (!restrictions.qualifies && !isLocal) throw tooWide(parameters);
  if (!restrictions.narrows && !narrowsFurther && !dryRun && maxAffected === undefined) {
    throw new QueryRefusedError(
      'invalidRequest',
      'This query reaches every entity of the tenant: say with maxAffected how many that may be (dryRun=true counts them), or add a filter.',
      'maxAffected',
    );
  }
  return {
    selection: selectionOf(parameters, anyType && local === undefined),
    ids,
    idPattern: parameters.get('idPattern'),
    dryRun,
    maxAffected,
  };
}

function selectionOf(parameters: ReadonlyMap<string, string>, addLocal: boolean): readonly Parameter[] {
  const selection: Parameter[] = [];
  for (const [name, value] of parameters) {
    if (SELECTION_PARAMETERS.has(name)) selection.push({ name, value });
  }
  // A purge of any type is local even if nobody says so (clause 5.6.21); a query of any type need not be.
  if (addLocal) selection.push({ name: 'local', value: 'true' });
  return selection;
}

/** Checks every filter, and tells whether they restrict the purge as the standard demands, and whether at all. */
function restrictionsOf(parameters: ReadonlyMap<string, string>): { qualifies: boolean; narrows: boolean } {
  const type = parameters.get('type');
  if (type !== undefined) parsed(() => parseTypeSelector(type));
  const attrs = listOf(parameters, 'attrs');
  const byAttrs = attrs?.some((name) => !NO_OWN_ATTRIBUTES.has(name)) === true;
  const byQ = usesOwnAttribute(parameters.get('q'));
  const byGeo = checkGeoQuery(parameters);
  const byType = type !== undefined && type !== '*';
  const idPattern = parameters.get('idPattern');
  const byPattern = idPattern !== undefined && !matchesAnyId(idPattern);
  const narrowing = byPattern || ['id', 'scopeQ', 'q'].some((name) => parameters.has(name));
  return {
    qualifies: type !== undefined || byAttrs || byQ || byGeo,
    // Every entity has the broker's own attributes, but a time that q compares them with does narrow.
    narrows: byType || byAttrs || byGeo || narrowing,
  };
}

/** True when `q` uses an attribute that is not the broker's own. */
function usesOwnAttribute(q: string | undefined): boolean {
  if (q === undefined) return false;
  const query = parsed(() => parseQ(q));
  if (hasLinkedEntityPath(query)) {
    throw refusedData(
      'q',
      'A purge cannot follow Relationships to linked entities: leave the {…} path out of q.',
    );
  }
  return attributePathsOf(query).some((path) => !NO_OWN_ATTRIBUTES.has(path.names[0] ?? ''));
}

function checkGeoQuery(parameters: ReadonlyMap<string, string>): boolean {
  const georel = parameters.get('georel');
  const geometry = parameters.get('geometry');
  const coordinates = parameters.get('coordinates');
  if (georel === undefined && geometry === undefined && coordinates === undefined) {
    if (parameters.has('geoproperty')) {
      throw refusedData('geoproperty', 'geoproperty has no effect without georel, geometry and coordinates.');
    }
    return false;
  }
  if (georel === undefined || geometry === undefined || coordinates === undefined) {
    const missing = ['georel', 'geometry', 'coordinates'].filter((name) => !parameters.has(name));
    throw refusedData(missing[0] ?? 'georel', `A geoquery needs ${missing.join(' and ')} as well.`);
  }
  parsed(() => parseGeoQuery({ georel, geometry, coordinates }));
  return true;
}

function idsOf(value: string | undefined): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const ids = value.split(',');
  for (const id of ids) {
    if (!/^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i.test(id)) {
      throw refusedData('id', `"${id.slice(0, 200)}" is not a URI, so it is not the id of an entity.`);
    }
  }
  return ids;
}

function checkOutputLists(parameters: ReadonlyMap<string, string>): void {
  listOf(parameters, 'expandValues');
  listOf(parameters, 'jsonKeys');
}

/** The items of a comma list of names, undefined when the parameter is missing. @throws QueryRefusedError */
export function listOf(parameters: ReadonlyMap<string, string>, name: string): readonly string[] | undefined {
  const value = parameters.get(name);
  if (value === undefined) return undefined;
  const names = value.split(',');
  if (names.some((item) => item === '' || /\s/.test(item))) {
    throw refusedData(name, `${name} is a comma list of names without blanks or empty items.`);
  }
  return names;
}

function booleanOf(parameters: ReadonlyMap<string, string>, name: string): boolean | undefined {
  const value = parameters.get(name);
  if (value === undefined) return undefined;
  if (value !== 'true' && value !== 'false') {
    throw new QueryRefusedError('invalidRequest', `${name} is either true or false.`, name);
  }
  return value === 'true';
}

function maxAffectedOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,14}$/.test(value)) {
    throw new QueryRefusedError('invalidRequest', 'maxAffected is a whole number, 1 or more.', 'maxAffected');
  }
  return Number(value);
}

function parsed<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof NgsiLdSyntaxError)) throw error;
    throw new QueryRefusedError('badRequestData', error.message, error.parameter, { cause: error });
  }
}

function tooWide(parameters: ReadonlyMap<string, string>): QueryRefusedError {
  const filters = [...parameters.keys()].filter((name) => SELECTION_PARAMETERS.has(name));
  const given = filters.length === 0 ? 'The query has no filter' : `${filters.join(', ')} alone is too wide`;
  return refusedData(
    undefined,
    `${given}: NGSI-LD demands type, attrs, q, a geoquery or local=true for a purge, attrs and q with an attribute other than createdAt and modifiedAt. Add one of them, e.g. type=Vehicle.`,
  );
}

/** The refusal of a parameter's content. */
export function refusedData(parameter: string | undefined, message: string): QueryRefusedError {
  return new QueryRefusedError('badRequestData', message, parameter);
}
