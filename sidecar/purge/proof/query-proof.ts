import { hash } from 'node:crypto';
import pLimit from 'p-limit';
import type { BrokerCapabilities } from '../broker/index.js';
import { contextOfRequest, type Parameter } from '../query/index.js';
import type { Requester } from '../requests/index.js';
import { attributesWithInstances } from '../../ngsi-ld/members.js';
import { BrokerRefusedError, FilterIgnoredError, unlessQueryRefused } from '../errors.js';
import {
  entitiesIn,
  type ListedPage,
  type ListedResource,
  type PageQuery,
  type PageShape,
  type PagingEvidence,
  type PageSource,
} from '../listing/index.js';
import { checkContext, dependsOnContext, proveLink } from './link-proof.js';
import { type Probe, impossibleSelections, meaningOfStatus, PROBED, probesOf } from './probes.js';

type Headers = Readonly<Record<string, string>>;

/**
 * Headers that decide which data a query reads, and how; also those that identify the client, because a broker, or a proxy in
 * front of it, may show other clients something else.
 */
const READING = [
  'ngsild-tenant',
  'fiware-service',
  'fiware-servicepath',
  'link',
  'authorization',
  'x-auth-token',
];

/**
 * Returns the name of the proof of exactly this query: these parameters with these values, these headers, this projection.
 *
 * @param shape how much of each entity is asked for
 */
export function proofNameOf(selection: readonly Parameter[], headers: Headers, shape: string): string {
  const parts = [
    selection.map(({ name, value }) => [name, value]),
    READING.map((name) => headers[name] ?? null),
    shape,
  ];
  return hash('sha256', JSON.stringify(parts), 'base64url');
}

/** Maximum number of probes of one query that are asked at the same time. */
const AT_ONCE = 8;

/** A query to prove, and how it is sent. */
export interface ProvenQuery extends CountedQuery {
  readonly requester: Requester;
  readonly resource: ListedResource;
  /** The caller's filters. */
  readonly filters: readonly Parameter[];
  /** Further parameters that the broker requires. */
  readonly additions: readonly Parameter[];
  /** Attributes to drop or to keep. */
  readonly removed: readonly string[] | undefined;
}

type Answer = PromiseSettledResult<ListedPage>;

/** What an answer means. `counted`: the filter is honoured, but not in the broker's count. `open`: it proves nothing yet. */
type Meaning = 'honoured' | 'counted' | 'ignored' | 'open';

/**
 * Proves that the broker honours the filters, the tenant and the @context of one query. For each filter and the tenant, that
 * query with this one made impossible must show nothing; for the @context see `proveLink`. The proof is valid for this very query
 * only, because brokers ignore a filter next to another one, for one type or for one tenant.
 */
export class QueryProof {
  readonly #query: ProvenQuery;
  readonly #name: string;
  readonly #probes: readonly Probe[];
  /** The @context on which the meaning of the query depends. */
  readonly #contextUrl: string | undefined;
  /** The same, if each answer of the broker has to name it. */
  #namedContext: string | undefined;
  #early: Promise<readonly Answer[]> | undefined;
  /** The first page that listed something, and what was asked for. */
  #listed: { readonly query: PageQuery; readonly page: ListedPage } | undefined;
  #proven: Promise<void> | undefined;

  /** @throws QueryRefusedError for more conditions than can be proven, and for a Link that does not name one @context */
  constructor(query: ProvenQuery) {
    const { selection, resource, filters, additions, countsUnshown, removed } = query;
    const { headers } = query.requester;
    this.#query = query;
    this.#name = proofNameOf(selection, headers, resource.projectionsOf({ selection }).join());
    this.#probes = probesOf(filters, additions, headers, countsUnshown);
    const url = contextOfRequest(headers['link']);
    if (url !== undefined && dependsOnContext(url, selection, removed)) this.#contextUrl = url;
  }

  /**
   * Asks the probes in parallel with the first page. Does nothing if the broker gives no count or has not answered yet, because
   * then each probe would have to find out by itself how to query it.
   *
   * @param shape how much to ask for in that page
   * @returns resolves when the probes are answered; never rejects
   */
  async begin(shape: PageShape): Promise<void> {
    const { capabilities } = this.#query;
    const isKnown = capabilities.get('collection-end') !== undefined && capabilities.get('no-count') !== true;
    if (!isKnown || capabilities.isHonoured(this.#name)) return;
    this.#early = this.#ask(this.#probes, this.#small(shape));
    await this.#early;
  }

  /**
   * Notes a page that was listed with the headers of the purge.
   *
   * @throws FilterIgnoredError if the page has to name the @context, and does not
   */
  note(query: PageQuery, page: ListedPage): void {
    if (this.#namedContext !== undefined) checkContext(page, this.#namedContext);
    if (query.selection === this.#query.selection && page.ids.length > 0) this.#listed ??= { query, page };
    // The page in parallel with which the probes were asked was empty: that they showed nothing either proves nothing.
    else if (this.#listed === undefined) this.#early = undefined;
  }

  /** Completes the proof, once. Required before listed ids are used. @throws FilterIgnoredError */
  prove(): Promise<void> {
    return (this.#proven ??= this.#prove());
  }

  /** See `learnCounting`. */
  async learnCounting(): Promise<boolean> {
    return learnCounting(this.#query);
  }

  async #prove(): Promise<void> {
    const { query = { selection: this.#query.selection, limit: 1 }, page } = this.#listed ?? {};
    await Promise.all([
      this.#proveFilters(query),
      page === undefined ? undefined : this.#proveContext(page, query.offset),
    ]);
    await learnStride(this.#query);
  }

  /** @param listed the query of a page that listed something */
  async #proveFilters(listed: PageQuery): Promise<void> {
    const { capabilities } = this.#query;
    if (capabilities.isHonoured(this.#name)) return;
    const isFirst = (listed.offset ?? 0) === 0;
    const early = this.#early ?? (isFirst ? this.#ask(this.#probes, this.#small(listed)) : []);
    this.#early = undefined;
    const open = this.#settle(this.#probes, await early, false);
    // A page may show nothing although others would, so ask for the very page that listed something.
    this.#settle(open, await this.#ask(open, listed), true);
    capabilities.setHonoured(this.#name);
  }

  async #proveContext(page: ListedPage, offset: number | undefined): Promise<void> {
    const { requester, capabilities, selection } = this.#query;
    const url = this.#contextUrl;
    if (url === undefined) return;
    const name = proofNameOf(selection, requester.headers, 'context');
    if (capabilities.isHonoured(name)) return;
    const asksCount = capabilities.get('no-count') !== true;
    const proof = await proveLink({ requester, asksCount, path: page.path, selection, url }, page, offset);
    if (proof === 'refuses-others') capabilities.setHonoured(name);
    if (proof === 'names-it') this.#namedContext = url;
  }

  /** Instances are asked for as on the page itself, because others might be excluded by other filters. */
  #small(shape: PageShape): PageShape {
    return this.#query.countsUnshown ? shape : { limit: 1 };
  }

  async #ask(probes: readonly Probe[], shape: PageShape): Promise<readonly Answer[]> {
    const { lister } = this.#query;
    const turn = pLimit(AT_ONCE);
    return Promise.allSettled(
      probes.map(({ query }) => turn(() => lister.page({ ...shape, ...query, count: true }))),
    );
  }

  /**
   * Evaluates answers.
   *
   * @param isLast whether the answers are of the very page that listed something
   * @returns the probes whose answer proves nothing yet
   * @throws FilterIgnoredError, and the error that came in place of an answer
   */
  #settle(probes: readonly Probe[], answers: readonly Answer[], isLast: boolean): readonly Probe[] {
    const open: Probe[] = [];
    for (const [index, probe] of probes.entries()) {
      const answer = answers[index];
      const meaning = answer === undefined ? 'open' : this.#meaningOf(probe, answer, isLast);
      if (meaning === 'ignored') throw new FilterIgnoredError(probe.parameter, probe.refusal);
      if (meaning === 'open') open.push(probe);
      if (meaning === 'counted' && probe.filter !== undefined)
        this.#query.capabilities.learn(`counts-before ${probe.filter}`, true);
    }
    return open;
  }

  #meaningOf(probe: Probe, answer: Answer, isLast: boolean): Meaning {
    if (answer.status === 'rejected') {
      const error: unknown = answer.reason;
      const meaning =
        error instanceof BrokerRefusedError ? meaningOfStatus(probe, error.problem.status) : undefined;
      if (meaning === undefined) throw error;
      return meaning;
    }
    const { ids, count, hasNext } = answer.value;
    const { countsUnshown } = this.#query;
    if (probe.showsBareEntities && countsUnshown)
      return entitiesIn(answer.value).every((entity) => attributesWithInstances(entity).length === 0)
        ? 'honoured'
        : 'ignored';
    if (ids.length > 0) return 'ignored';
    const isCounted = (count ?? 0) > 0;
    if (countsUnshown) return hasNext || isCounted ? 'ignored' : 'honoured';
    if (isLast) return isCounted ? 'counted' : 'honoured';
    return count === 0 && !hasNext ? 'honoured' : 'open';
  }
}

/**
 * A query, and what is known about how the broker counts and pages it. Some brokers count and page first, and only then apply a
 * filter. Their pages are short or even empty, and the count ignores the filter. For such a query, the walk covers everything
 * that the broker pages through (`paging.stride`), whatever the count says.
 */
export interface CountedQuery {
  /** The query as sent to the broker. */
  readonly selection: readonly Parameter[];
  /** Lists pages without checking them. Queries that leave out filters are only counted. */
  readonly lister: Pick<PageSource, 'page'>;
  readonly capabilities: BrokerCapabilities;
  readonly paging: PagingEvidence;
  /** Whether the broker counts matches that it does not show, for another reason. */
  readonly countsUnshown: boolean;
}

/** Filters that brokers may apply after counting and paging. Every broker pages through the entities of a type. */
const LATE = PROBED.filter((filter) => filter !== 'type');

const GEO = new Set(['georel', 'geometry', 'coordinates', 'geoproperty', 'geometryProperty']);

/** A parameter that excludes no entity of the broker itself, and with which brokers accept a query without filters. */
export const LOCAL: Parameter = { name: 'local', value: 'true' };

/**
 * Finds out, for a query that is counted but shows nothing, whether its count is that of the query without a filter.
 *
 * @returns true if it is; walks of the query then cover everything that the broker pages through
 */
export async function learnCounting(context: CountedQuery): Promise<boolean> {
  const { selection, capabilities } = context;
  for (const filter of LATE) {
    const [impossible] = impossibleSelections(selection, filter);
    if (impossible === undefined) continue;
    const page = await unlessQueryRefused(
      context.lister.page({ selection: impossible.selection, limit: 1, count: true }),
    );
    if (page?.ids.length === 0 && (page.count ?? 0) > 0) capabilities.learn(`counts-before ${filter}`, true);
  }
  await learnStride(context);
  return context.paging.stride !== undefined;
}

/**
 * If the broker is known to count before it applies a filter of the query, learns how many entities one of its pages covers.
 */
export async function learnStride(context: CountedQuery): Promise<void> {
  const { selection, capabilities, paging, countsUnshown } = context;
  if (countsUnshown || paging.stride !== undefined) return;
  const late = new Set<string>(
    LATE.filter(
      (filter) =>
        capabilities.get(`counts-before ${filter}`) === true && selection.some(({ name }) => name === filter),
    ),
  );
  if (late.size === 0) return;
  const others = selection.filter(({ name }) => !late.has(name) && !(late.has('georel') && GEO.has(name)));
  // Without the filter the query may be too wide.
  const wide = { selection: others.length === 0 ? [LOCAL] : others, count: true };
  const page = await unlessQueryRefused(context.lister.page(wide));
  if (page === undefined) {
    // It is unknown, so walk one entity at a time.
    paging.stride = 1;
    return;
  }
  const { ids, count, limit } = page;
  // If nothing is shown even without the filter, the count is wrong in some other way.
  if (ids.length === 0) return;
  // Without the filter, a page is as long as a page can be, unless it has everything.
  const holdsAll = count !== undefined && count <= ids.length;
  paging.stride = holdsAll ? limit : Math.min(ids.length, limit);
}
