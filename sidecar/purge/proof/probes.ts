import { randomBytes } from 'node:crypto';
import type { ProbedParameter } from '../broker/index.js';
import { compilePattern } from '../../ngsi-ld/pattern.js';
import { parseTypeSelector, type TypeNode } from '../../ngsi-ld/type-selector.js';
import { parseScopeQuery, type ScopePattern } from '../../ngsi-ld/scope-query.js';
import { QueryRefusedError } from '../errors.js';
import type { Parameter } from '../query/index.js';
import {
  countVariants,
  type ImpossibleText,
  impossibleTexts,
  type Term,
  LONG_AGO,
  NO_SUCH,
  termOfQ,
} from './impossible-text.js';
import type { PageQuery } from '../listing/index.js';

/** A selection in which one filter, or one condition of it, cannot match. */
export interface Impossible {
  readonly filter: ProbedParameter;
  readonly selection: readonly Parameter[];
  /** What was made impossible, as the caller wrote it. */
  readonly about: string;
  /** Whether it cannot match only because it contradicts itself. A broker may refuse to read it for that reason. */
  readonly isContradiction: boolean;
}

/** The filters that can be made impossible. */
export const PROBED: readonly ProbedParameter[] = [
  ...(['type', 'attrs', 'q', 'idPattern', 'scopeQ', 'georel'] as const),
  ...(['datasetId', 'timerel', 'timeproperty'] as const),
];

/** Maximum number of names in a list that is made impossible: enough to be a list, and not too long for a URL. */
const MAX_NAMES = 20;

/** Maximum number of queries to prove one parameter. */
const MAX_CONDITIONS = 50;

/**
 * Returns the variants of a selection in which one filter is made impossible, condition by condition, and everything else stays
 * as it is.
 *
 * @param isHistory whether the query is of temporal entities
 * @returns an empty list if the selection does not have the filter, or if the filter selects everything
 * @throws QueryRefusedError for a filter with more conditions than can be proven
 */
export function impossibleSelections(
  selection: readonly Parameter[],
  filter: ProbedParameter,
  isHistory = false,
): readonly Impossible[] {
  const given = selection.find(({ name }) => name === filter);
  if (given === undefined) return [];
  // A geoquery is made impossible by another property, and a time filter by another time.
  const name = filter === 'georel' ? 'geoproperty' : filter;
  const replaced: readonly string[] = filter === 'timerel' ? ['timerel', 'timeAt', 'endTimeAt'] : [name];
  const others = selection.filter((other) => !replaced.includes(other.name));
  if (filter === 'timerel') others.push({ name: 'timeAt', value: LONG_AGO });
  return impossibleValues(filter, given.value, isHistory).map(
    ({ text, about = given.value, isContradiction = false }) => ({
      filter,
      about,
      isContradiction,
      selection: [...others, { name, value: text }],
    }),
  );
}

/** Returns what to write in place of the value of a filter. */
function impossibleValues(
  filter: ProbedParameter,
  value: string,
  isHistory: boolean,
): readonly (Pick<ImpossibleText, 'text'> & Partial<ImpossibleText>)[] {
  switch (filter) {
    case 'type': {
      const selector = parseTypeSelector(value);
      // Any type matches, so there is nothing to honour.
      return selector.kind === 'any' ? [] : variantsOf(filter, value, termOfType(selector));
    }
    case 'q':
      return variantsOf(filter, value, termOfQ(value, isHistory));
    case 'scopeQ':
      return variantsOf(filter, value, termOfScopes(value));
    case 'attrs': {
      const names = value.split(',').slice(0, MAX_NAMES);
      return [{ text: names.map((name) => name + NO_SUCH).join(',') }];
    }
    case 'idPattern':
      return [{ text: impossiblePattern(value) }];
    case 'georel':
      return [{ text: 'noSuchGeoPropertyPurgeProbe' }];
    case 'datasetId':
      return [{ text: 'urn:ngsi-ld:Dataset:NoSuchDatasetPurgeProbe' }];
    case 'timerel':
      return [{ text: 'before' }];
    case 'timeproperty':
      return [{ text: 'noSuchTimePurgeProbe' }];
  }
}

function variantsOf(filter: ProbedParameter, value: string, term: Term): readonly ImpossibleText[] {
  const count = countVariants(term);
  if (count > MAX_CONDITIONS) {
    const detail =
      `${filter} has ${count} conditions, and each takes a query to prove that ` +
      `the broker honours it. A purge takes at most ${MAX_CONDITIONS}: split it.`;
    throw new QueryRefusedError('badRequestData', detail, filter);
  }
  return impossibleTexts(value, term);
}

/**
 * Returns a pattern that no id matches. The gateway itself checks ids against a pattern that RE2 can compile. Any other pattern
 * may be too much for the broker as well, so it is kept as a part.
 */
function impossiblePattern(pattern: string): string {
  return compilePattern('idPattern', pattern) === undefined
    ? `(?:${pattern})^NoSuchEntityPurgeProbe`
    : '^urn:ngsi-ld:NoSuchEntityPurgeProbe:1$';
}

function termOfType(node: TypeNode): Term {
  if (node.kind !== 'type') return joined(node.kind, node.operands.map(termOfType));
  const { name, start } = node;
  return { kind: 'leaf', start, end: start + name.length, operands: [], impossible: name + NO_SUCH };
}

function termOfScopes(text: string): Term {
  const leafOf = ({ start, end }: ScopePattern): Term => ({
    kind: 'leaf',
    start,
    end,
    operands: [],
    impossible: `/NoSuchScopePurgeProbe${text.slice(start, end)}`,
  });
  return joined(
    'or',
    parseScopeQuery(text).map((all) => joined('and', all.map(leafOf))),
  );
}

/** Joins terms. Brackets around the operands are not part of the new term. */
function joined(kind: 'and' | 'or', operands: readonly Term[]): Term {
  return { kind, start: operands[0]?.start ?? 0, end: operands.at(-1)?.end ?? 0, operands };
}

type Headers = Readonly<Record<string, string>>;

/** The query of a purge with one filter made impossible. If the broker honours the filter, the query shows nothing. */
export interface Probe {
  /** What is proven, by the name that callers know. */
  readonly parameter: string;
  /** The parameter that is proven, which the broker may apply only after counting; undefined for a header. */
  readonly filter?: ProbedParameter;
  readonly query: Pick<PageQuery, 'selection' | 'headers'>;
  /** Whether brokers that honour the filter may still show entities, without attributes. */
  readonly showsBareEntities: boolean;
  /** Whether it asks for a condition together with its opposite, which a broker may refuse to read. */
  readonly isContradiction: boolean;
  /** Why the purge is refused if the filter is ignored. */
  readonly refusal: string;
}

/** Filters on instances: some brokers still list the entity, without its attributes. */
const ON_INSTANCES: ReadonlySet<ProbedParameter> = new Set(['datasetId', 'timerel', 'timeproperty']);

/** Statuses that reject a tenant that does not exist. */
const DENIED: ReadonlySet<number> = new Set([400, 403, 404]);

const NOTHING_DELETED =
  'so the query would reach too much. Nothing was deleted. Ask for less at once, or name the entities to delete by id.';

/**
 * Returns the probes of a query: one for each filter or condition that can be made impossible, and those for the headers that
 * select the tenant.
 *
 * @param filters the caller's filters
 * @param additions further parameters that the broker requires
 * @param isHistory whether the query is of temporal entities
 * @throws QueryRefusedError for more conditions than can be proven
 */
export function probesOf(
  filters: readonly Parameter[],
  additions: readonly Parameter[],
  headers: Headers,
  isHistory = false,
): readonly Probe[] {
  const probes: Probe[] = [];
  for (const filter of PROBED)
    for (const impossible of impossibleSelections(filters, filter, isHistory))
      probes.push(filterProbe(impossible, additions));
  return [...probes, ...tenantProbes([...filters, ...additions], headers)];
}

/** Returns what an answer with this status proves; undefined if it proves nothing. */
export function meaningOfStatus(
  { filter, isContradiction }: Probe,
  status: number,
): 'honoured' | 'ignored' | undefined {
  if (filter === undefined) return DENIED.has(status) ? 'honoured' : undefined;
  if (status === 501) return 'ignored';
  if (status !== 400 && status !== 404 && status !== 422) return undefined;
  // A broker that refuses the impossible value has read it, because it accepts the query itself.
  return isContradiction ? 'ignored' : 'honoured';
}

function filterProbe(
  { filter, selection, about, isContradiction }: Impossible,
  additions: readonly Parameter[],
): Probe {
  const shortened = about.length > 100 ? `${about.slice(0, 100)}…` : about;
  const what = filter === 'georel' ? 'the geoquery (georel)' : `${filter} (${shortened})`;
  return {
    parameter: filter,
    filter,
    isContradiction,
    query: { selection: [...selection, ...additions] },
    showsBareEntities: ON_INSTANCES.has(filter),
    refusal: isContradiction
      ? `The broker does not read ${what} as the standard does: asked for entities that meet both ` +
        `this condition and its opposite, it lists some or refuses the query, ${NOTHING_DELETED}`
      : `The broker ignores ${what} in this query: it lists entities where it cannot match, ${NOTHING_DELETED}`,
  };
}

/**
 * Returns the probes for the tenant: a tenant that cannot exist must have no entities. If both headers name the same tenant,
 * the broker must honour one of them. If they differ, either may select the tenant, so the broker must honour each next to the
 * other.
 */
function tenantProbes(
  selection: readonly Parameter[],
  { 'ngsild-tenant': tenant, 'fiware-service': service }: Headers,
): readonly Probe[] {
  if (tenant === undefined && service === undefined) return [];
  // Valid for all brokers (Orion: lower-case letters, digits, underscores, at most 50), and too long to be guessed.
  const name = `nosuchtenant_purgeprobe_${randomBytes(12).toString('hex')}`;
  if (tenant === service)
    return [
      tenantProbe('NGSILD-Tenant', { selection, headers: { 'ngsild-tenant': name, 'fiware-service': name } }),
    ];
  return [
    ...(tenant === undefined
      ? []
      : [tenantProbe('NGSILD-Tenant', { selection, headers: { 'ngsild-tenant': name } })]),
    ...(service === undefined
      ? []
      : [tenantProbe('Fiware-Service', { selection, headers: { 'fiware-service': name } })]),
  ];
}

function tenantProbe(parameter: string, query: Probe['query']): Probe {
  return {
    parameter,
    query,
    showsBareEntities: false,
    isContradiction: false,
    refusal:
      `The broker ignores the header ${parameter} in this query: it lists entities for a tenant ` +
      'that does not exist, so the query would reach another tenant. Nothing was deleted.',
  };
}
