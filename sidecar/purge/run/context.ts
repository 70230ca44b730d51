import type { BrokerCapabilities } from '../broker/index.js';
import type { Clock } from '../../shared/clock.js';
import { FilterIgnoredError } from '../errors.js';
import type { PurgeEvent } from './events.js';
import {
  createIdGuard,
  learnStride,
  proofNameOf,
  QueryProof,
  contextOfRequest,
  dependsOnContext,
  isCoreContext,
  checkContext,
  proveLink,
  probesOf,
} from '../proof/index.js';
import {
  type ListedResource,
  type ListedPage,
  type Page,
  type PageQuery,
  type PageShape,
  type PagingEvidence,
  Lister,
  type PageSource,
} from '../listing/index.js';
import type { Parameter, PurgeQuery } from '../query/index.js';
import type { Requester } from '../requests/index.js';
import { ItemLedger, type OnOutcome } from '../ledger/index.js';

/** How entities are deleted: `native` by the broker's own Purge Entities, the others by the gateway. */
export type PurgeStrategy = 'auto' | 'batch' | 'single' | 'native';

/** How hard a purge may work: what its caller asks for, within the gateway's configuration. */
export interface PurgeLimits {
  /** Entities asked for in one page. */
  readonly pageSize: number;
  /** Largest page, for brokers that are faster with more than `pageSize` entities. */
  readonly pageSizeMax: number;
  /** Ids in one batch delete. */
  readonly batchSize: number;
  /** Delete requests in flight. */
  readonly concurrency: number;
  readonly strategy: PurgeStrategy;
  /** Most items that may be affected; undefined for no bound. */
  readonly maxAffected: number | undefined;
}

/** What all parts of one purge share, whichever query they send. */
export interface PurgeScope {
  readonly limits: PurgeLimits;
  readonly requester: Requester;
  readonly capabilities: BrokerCapabilities;
  /** Records every item; refuses more than `limits.maxAffected`. */
  readonly ledger: ItemLedger;
  readonly warnings: ReadonlySet<string>;
  readonly clock: Pick<Clock, 'now'>;
  /** When the purge began, in milliseconds since the epoch. */
  readonly startedMs: number;
  readonly emit: (event: PurgeEvent) => void;
  /** Adds a warning to the report; at most ten are kept. */
  warn(warning: string): void;
  /** Emits a progress event. */
  reportProgress(): void;
  /** Opens a query. Nothing is sent yet. */
  open(query: BrokerQuery): PurgeContext;
}

/** A query: the caller's filters, and what the broker needs besides. */
export interface BrokerQuery {
  readonly resource: ListedResource;
  /** The caller's filters. */
  readonly selection: readonly Parameter[];
  /** Parameters that the broker requires and that exclude no match. */
  readonly additions?: readonly Parameter[];
  /** Shows only some of the matches; other queries show the rest. */
  readonly isPartial?: boolean;
  /** Attributes that the purge names besides, to drop or to keep. */
  readonly removed?: readonly string[] | undefined;
}

/** What the broker shows of the matches through one query. */
export interface QueryView {
  /** The collection that is queried. */
  readonly resource: ListedResource;
  /** The query as sent to the broker. */
  readonly selection: readonly Parameter[];
  /**
   * Lists pages. Each page is checked before anything in it is used, and its warnings are kept.
   *
   * Besides what a lister throws: UnexpectedEntityError for an id that the query excludes, FilterIgnoredError when a
   * page shows that the broker did not stay local.
   */
  readonly lister: PageSource;
  /** An item that this query no longer lists is gone. */
  readonly showsAll: boolean;
  /** The broker counts matches that it does not show, or shows empty pages before the end. */
  readonly countsUnshown: boolean;
  /** What the broker's counts and pages have revealed so far. */
  readonly paging: PagingEvidence;
  /**
   * Asks beside the first page what the proof of the query needs to know.
   *
   * @param shape of that page
   * @returns when it is answered; never rejects
   */
  beginProof(shape: PageShape): Promise<void>;
  /**
   * Proves, once, that the broker honours the query's filters, its tenant and its @context. Required before listed ids are used.
   *
   * @throws FilterIgnoredError
   */
  proveFilters(): Promise<void>;
}

/** A purge, and the query through which it sees the broker. */
export type PurgeContext = PurgeScope & QueryView;

export interface PurgeScopeOptions {
  readonly query: PurgeQuery;
  readonly limits: PurgeLimits;
  readonly requester: Requester;
  readonly capabilities: BrokerCapabilities;
  readonly clock: Pick<Clock, 'now'>;
  readonly emit: (event: PurgeEvent) => void;
  readonly onOutcome?: OnOutcome | undefined;
}

const MAX_WARNINGS = 10;

export function createPurgeScope(options: PurgeScopeOptions): PurgeScope {
  const { query, limits, requester, capabilities, clock, emit } = options;
  const ledger = new ItemLedger(limits.maxAffected, options.onOutcome);
  const warnings = new Set<string>();
  const guard = createIdGuard(query.ids, query.idPattern);

  function warn(message: string): void {
    if (warnings.size < MAX_WARNINGS) warnings.add(message);
  }

  async function check(page: Page, isLocal: boolean): Promise<void> {
    if (page.warning !== undefined) warn(page.warning);
    if (isLocal && page.madeEntityMap) {
      const detail =
        'The broker queried its context sources despite local=true, so this purge would reach too much. Nothing more is deleted.';
      throw new FilterIgnoredError('local', detail);
    }
    await guard.check(page.ids);
  }

  function viewOf({
    resource,
    selection: filters,
    additions = [],
    isPartial = false,
    removed,
  }: BrokerQuery): QueryView {
    const selection = [...filters, ...additions];
    const unchecked = new Lister({
      requester,
      capabilities,
      pageSize: limits.pageSize,
      pageSizeMax: Math.min(limits.pageSizeMax, capabilities.pageSizeMax ?? Infinity),
      resource,
      clock,
    });
    const isLocal = filters.some(({ name, value }) => name === 'local' && value === 'true');
    const countsUnshown = resource.path === '/temporal/entities';
    const { headers } = requester;
    const filterProof = new QueryProof({
      name: proofNameOf(selection, headers, resource.projectionsOf({ selection }).join()),
      probes: probesOf(filters, additions, headers, countsUnshown),
      lister: unchecked,
      capabilities,
      countsUnshown,
    });
    const namedContext = contextOfRequest(headers['link']);
    const contextUrl = dependsOnContext(selection, removed) ? namedContext : undefined;
    let proof: Promise<void> | undefined;
    /** The first page that listed something, and what was asked for. */
    let listed: { readonly query: PageQuery; readonly page: ListedPage } | undefined;
    let checksContext = false;
    const view: QueryView = {
      resource,
      selection,
      showsAll: !isPartial,
      countsUnshown,
      paging: { contradicted: false, longestPage: 0 },
      lister: {
        showsAnything: (asked) => unchecked.showsAnything(asked),
        page: async (query) => {
          const page = await unchecked.page(query);
          await check(page, isLocal);
          if (checksContext && contextUrl !== undefined) checkContext(page, contextUrl);
          if (query.selection === selection && page.ids.length > 0) listed ??= { query, page };
          else if (listed === undefined) filterProof.discard();
          return page;
        },
      },
      // What one of several queries shows, the others mostly do not show again.
      beginProof: async (shape) => (isPartial ? undefined : filterProof.begin(shape)),
      proveFilters: () => (proof ??= prove()),
    };
    return view;

    async function prove(): Promise<void> {
      const { query = { selection, limit: 1 }, page } = listed ?? {};
      await Promise.all([filterProof.prove(query), page === undefined ? undefined : proveContext(page)]);
      await learnStride({ ...view, capabilities });
    }

    async function proveContext(page: ListedPage): Promise<void> {
      const name = proofNameOf(selection, headers, 'context');
      if (contextUrl === undefined || isCoreContext(contextUrl) || capabilities.isHonoured(name.name)) return;
      const asksCount = capabilities.countAccepted;
      const options = { requester, asksCount, path: page.path, selection, url: contextUrl };
      const proof = await proveLink(options, page);
      if (proof === 'refuses-others') capabilities.setHonoured(name);
      checksContext = proof === 'names-it';
    }
  }

  const scope: PurgeScope = {
    limits,
    requester,
    capabilities,
    ledger,
    warnings,
    clock,
    startedMs: clock.now(),
    emit,
    warn,
    reportProgress() {
      const hasBegun = ledger.matched > 0;
      emit({ type: 'progress', hasBegun, ...ledger.counts, ...requester.effort });
    },
    open: (opened) => ({ ...scope, ...viewOf(opened) }),
  };
  return scope;
}
