import { parseGeoQuery } from '../ngsi-ld/geo-query.js';
import { conditionsOf, parseQ } from '../ngsi-ld/q.js';
import { NgsiLdSyntaxError } from '../ngsi-ld/syntax-error.js';
import { matchesScopes, parseScopeQuery } from '../ngsi-ld/scope-query.js';
import {
  matchesType,
  parseTypeSelector,
  type TypeNode,
  type TypeSelector,
} from '../ngsi-ld/type-selector.js';
import { geoFilter } from './geo-filter.js';
import {
  canonicalName,
  isAttributeName,
  isSystemAttribute,
  isUri,
  type Attribute,
  type StoredEntity,
} from './model.js';
import { qFilter, readPattern, type EntityFilter, type Negation } from './q-filter.js';
import { readFlag, readList, type Parameters } from './query-parameters.js';
import { refusals } from './refusal.js';
import type { Representation } from './representation.js';

export const SELECTING_PARAMETERS = [
  'type', 'id', 'idPattern', 'attrs', 'q', 'georel', 'geometry', 'coordinates', 'geoproperty', 'scopeQ', 'local',
] as const; // oxfmt-ignore
export const SHOWING_PARAMETERS = ['pick', 'format', 'options'] as const;

/** Which entities to find. Without filters, `ids` or `type` alone decides, and no entity has to be inspected. */
export interface EntityQuery<A = readonly Attribute[]> {
  readonly ids: readonly string[] | undefined;
  /** The single type that all matches have, if any; there is no filter for it unless `ids` is set. */
  readonly type: string | undefined;
  readonly filters: readonly ((entity: StoredEntity<A>) => boolean)[];
}

export interface SelectionRules {
  /** Whether a negated term of `q` must hold for every instance of an attribute, or for one. */
  readonly negation: Negation;
  /** Accept a query that has no narrowing filter. */
  readonly mayBeWide: boolean;
}

/** The selecting parameters of a query: filters on the entity itself and, separately, filters on its attributes. */
export interface Selection extends EntityQuery<unknown> {
  /** Attribute names; a match has at least one of them. */
  readonly attrs: readonly string[] | undefined;
  /** The filters of `q` and the geoquery. */
  readonly valueFilters: readonly EntityFilter[];
}

/**
 * Reads the selecting parameters of Query Entities (ETSI GS CIM 009 V1.9.1, clauses 5.7.2 and 6.4.3.2).
 *
 * @throws Refusal BadRequestData for what cannot be parsed and for a query without a filter that narrows it
 */
export function readEntityQuery(parameters: Parameters, rules: { readonly mayBeWide: boolean }): EntityQuery {
  const selection = readSelection(parameters, { ...rules, negation: 'each instance' });
  const { ids, type, filters, attrs, valueFilters } = selection;
  const attrsFilter: EntityFilter = (entity) =>
    entity.attributes.some(({ name }) => attrs?.includes(name) === true);
  return { ids, type, filters: [...filters, ...(attrs ? [attrsFilter] : []), ...valueFilters] };
}

/**
 * Reads the selecting parameters that entities and temporal entities have in common.
 *
 * @throws Refusal BadRequestData for what cannot be parsed, and for a query without a narrowing filter where one is required
 */
export function readSelection(parameters: Parameters, rules: SelectionRules): Selection {
  try {
    return buildSelection(parameters, rules);
  } catch (error) {
    if (error instanceof NgsiLdSyntaxError) throw refusals.badRequest(error.message);
    throw error;
  }
}

function buildSelection(parameters: Parameters, { negation, mayBeWide }: SelectionRules): Selection {
  const filters: Selection['filters'][number][] = [];
  const valueFilters: EntityFilter[] = [];
  let narrow = readFlag(parameters, 'local') || mayBeWide;

  const selector = readType(parameters);
  narrow ||= selector !== undefined;
  const type = selector?.kind === 'type' ? selector.name : undefined;
  if (selector !== undefined && type === undefined)
    filters.push((entity) => matchesType(selector, entity.types));

  const attrs = readList(parameters, 'attrs')?.map(canonicalName);
  narrow ||= attrs?.some((name) => !isSystemAttribute(name)) === true;

  const q = parameters.get('q');
  if (q !== undefined) {
    const node = parseQ(q);
    narrow ||= conditionsOf(node).some(({ path }) => !isSystemAttribute(path.names[0] ?? ''));
    valueFilters.push(qFilter(node, negation));
  }

  const geo = ['georel', 'geometry', 'coordinates'].some((name) => parameters.has(name));
  if (geo) {
    narrow = true;
    valueFilters.push(
      geoFilter(
        parseGeoQuery({
          georel: parameters.get('georel'),
          geometry: parameters.get('geometry'),
          coordinates: parameters.get('coordinates'),
          geoproperty: parameters.get('geoproperty'),
        }),
      ),
    );
  }

  const scopeQ = parameters.get('scopeQ');
  if (scopeQ !== undefined) {
    const query = parseScopeQuery(scopeQ);
    filters.push((entity) => matchesScopes(query, entity.scopes));
  }

  const idPattern = parameters.get('idPattern');
  if (idPattern !== undefined) {
    const pattern = readPattern('idPattern', idPattern);
    filters.push((entity) => pattern.test(entity.id));
  }

  const ids = readList(parameters, 'id');
  if (ids?.some((id) => !isUri(id)) === true) throw refusals.badRequest('id must be a list of URIs');
  if (ids !== undefined && type !== undefined) filters.push((entity) => entity.types.includes(type));

  if (!narrow) {
    throw refusals.badRequest(
      'The query is too wide: give type, attrs, q on an attribute of the entities, a geoquery or local=true',
    );
  }
  return { ids: ids && [...new Set(ids)], type, filters, attrs, valueFilters };
}

function readType(parameters: Parameters): TypeSelector | undefined {
  const text = parameters.get('type');
  if (text === undefined) return undefined;
  const selector = canonicalSelector(parseTypeSelector(text));
  if (selector.kind === 'any' && parameters.get('local') === 'false') {
    throw refusals.badRequest('type=* means local entities, so local=false contradicts it');
  }
  return selector;
}

/** Returns a type selector with its names in the form that the broker stores. */
export function canonicalSelector(selector: TypeSelector): TypeSelector {
  return selector.kind === 'any' ? selector : canonicalNode(selector);
}

function canonicalNode(node: TypeNode): TypeNode {
  return node.kind === 'type'
    ? { ...node, name: canonicalName(node.name) }
    : { kind: node.kind, operands: node.operands.map(canonicalNode) };
}

/** Reads `pick`, `attrs` (as projection), `format` and `options` (clauses 4.21, 6.3.7, 6.3.11). @throws Refusal */
export function readRepresentation(parameters: Parameters): Representation {
  const wanted = readFormats(parameters, ['normalized', 'simplified', 'keyValues', 'sysAttrs'], ['concise']);
  return {
    format: wanted.includes('simplified') || wanted.includes('keyValues') ? 'simplified' : 'normalized',
    sysAttrs: wanted.includes('sysAttrs'),
    pick: readProjection(parameters),
  };
}

/**
 * Reads the values of `format` and `options`.
 *
 * @param lacking values that the standard defines and this broker does not support
 * @throws Refusal 400, 501
 */
export function readFormats(
  parameters: Parameters,
  known: readonly string[],
  lacking: readonly string[],
): readonly string[] {
  const wanted = ['format', 'options'].flatMap((name) => readList(parameters, name) ?? []);
  for (const option of wanted) {
    const shown = JSON.stringify(option.slice(0, 64));
    if (lacking.includes(option))
      throw refusals.notImplemented(`The representation ${shown} is not supported`);
    if (!known.includes(option)) throw refusals.invalidRequest(`${shown} is neither a format nor an option`);
  }
  return wanted;
}

/** Reads which members to show, from `pick` or `attrs`; undefined for all. @throws Refusal BadRequestData */
export function readProjection(parameters: Parameters): ReadonlySet<string> | undefined {
  const attrs = readList(parameters, 'attrs');
  const pick = readList(parameters, 'pick');
  if (attrs !== undefined && pick !== undefined)
    throw refusals.badRequest('attrs and pick cannot be combined');
  for (const name of pick ?? []) {
    if (name !== 'id' && name !== 'type' && name !== 'scope' && !isAttributeName(name)) {
      throw refusals.badRequest(
        `pick: ${JSON.stringify(name.slice(0, 64))} is not the name of an entity member`,
      );
    }
  }
  const picked = pick ?? (attrs && ['id', 'type', 'scope', ...attrs]);
  return picked && new Set(picked.map(canonicalName));
}
