import {
  type BrokerCapabilities,
  type CollectionEnd,
  type Projection,
  type BrokerReply,
  ReplyTooLargeError,
  type Failure,
  isAboutPageSize,
  parseBrokerProblem,
  wordsOf,
  type BrokerProblem,
} from '../broker/index.js';
import { BrokerFailedError, BrokerRefusedError, BrokerReplyError } from '../errors.js';
import {
  type ListedResource,
  parsePage,
  type PageQuery,
  CountCheck,
  projectionParameters,
  PROJECTION_WORDS,
  type ListedPage,
  type Page,
} from './page.js';
import { formatParameters, type Parameter } from '../query/index.js';
import type { PurgeRequest, Requester, Settled } from '../requests/index.js';
import { PageSize } from './page-size.js';
import { createTrial, type Trial } from './trial.js';
import type { Clock } from '../../shared/clock.js';

/** An answer to a query, and the path that got it. */
export interface Answered {
  readonly reply: BrokerReply;
  /** Below the API root, without the query. */
  readonly path: string;
}

/** A collection of the broker, queried with or without a trailing slash as the broker requires. */
export interface Collection {
  /**
   * Sends a query until it is answered.
   *
   * @throws BrokerFailedError when its tries are used up, ReplyTooLargeError for more than `replyMaxBytes`
   */
  query(parameters: readonly Parameter[], options?: QueryOptions): Promise<Answered>;
  /** Notes that an answer was a page of entities: from then on, its path alone is used. */
  confirm(answered: Answered): void;
}

export interface QueryOptions {
  readonly headers?: PageQuery['headers'];
  readonly replyMaxBytes?: number | undefined;
  /** Finds a failed query in an answer that looks like a page. */
  readonly failureOf?: ((reply: BrokerReply) => Failure | undefined) | undefined;
}

export interface CollectionOptions {
  readonly requester: Requester;
  readonly capabilities: BrokerCapabilities;
  readonly resource: ListedResource;
}

export function createCollection({ requester, capabilities, resource }: CollectionOptions): Collection {
  const pathWith = (end: CollectionEnd) => `${resource.path}${end}`;

  async function send(request: PurgeRequest): Promise<BrokerReply> {
    let settled: Settled = await requester.send(request);
    // In a purge that has had answers, a query whose tries ran out is more likely bad luck than a dead broker, and
    // giving up would leave matches behind. A broker that really died stays dead for another round of tries.
    if (isBadLuck(settled) && requester.hasAnswered) {
      settled = await requester.send(request);
    }
    if (settled.kind === 'gave-up')
      throw new BrokerFailedError(resource.listing, settled.failure, 'attempts-used-up');
    return settled.reply;
  }

  /** The answer from a path that the broker may not serve; undefined when it does not answer a query there. */
  async function answerFrom(request: PurgeRequest): Promise<BrokerReply | undefined> {
    try {
      const settled = await requester.send(request);
      if (settled.kind === 'gave-up') return undefined;
      const { reply } = settled;
      // These may be about the page, or about what is asked to be shown of it.
      if (reply.status === 400 || reply.status === 403) return reply;
      if (!resource.answered.has(reply.status) || reply.body.trim() === '') return undefined;
      parsePage(reply);
      return reply;
    } catch (error) {
      if (error instanceof BrokerReplyError || error instanceof BrokerRefusedError) return undefined;
      throw error;
    }
  }

  return {
    async query(parameters, { headers, replyMaxBytes, failureOf } = {}) {
      const search = formatParameters(parameters);
      const requestTo = (path: string): PurgeRequest => ({
        method: 'GET',
        path: `${path}?${search}`,
        operation: resource.listing,
        takes403: true,
        ...(headers === undefined ? {} : { headers }),
        ...(replyMaxBytes === undefined ? {} : { replyMaxBytes }),
        ...(failureOf === undefined ? {} : { failureOf }),
      });
      const known = capabilities.collectionEnd;
      const path = pathWith(known ?? '');
      const reply = await send(requestTo(path));
      if (known !== undefined || reply.status !== 404) return { reply, path };
      const otherPath = pathWith('/');
      const other = await answerFrom(requestTo(otherPath));
      return other === undefined ? { reply, path } : { reply: other, path: otherPath };
    },
    confirm({ path }) {
      capabilities.collectionEnd = path === pathWith('/') ? '/' : '';
    },
  };
}

/** The tries ran out for a reason that may pass, unlike an unavailable @context. */
function isBadLuck(settled: Settled): boolean {
  return settled.kind === 'gave-up' && settled.failure.kind !== 'context-unavailable';
}

/** Lists the matches of a query, page by page, adapting to what the broker accepts. */
export interface Lister {
  /**
   * Fetches one page.
   *
   * @throws BrokerRefusedError when the broker refuses the query itself
   * @throws BrokerFailedError when the tries of the request are used up
   * @throws BrokerReplyError when the answer cannot be read
   */
  page(query: PageQuery): Promise<ListedPage>;
  /** Whether the query shows anything when it is sent bare, without paging: the way its author would send it. */
  showsAnything(selection: readonly Parameter[]): Promise<boolean>;
}

export interface ListerOptions {
  readonly requester: Requester;
  readonly capabilities: BrokerCapabilities;
  /** Entities wanted in one page. */
  readonly pageSize: number;
  /** Most entities in one page, where the broker is quicker with larger ones. */
  readonly pageSizeMax: number;
  readonly resource: ListedResource;
  readonly clock: Pick<Clock, 'now'>;
}

/** Page sizes to fall back to, as the contract of the product names them. */
const SMALLER_PAGES = [500, 200, 100, 50, 20, 10, 5, 2, 1] as const;

/** A page of several entities is asked for in smaller ones beyond this: reading it would hold up everything else. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** Statuses with which brokers refuse a page for its size, among other reasons. */
const MAY_BE_SIZE: ReadonlySet<number> = new Set([400, 403, 413, 422]);

export function createLister(options: ListerOptions): Lister {
  const { capabilities, resource, clock } = options;
  const collection = createCollection(options);
  const size = new PageSize(options.pageSize, options.pageSizeMax);
  const counts = new CountCheck();

  /** Larger pages of this query are too large to be read; other queries may be slimmer. */
  let readableLimit = Infinity;
  let isBareReadable = true;

  function limitFor(query: PageQuery, known: Trial): number {
    // A large page for a few matches would only find out that the broker refuses it.
    const grows = query.limit !== undefined || (query.expected ?? 0) > size.start;
    const page = Math.min(grows ? size.size : size.start, known.pageSizeMax, readableLimit);
    return Math.max(1, Math.min(page, query.limit ?? Infinity));
  }

  function mayGrow(): boolean {
    return !size.isSettled && size.size <= Math.min(capabilities.pageSizeMax ?? Infinity, readableLimit);
  }

  /** Learns from a page. A short page with more to come shows that the broker does not serve this size. */
  function noteSize(page: Page, { offset = 0 }: PageQuery, limit: number, ms: number): void {
    const { ids, length, count, hasNext } = page;
    const hasMore = hasNext || (count ?? 0) > offset + limit;
    if (ids.length === limit) size.note({ limit, ms, length });
    else if (limit > size.start && ids.length < limit && hasMore) size.refuse(limit);
  }

  function projectionFor(query: PageQuery, known: Trial): Projection {
    const refused = known.refusedProjections;
    return resource.projectionsOf(query).find((projection) => !refused.has(projection)) ?? 'none';
  }

  /** The remaining fallbacks, best first. */
  function fallbacks(query: PageQuery, from: Projection): readonly Projection[] {
    const all = resource.projectionsOf(query);
    return all.slice(all.indexOf(from) + 1);
  }

  const asksCount = (query: PageQuery, known: Trial) => query.count === true && known.countAccepted;

  async function ask(
    query: PageQuery,
    limit: number,
    projection: Projection,
    known: Trial,
  ): Promise<Answered> {
    const parameters = [
      ...query.selection,
      ...projectionParameters(projection, query),
      { name: 'limit', value: String(limit) },
      ...(query.offset === undefined || query.offset === 0
        ? []
        : [{ name: 'offset', value: String(query.offset) }]),
      ...(asksCount(query, known) ? [{ name: 'count', value: 'true' }] : []),
    ];
    return collection.query(parameters, {
      headers: query.headers,
      // Of a single entity nothing smaller can be asked for.
      replyMaxBytes: limit > 1 ? MAX_PAGE_BYTES : undefined,
      failureOf: (reply) =>
        resource.answered.has(reply.status) ? counts.failureOf(reply, query) : undefined,
    });
  }

  /** Asks for less after a page too large to read; false when no smaller step is left. */
  function asksForLess(query: PageQuery, limit: number): boolean {
    const smaller = SMALLER_PAGES.find((size) => size < limit);
    // Other pages may have found out more meanwhile.
    if (smaller !== undefined) readableLimit = Math.min(readableLimit, smaller);
    else if (query.isBare === true) isBareReadable = false;
    else return false;
    return true;
  }

  /** Lowers the page size after a refused page; false when no smaller step is left. */
  function stepDown(limit: number, known: Trial): boolean {
    const smaller = SMALLER_PAGES.find((size) => size < limit);
    if (smaller === undefined) return false;
    known.limitPages(smaller);
    return true;
  }

  /**
   * A 400 that does not say what it is about: the projection, the limit, the count or the query. Finds out by leaving
   * them out one after the other, and notes what was at fault.
   */
  async function findCulprit(
    query: PageQuery,
    limit: number,
    projection: Projection,
    known: Trial,
  ): Promise<boolean> {
    const refused = [projection];
    for (const next of fallbacks(query, projection)) {
      const verdict = await tryOut(query, limit, next, known);
      if (verdict === 'refused') {
        refused.push(next);
        continue;
      }
      known.refuse(refused);
      return verdict === 'accepted' || stepDown(limit, known);
    }
    const countless = { ...query, count: false };
    if (limit === 1 && !asksCount(query, known)) return false;
    if ((await tryOut(countless, 1, 'none', known)) !== 'accepted') return false;
    if (asksCount(query, known) && (await tryOut(query, 1, 'none', known)) !== 'accepted') {
      known.refuseCount();
      return true;
    }
    return stepDown(limit, known);
  }

  async function tryOut(query: PageQuery, limit: number, projection: Projection, known: Trial) {
    try {
      const { reply } = await ask(query, limit, projection, known);
      if (resource.answered.has(reply.status)) return 'accepted';
      return isAboutPageSize(parseBrokerProblem(reply)) ? 'too-many' : 'refused';
    } catch (error) {
      // More than can be read is an answer all the same; the page itself is then asked for in smaller steps.
      if (error instanceof ReplyTooLargeError) return 'accepted';
      throw error;
    }
  }

  async function adapt(
    query: PageQuery,
    limit: number,
    projection: Projection,
    known: Trial,
    problem: BrokerProblem,
  ) {
    if (problem.status === 403)
      return /TooManyResults|too many results/i.test(wordsOf(problem)) && stepDown(limit, known);
    if (problem.status !== 400 || capabilities.isProvenPage(projection, limit)) return false;
    if (fallbacks(query, projection).length > 0 && mentions(problem, projection)) {
      known.refuse([projection]);
      return true;
    }
    if (isAboutPageSize(problem)) return stepDown(limit, known);
    if (asksCount(query, known) && /\bcount\b/i.test(wordsOf(problem))) {
      known.refuseCount();
      return true;
    }
    return findCulprit(query, limit, projection, known);
  }

  return {
    async showsAnything(selection) {
      try {
        const { reply } = await collection.query(selection);
        return resource.answered.has(reply.status) && parsePage(reply).ids.length > 0;
      } catch (error) {
        if (error instanceof ReplyTooLargeError) return true;
        throw error;
      }
    },
    async page(asked) {
      const known = createTrial(capabilities);
      let tooLarge = 0;
      for (;;) {
        const query = isBareReadable ? asked : { ...asked, isBare: false };
        // After two pages that are too large, a look at a single entity tells whether the broker heeds limits at all.
        const wanted = limitFor(query, known);
        const isLook = tooLarge === 2 && wanted > 1;
        const limit = isLook ? 1 : wanted;
        const projection = projectionFor(query, known);
        const startedMs = clock.now();
        let answered: Answered;
        try {
          answered = await ask(query, limit, projection, known);
        } catch (error) {
          if (limit > size.start && isOfThisPage(error)) {
            size.refuse(limit);
            continue;
          }
          if (!(error instanceof ReplyTooLargeError)) throw error;
          if (!asksForLess(query, limit)) {
            const advice = 'It cannot be asked for in smaller parts: narrow the query.';
            throw new BrokerReplyError(`${error.message} ${advice}`, { cause: error });
          }
          tooLarge += 1;
          continue;
        }
        const { reply, path } = answered;
        if (resource.answered.has(reply.status)) {
          const page = parsePage(reply);
          counts.note(page);
          collection.confirm(answered);
          known.keep();
          capabilities.setProvenPage(projection, limit);
          const atMs = clock.now();
          const tookMs = atMs - startedMs;
          noteSize(page, query, limit, tookMs);
          // Sources of a broker may each show one.
          if (isLook && new Set(page.ids).size <= Math.max(1, wanted / 10)) {
            tooLarge += 1;
            continue;
          }
          if (isLook) readableLimit = 1;
          const instances = instancesOf(query, projection);
          return { ...page, limit, instances, mayGrow: mayGrow(), atMs, tookMs, path };
        }
        if (limit > size.start && MAY_BE_SIZE.has(reply.status)) {
          size.refuse(limit);
          known.limitPages(size.size);
          continue;
        }
        const problem = parseBrokerProblem(reply);
        if (reply.status < 400) {
          throw new BrokerReplyError(
            `The broker answered a query with status ${reply.status} instead of 200.`,
          );
        }
        if (await adapt(query, limit, projection, known, problem)) continue;
        // The steps did not help, so the query is at fault.
        throw new BrokerRefusedError(resource.listing, problem, reply.headers.get('www-authenticate'));
      }
    },
  };
}

/** A page of this size cannot be had; a smaller one may. */
function isOfThisPage(error: unknown): boolean {
  return (
    error instanceof ReplyTooLargeError ||
    (error instanceof BrokerFailedError && error.reason === 'attempts-used-up')
  );
}

/** How many instances of each attribute a query asks for; undefined for all. */
function instancesOf(query: PageQuery, projection: Projection): number | undefined {
  return projection === 'recent' || projection === 'recent-times' ? (query.instances ?? 1) : undefined;
}

/** True when a problem names a parameter that a projection adds. */
function mentions(problem: BrokerProblem, projection: Projection): boolean {
  return PROJECTION_WORDS[projection]?.test(wordsOf(problem)) === true;
}
