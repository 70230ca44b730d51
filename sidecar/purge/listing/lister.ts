import {
  isAboutPageSize,
  parseBrokerProblem,
  parseJsonObject,
  ReplyTooLargeError,
  type BrokerCapabilities,
  type BrokerReply,
} from '../broker/index.js';
import { BrokerFailedError, BrokerRefusedError, BrokerReplyError } from '../errors.js';
import { formatParameters, type Parameter } from '../query/index.js';
import type { PurgeRequest, Requester } from '../requests/index.js';
import type { Clock } from '../../shared/clock.js';
import { PageSize, smallerThan, Trial, type PageTry, type Reception } from './page-limits.js';
import {
  hiddenFailure,
  parsePage,
  readPage,
  projectionParameters,
  type ListedPage,
  type ListedResource,
  type ParsedPage,
  type PageQuery,
} from './page.js';

export interface ListerOptions {
  readonly requester: Requester;
  readonly capabilities: BrokerCapabilities;
  /** Number of entities to ask for in one page, and the maximum if the broker is faster with larger pages. */
  readonly limits: { readonly pageSize: number; readonly pageSizeMax: number };
  readonly resource: ListedResource;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

interface Answered {
  readonly reply: BrokerReply;
  /** Below the API root, without the query. */
  readonly path: string;
}

/** A larger page of several entities is replaced by smaller ones, because reading it would block everything else. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** Statuses with which brokers refuse a page for its size, among other reasons. */
const MAY_BE_SIZE: ReadonlySet<number> = new Set([400, 403, 413, 422]);

/** Shows the pages of a query: a lister, or a wrapper that also checks them. */
export type PageSource = Pick<Lister, 'page' | 'showsAnything'>;

/** Lists the matches of a query, page by page, adapting to what the broker accepts. */
export class Lister {
  readonly #options: ListerOptions;
  readonly #size: PageSize;
  /** Whether matches were listed with an invalid count: the broker cannot count this query, so its empty lists are answers. */
  #isUncountable = false;
  /** Larger pages of this query are too large to be read; those of other queries may be smaller. */
  #readableLimit = Infinity;
  #isBareReadable = true;

  constructor(options: ListerOptions) {
    this.#options = options;
    const { pageSize, pageSizeMax } = options.limits;
    const most = Math.min(pageSizeMax, options.capabilities.get('page-max') ?? Infinity);
    this.#size = new PageSize(pageSize, most);
  }

  /** Whether the query shows anything when it is sent without paging, the way its author would send it. */
  async showsAnything(selection: readonly Parameter[]): Promise<boolean> {
    try {
      const { reply } = await this.#send(selection);
      return this.#isAnswer(reply) && parsePage(reply).ids.length > 0;
    } catch (error) {
      if (error instanceof ReplyTooLargeError) return true;
      throw error;
    }
  }

  /**
   * Fetches one page.
   *
   * @throws BrokerRefusedError if the broker refuses the query itself
   * @throws BrokerFailedError if the tries of the request are used up
   * @throws BrokerReplyError if the answer cannot be read
   */
  async page(asked: PageQuery): Promise<ListedPage> {
    const { capabilities, resource, clock } = this.#options;
    const trial = new Trial(capabilities, resource);
    let tooLarge = 0;
    for (;;) {
      const query = this.#isBareReadable ? asked : { ...asked, isBare: false };
      // After two pages that are too large, a look at a single entity tells whether the broker ignores limits.
      const wanted = this.#limitFor(query, trial);
      const isLook = tooLarge === 2 && wanted > 1;
      const tried = { query, limit: isLook ? 1 : wanted, projection: trial.projectionFor(query) };
      const startedMs = clock.monotonicMs();
      let answered: Answered;
      try {
        answered = await this.#ask(tried, trial);
      } catch (error) {
        if (this.#fallsBack(tried.limit, error)) continue;
        if (!(error instanceof ReplyTooLargeError)) throw error;
        this.#askForLess(tried, error);
        tooLarge += 1;
        continue;
      }
      if (this.#isAnswer(answered.reply)) {
        const page = await this.#accept(answered, tried, trial, startedMs);
        if (!isLook) return page;
        // Each context source of the broker may show one entity.
        const heedsLimits = new Set(page.ids).size <= Math.max(1, wanted / 10);
        if (!heedsLimits) {
          this.#readableLimit = 1;
          return { ...page, mayGrow: this.#mayGrow() };
        }
        tooLarge += 1;
      } else if (!(await this.#adapt(answered.reply, tried, trial))) {
        // The steps did not help, so the query is at fault.
        const problem = parseBrokerProblem(answered.reply);
        throw new BrokerRefusedError(
          resource.listing,
          problem,
          answered.reply.headers.get('www-authenticate'),
        );
      }
    }
  }

  #limitFor(query: PageQuery, trial: Trial): number {
    const { size, start } = this.#size;
    // A large page for a few matches would only reveal that the broker refuses it.
    const grows = query.limit !== undefined || (query.expected ?? 0) > start;
    const page = Math.min(grows ? size : start, trial.pageSizeMax, this.#readableLimit);
    return Math.max(1, Math.min(page, query.limit ?? Infinity));
  }

  #mayGrow(): boolean {
    const { size, isSettled } = this.#size;
    return (
      !isSettled &&
      size <= Math.min(this.#options.capabilities.get('page-max') ?? Infinity, this.#readableLimit)
    );
  }

  #isAnswer({ status }: BrokerReply): boolean {
    return this.#options.resource.answered.has(status);
  }

  async #ask({ query, limit, projection }: PageTry, trial: Trial): Promise<Answered> {
    const { selection, offset = 0, headers } = query;
    const parameters = [
      ...selection,
      ...projectionParameters(projection, query),
      { name: 'limit', value: String(limit) },
      ...(offset === 0 ? [] : [{ name: 'offset', value: String(offset) }]),
      ...(trial.asksCount(query) ? [{ name: 'count', value: 'true' }] : []),
    ];
    return this.#send(parameters, {
      headers,
      // For a single entity, nothing smaller can be asked for.
      replyMaxBytes: limit > 1 ? MAX_PAGE_BYTES : undefined,
      failureOf: (reply) =>
        this.#isAnswer(reply) && !this.#isUncountable ? hiddenFailure(reply, query) : undefined,
    });
  }

  /** Reads a page, and learns from it. */
  async #accept(
    { reply, path }: Answered,
    tried: PageTry,
    trial: Trial,
    startedMs: number,
  ): Promise<ListedPage> {
    const { capabilities, resource, clock } = this.#options;
    const { query, limit, projection } = tried;
    const atMs = clock.monotonicMs();
    const page = await readPage(reply, resource);
    this.#isUncountable ||= page.ids.length > 0 && page.hasInvalidCount;
    // From now on, the path that answered is the only one used.
    capabilities.learn('collection-end', path === `${resource.path}/` ? '/' : '');
    trial.keep();
    capabilities.learn(`page ${projection}`, limit);
    const tookMs = atMs - startedMs;
    this.#noteSize(page, tried, tookMs);
    const isRecent = projection === 'recent' || projection === 'recent-times';
    const instances = isRecent ? (query.instances ?? 1) : undefined;
    return { ...page, limit, instances, mayGrow: this.#mayGrow(), atMs, tookMs, path };
  }

  /** Learns from a page. A short page with more to come shows that the broker does not serve this size. */
  #noteSize({ ids, length, count = 0, hasNext }: ParsedPage, { query, limit }: PageTry, ms: number): void {
    if (ids.length === limit) this.#size.note({ limit, ms, length });
    else if (
      limit > this.#size.start &&
      ids.length < limit &&
      (hasNext || count > (query.offset ?? 0) + limit)
    )
      this.#size.refuse(limit);
  }

  /**
   * Gives up an increased page size if a page of that size is too large to be read, or if its tries are used up.
   *
   * @returns false if the error is not about an increased page size
   */
  #fallsBack(limit: number, error: unknown): boolean {
    const isOfThisPage =
      error instanceof ReplyTooLargeError ||
      (error instanceof BrokerFailedError && error.reason === 'attempts-used-up');
    if (limit <= this.#size.start || !isOfThisPage) return false;
    this.#size.refuse(limit);
    return true;
  }

  /** Asks for less after a page that is too large to be read. @throws BrokerReplyError if there is no smaller page */
  #askForLess({ query, limit }: PageTry, error: ReplyTooLargeError): void {
    const smaller = smallerThan(limit);
    // Other pages may have found out more in the meantime.
    if (smaller !== undefined) this.#readableLimit = Math.min(this.#readableLimit, smaller);
    else if (query.isBare === true) this.#isBareReadable = false;
    else {
      const advice = 'It cannot be asked for in smaller parts: narrow the query.';
      throw new BrokerReplyError(`${error.message} ${advice}`, { cause: error });
    }
  }

  /** Finds another way to ask for a page that was refused; false if there is none. */
  async #adapt(reply: BrokerReply, tried: PageTry, trial: Trial): Promise<boolean> {
    const { status } = reply;
    if (tried.limit > this.#size.start && MAY_BE_SIZE.has(status)) {
      this.#size.refuse(tried.limit);
      trial.limitPages(this.#size.size);
      return true;
    }
    if (status < 400)
      throw new BrokerReplyError(`The broker answered a query with status ${status} instead of 200.`);
    return trial.adapt(tried, parseBrokerProblem(reply), (other) => this.#receptionOf(other, trial));
  }

  async #receptionOf(tried: PageTry, trial: Trial): Promise<Reception> {
    try {
      const { reply } = await this.#ask(tried, trial);
      if (this.#isAnswer(reply)) return 'accepted';
      return isAboutPageSize(parseBrokerProblem(reply)) ? 'too-many' : 'refused';
    } catch (error) {
      // An answer that is too large to be read is an answer all the same. The page itself is then asked for in smaller steps.
      if (error instanceof ReplyTooLargeError) return 'accepted';
      throw error;
    }
  }

  /**
   * Sends a query until it is answered, to the path with or without a slash at its end, as the broker requires.
   *
   * @throws BrokerFailedError when its tries are used up, ReplyTooLargeError for more than `replyMaxBytes`
   */
  async #send(
    parameters: readonly Parameter[],
    sending: Pick<PurgeRequest, 'headers' | 'replyMaxBytes' | 'failureOf'> = {},
  ): Promise<Answered> {
    const { requester, resource, capabilities } = this.#options;
    const search = formatParameters(parameters);
    const known = capabilities.get('collection-end');
    const path = resource.path + (known ?? '');
    const request: PurgeRequest = {
      method: 'GET',
      path: `${path}?${search}`,
      operation: resource.listing,
      accepts403: true,
      ...sending,
      mayBeDeep: resource.mayBeDeep,
    };
    let settled = await requester.send(request);
    // In a purge that has had answers, a query whose tries ran out is more likely bad luck than a dead broker, and
    // giving up would leave matches behind. A broker that really died stays dead for another round of tries. An @context
    // that is unavailable stays so.
    const mayPass = settled.kind === 'gave-up' && settled.failure.kind !== 'context-unavailable';
    if (mayPass && requester.hasAnswered) settled = await requester.send(request);
    if (settled.kind === 'gave-up')
      throw new BrokerFailedError(resource.listing, settled.failure, 'attempts-used-up');
    const { reply } = settled;
    if (known !== undefined || reply.status !== 404) return { reply, path };
    const otherPath = `${resource.path}/`;
    const other = await this.#answerFrom({ ...request, path: `${otherPath}?${search}` }, reply);
    return other === undefined ? { reply, path } : { reply: other, path: otherPath };
  }

  /**
   * Sends a query to a path that the broker may not serve; undefined if the broker does not answer a query there.
   *
   * @param refused its answer to the same query at the other path
   */
  async #answerFrom(request: PurgeRequest, refused: BrokerReply): Promise<BrokerReply | undefined> {
    const { requester, resource } = this.#options;
    try {
      const settled = await requester.send(request);
      if (settled.kind === 'gave-up') {
        // A 404 without a problem says nothing about the query: the broker does not know that path, and fails at this one.
        if (parseJsonObject(refused.body) !== undefined) return undefined;
        throw new BrokerFailedError(resource.listing, settled.failure, 'attempts-used-up');
      }
      const { reply } = settled;
      // These may be about the size of the page, or about the projection.
      if (reply.status === 400 || reply.status === 403) return reply;
      if (!this.#isAnswer(reply) || reply.body.trim() === '') return undefined;
      parsePage(reply);
      return reply;
    } catch (error) {
      if (error instanceof BrokerReplyError || error instanceof BrokerRefusedError) return undefined;
      throw error;
    }
  }
}

/**
 * Yields the pages of a query that shows at most `most` entities, until all are shown or a page is empty.
 *
 * @throws as Lister.page()
 */
export async function* pagesUpTo(
  lister: Pick<PageSource, 'page'>,
  selection: readonly Parameter[],
  most: number,
): AsyncGenerator<ListedPage, void> {
  for (let offset = 0; offset < most;) {
    const page = await lister.page({ selection, offset, limit: most });
    yield page;
    if (page.ids.length === 0) return;
    offset += page.ids.length;
  }
}
