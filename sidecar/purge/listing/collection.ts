import type { BrokerCapabilities, CollectionEnd } from '../broker/capabilities.js';
import type { BrokerReply, Failure } from '../broker/failure.js';
import { BrokerFailedError, BrokerRefusedError, BrokerReplyError } from '../errors.js';
import type { ListedResource } from './listed-resource.js';
import { parsePage, type PageQuery } from './page.js';
import { formatParameters, type Parameter } from '../query/parameters.js';
import type { PurgeRequest, Requester, Settled } from '../requests/requester.js';

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
    let settled: Settled = await requester.send(request, { allow403: true });
    // In a purge that has had answers, a query whose tries ran out is more likely bad luck than a dead broker, and
    // giving up would leave matches behind. A broker that really died stays dead for another round of tries.
    if (isBadLuck(settled) && requester.successes > 0) {
      settled = await requester.send(request, { allow403: true });
    }
    if (settled.kind === 'gave-up')
      throw new BrokerFailedError(resource.listing, settled.failure, 'attempts-used-up');
    return settled.reply;
  }

  /** The answer from a path that the broker may not serve; undefined when it does not answer a query there. */
  async function answerFrom(request: PurgeRequest): Promise<BrokerReply | undefined> {
    try {
      const settled = await requester.send(request, { allow403: true });
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
