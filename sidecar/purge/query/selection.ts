import { parseGeoQuery } from '../../ngsi-ld/geo-query.js';
import { NON_ATTRIBUTE_MEMBERS } from '../../ngsi-ld/members.js';
import { isUri } from '../../ngsi-ld/names.js';
import { compilePattern, PatternTooLargeError, type Pattern } from '../../ngsi-ld/pattern.js';
import { conditionsOf, requiresAttribute, hasLinkedEntityPath, parseQ, type QNode } from '../../ngsi-ld/q.js';
import { namesScopes, parseScopeQuery } from '../../ngsi-ld/scope-query.js';
import { NgsiLdSyntaxError } from '../../ngsi-ld/syntax-error.js';
import { parseTypeSelector, typeNamesOf } from '../../ngsi-ld/type-selector.js';
import { QueryRefusedError, PolicyRefusedError } from '../errors.js';
import {
  checkName,
  EXTENSIONS,
  namesOf,
  refusedData,
  SELECTION_PARAMETERS,
  type Parameter,
} from './parameters.js';
import { checkTimeConditions } from './time-conditions.js';
import { MAX_COUNT, purgeOption, type OptionValues } from '../../shared/purge-options.js';

export interface VettingOptions {
  /** How to treat a purge that may empty its tenant. */
  readonly wholeTenant: WholeTenant;
  /** Whether the query has a filter besides those vetted here. */
  readonly narrowsFurther?: boolean;
}

/** What the queries of all kinds of purges have in common. */
export interface PurgeQuery extends QueryOptions {
  /** The parameters that go to the broker's GET as they are. */
  readonly selection: readonly Parameter[];
  /** The ids that the query names, to check the broker's answers against. */
  readonly ids: readonly string[] | undefined;
  /** The idPattern, to check the broker's answers against as well; undefined also for a pattern that RE2 cannot compile. */
  readonly idPattern: Pattern | undefined;
}

/**
 * Vets the parameters that select, and the options.
 *
 * @throws QueryRefusedError for anything unparsable, contradictory or too wide
 * @throws PolicyRefusedError for a purge that may empty its tenant, if the policy refuses those
 */
export function vetSelection(
  parameters: ReadonlyMap<string, string>,
  { wholeTenant, narrowsFurther = false }: VettingOptions,
): PurgeQuery {
  const options = queryOptions(parameters);
  const local = booleanOf(parameters, 'local');
  const ids = idsOf(parameters.get('id'));
  const { idPattern, ...restrictions } = parsed(() => restrictionsOf(parameters));
  namesOf(parameters, 'expandValues');
  namesOf(parameters, 'jsonKeys');

  const anyType = parameters.get('type') === '*';
  if (anyType && local === false) {
    throw refusedData('type', 'type=* is always local, so local=false contradicts it.');
  }
  const isLocal = local === true || anyType;
  if (!restrictions.qualifies && !isLocal) throw tooWide(parameters);
  if (!restrictions.narrows && !narrowsFurther) checkWholeTenant(options, wholeTenant);
  return {
    selection: selectionOf(parameters, anyType && local === undefined),
    ids,
    idPattern,
    ...options,
  };
}

function selectionOf(parameters: ReadonlyMap<string, string>, addLocal: boolean): readonly Parameter[] {
  const selection: Parameter[] = [];
  for (const [name, value] of parameters) {
    if (SELECTION_PARAMETERS.has(name)) selection.push({ name, value });
  }
  // A purge with type=* is always local (clause 5.6.21), but a query with it is not.
  if (addLocal) selection.push({ name: 'local', value: 'true' });
  return selection;
}

/** Checks every filter. `qualifies`: they restrict the purge as the standard requires. `narrows`: they restrict it at all. */
function restrictionsOf(
  parameters: ReadonlyMap<string, string>,
): Pick<PurgeQuery, 'idPattern'> & { readonly qualifies: boolean; readonly narrows: boolean } {
  const pattern = parameters.get('idPattern');
  const idPattern = pattern === undefined ? undefined : compilePattern('idPattern', pattern);
  const type = parameters.get('type');
  for (const name of type === undefined ? [] : typeNamesOf(parseTypeSelector(type)))
    checkName(name, 'type', 'the name of an entity type such as Vehicle');
  const attrs = namesOf(parameters, 'attrs') ?? [];
  const ownAttrs = attrs.filter((name) => !NON_ATTRIBUTE_MEMBERS.has(name));
  const q = queryOf(parameters, 'q');
  if (q !== undefined) checkTimeConditions(q);
  queryOf(parameters, 'csf');
  const byGeo = checkGeoQuery(parameters);
  const scopeQ = parameters.get('scopeQ');
  const byScope = scopeQ !== undefined && namesScopes(parseScopeQuery(scopeQ));
  // A pattern that matches the empty text excludes no id.
  const byId = parameters.has('id') || (pattern !== undefined && idPattern?.test('') !== true);
  return {
    idPattern,
    qualifies: type !== undefined || ownAttrs.length > 0 || (q !== undefined && usesOwnAttribute(q)) || byGeo,
    narrows:
      (type !== undefined && type !== '*') ||
      // One of the attributes is enough for an entity to match, and every entity has system attributes.
      (ownAttrs.length > 0 && ownAttrs.length === attrs.length) ||
      (q !== undefined && requiresAttribute(q)) ||
      byGeo ||
      byScope ||
      byId,
  };
}

/** Parses q or csf; undefined if it is missing. */
function queryOf(parameters: ReadonlyMap<string, string>, parameter: 'q' | 'csf'): QNode | undefined {
  const text = parameters.get(parameter);
  if (text === undefined) return undefined;
  const query = parseQ(text, parameter);
  if (hasLinkedEntityPath(query)) {
    throw refusedData(
      parameter,
      `A purge cannot follow Relationships to linked entities: remove the {…} path from ${parameter}.`,
    );
  }
  return query;
}

function usesOwnAttribute(query: QNode): boolean {
  return conditionsOf(query).some(({ path }) => !NON_ATTRIBUTE_MEMBERS.has(path.names[0] ?? ''));
}

/** Parameters that must be given together. */
const GEOQUERY = ['georel', 'geometry', 'coordinates'] as const;

function checkGeoQuery(parameters: ReadonlyMap<string, string>): boolean {
  for (const parameter of ['geoproperty', 'geometryProperty']) {
    const name = parameters.get(parameter);
    if (name !== undefined) checkName(name, parameter, 'the name of a GeoProperty such as location');
  }
  const missing = GEOQUERY.filter((name) => !parameters.has(name));
  if (missing.length === GEOQUERY.length) {
    if (parameters.has('geoproperty')) {
      throw refusedData('geoproperty', 'geoproperty has no effect without georel, geometry and coordinates.');
    }
    return false;
  }
  const [first] = missing;
  if (first !== undefined) throw refusedData(first, `A geoquery needs ${missing.join(' and ')} as well.`);
  parseGeoQuery({
    georel: parameters.get('georel'),
    geometry: parameters.get('geometry'),
    coordinates: parameters.get('coordinates'),
  });
  return true;
}

function idsOf(value: string | undefined): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const ids = value.split(',');
  for (const id of ids) {
    if (!isUri(id)) {
      throw refusedData('id', `id must be a URI: "${id.slice(0, 200)}" is not.`);
    }
  }
  return ids;
}

/** Runs a parser of one of the standard's languages. @throws QueryRefusedError for a mistake in the text */
export function parsed<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof NgsiLdSyntaxError || error instanceof PatternTooLargeError)) throw error;
    throw new QueryRefusedError('badRequestData', error.message, error.parameter, { cause: error });
  }
}

function tooWide(parameters: ReadonlyMap<string, string>): QueryRefusedError {
  const filters = [...parameters.keys()].filter((name) => SELECTION_PARAMETERS.has(name));
  const given = filters.length === 0 ? 'The query has no filter' : `${filters.join(', ')} alone is too wide`;
  return refusedData(
    undefined,
    `${given}. NGSI-LD requires type, attrs, q, a geoquery or local=true for a purge; attrs and q ` +
      'need an attribute other than createdAt and modifiedAt. Add one of them, such as type=Vehicle.',
  );
}

/**
 * What to do with a purge that may empty its tenant: `bounded` requires maxAffected, `allow` runs it as in the standard, and
 * `refuse` refuses it.
 */
export type WholeTenant = 'bounded' | 'allow' | 'refuse';

/**
 * Checks a purge that may empty its tenant. Dry runs are always allowed.
 *
 * @throws PolicyRefusedError under `refuse`
 * @throws QueryRefusedError under `bounded`, unless the query has maxAffected
 */
function checkWholeTenant(
  { dryRun, maxAffected }: { readonly dryRun: boolean; readonly maxAffected: number | undefined },
  mode: WholeTenant,
): void {
  if (dryRun || mode === 'allow') return;
  if (mode === 'refuse') {
    throw new PolicyRefusedError(
      'This gateway refuses purges that may reach every entity of a tenant ' +
        '(PURGE_WHOLE_TENANT=refuse). Add a filter that matches only the ' +
        'entities to delete, such as type=Vehicle. dryRun=true is allowed.',
    );
  }
  if (maxAffected !== undefined) return;
  throw new QueryRefusedError(
    'invalidRequest',
    'This query may reach every entity of the tenant. Set maxAffected to ' +
      'the number that may be deleted (dryRun=true counts them), or add a ' +
      'filter that matches only the entities to delete, such as type=Vehicle.',
    'maxAffected',
  );
}

/** The options of a purge as given in its query; undefined if not given. */
interface QueryOptions extends Required<Omit<OptionValues<'query'>, 'dryRun'>> {
  readonly dryRun: boolean;
}

/**
 * Reads the options in the parameters of a purge.
 *
 * @throws QueryRefusedError for a value that an option cannot have, and for options that exclude each other
 */
function queryOptions(parameters: ReadonlyMap<string, string>): QueryOptions {
  const options: { [Name in OptionName]?: unknown } = {};
  for (const name of EXTENSIONS) options[name] = valueOf(parameters, name);
  const { dryRun = false, record } = options as OptionValues<'query'>;
  if (dryRun && record !== undefined) {
    const detail =
      'record=ids records what is deleted, and a dry run deletes nothing: leave one of them out.';
    throw new QueryRefusedError('invalidRequest', detail, 'record');
  }
  return { ...options, dryRun } as QueryOptions;
}

function valueOf(parameters: ReadonlyMap<string, string>, name: OptionName): unknown {
  const value = parameters.get(name);
  if (value === undefined) return undefined;
  const { type } = purgeOption(name);
  if (type === 'flag') return booleanOf(parameters, name);
  if (type === 'count') {
    if (/^[1-9]\d{0,14}$/.test(value)) return Number(value);
    throw new QueryRefusedError(
      'invalidRequest',
      `${name} must be a whole number from 1 to ${MAX_COUNT}.`,
      name,
    );
  }
  if (type.includes(value)) return value;
  throw new QueryRefusedError('invalidRequest', `${name} must be ${type.join(' or ')}.`, name);
}

type OptionName = keyof OptionValues<'query'>;

/** Reads a parameter that is true or false. @throws QueryRefusedError for anything else */
function booleanOf(parameters: ReadonlyMap<string, string>, name: string): boolean | undefined {
  const value = parameters.get(name);
  if (value === undefined) return undefined;
  if (value !== 'true' && value !== 'false') {
    throw new QueryRefusedError('invalidRequest', `${name} must be true or false.`, name);
  }
  return value === 'true';
}
