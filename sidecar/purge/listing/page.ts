import type { BrokerReply } from '../broker/failure.js';
import { BrokerReplyError } from '../errors.js';
import type { Parameter } from '../query/parameters.js';

/** What to ask the broker for. */
export interface PageQuery {
  readonly selection: readonly Parameter[];
  readonly offset?: number;
  /** Ask for the total as well (clause 4.13). */
  readonly count?: boolean;
  /** At most this many, when less than a page is wanted. */
  readonly limit?: number;
  /** Matches still to come, if known: a page may be larger than usual when they would fill it. */
  readonly expected?: number;
  /** Temporal entities: instances of each attribute (lastN). @default 1 */
  readonly instances?: number;
  /** Include createdAt and modifiedAt (clause 6.3.11). */
  readonly needsTimes?: boolean;
  /** Send the query as its author would, without a projection. */
  readonly isBare?: boolean;
  /** Sent in place of the purge's own headers of these names; lower-case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How much of a page to ask for. */
export type PageShape = Pick<PageQuery, 'limit' | 'instances' | 'needsTimes' | 'isBare'>;

/** The parts of a result page that a purge needs. */
export interface Page {
  /** Ids in the order of the page, repeats included. */
  readonly ids: readonly string[];
  /** The listed entities; only their ids when the page was asked for with ids alone. */
  readonly entities: readonly Readonly<Record<string, unknown>>[];
  /** NGSILD-Results-Count (clause 6.3.13); undefined when it is missing or invalid. */
  readonly count: number | undefined;
  /** The broker wrote something there that is no count: negative, a fraction, not a number. */
  readonly hasInvalidCount: boolean;
  /** The answer links to a next page (clause 6.3.10). */
  readonly hasNext: boolean;
  /** Its Link header, which also names the @context that the broker used (clause 6.3.6). */
  readonly link?: string | undefined;
  /** NGSILD-Warning (clause 6.3.17): the result set is incomplete. */
  readonly warning: string | undefined;
  /** 206: instances are missing from the temporal evolutions (clause 6.3.10). */
  readonly isPartial: boolean;
  /** The broker created an entity map, which shows that it queried its context sources too. */
  readonly madeEntityMap: boolean;
  /** Characters of the answer. */
  readonly length: number;
}

/**
 * Reads the answer to a query.
 *
 * @throws BrokerReplyError when it is not an array of entities
 */
export function parsePage(reply: BrokerReply): Page {
  const entities = parseEntities(reply);
  const count = countOf(reply);
  return {
    entities,
    isPartial: reply.status === 206,
    ids: entities.map(idOf),
    count: count === 'invalid' ? undefined : count,
    hasInvalidCount: count === 'invalid',
    hasNext: hasNextLink(reply.headers.get('link')),
    link: reply.headers.get('link'),
    warning: reply.headers.get('ngsild-warning'),
    madeEntityMap: reply.headers.has('ngsild-entitymap'),
    length: reply.body.length,
  };
}

/** The header that holds the total (clause 6.3.13). */
export const COUNT_HEADER = 'ngsild-results-count';

/** The total that an answer names: a whole number from 0 on; `invalid` for anything else that was written there. */
export function countOf({ headers }: Pick<BrokerReply, 'headers'>): number | 'invalid' | undefined {
  const written = headers.get(COUNT_HEADER);
  if (written === undefined) return undefined;
  return /^\s*\d{1,15}\s*$/.test(written) ? Number(written) : 'invalid';
}

function parseEntities(reply: BrokerReply): readonly Readonly<Record<string, unknown>>[] {
  // Seen for limit=0 and on some empty results: 200 without a body.
  if (reply.body.trim() === '') return [];
  let body: unknown;
  try {
    body = JSON.parse(reply.body);
  } catch (cause) {
    throw new BrokerReplyError('The broker answered a query with something that is not JSON.', { cause });
  }
  if (!Array.isArray(body))
    throw new BrokerReplyError(
      'The broker answered a query with something that is not an array of entities.',
    );
  for (const entity of body as unknown[]) {
    if (typeof entity !== 'object' || entity === null || Array.isArray(entity)) {
      throw new BrokerReplyError(
        'The broker answered a query with an array of something other than entities.',
      );
    }
  }
  return body as Readonly<Record<string, unknown>>[];
}

function idOf(entity: Readonly<Record<string, unknown>>): string {
  const id = entity['id'] ?? entity['@id'];
  // An empty id would turn the delete of one entity into a delete of the collection.
  if (typeof id !== 'string' || id === '')
    throw new BrokerReplyError('The broker listed an entity without an id.');
  return id;
}

/** Looks for rel="next" among all link-values (RFC 8288); the @context link shares the header field. */
function hasNextLink(link: string | undefined): boolean {
  return link !== undefined && /;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\b)/i.test(link);
}
