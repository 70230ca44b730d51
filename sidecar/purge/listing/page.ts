import type { BrokerReply, Projection, Failure } from '../broker/index.js';
import { BrokerReplyError } from '../errors.js';
import {
  type EntityList,
  entityListOf,
  type IdsIn,
  type ListedEntity,
  NOT_JSON,
} from '../../ngsi-ld/entity-list.js';
import type { Parameter } from '../query/index.js';
import { parseToKeep, parseWithDoubles } from '../../shared/json/lossless-json.js';

/** What to ask the broker for. */
export interface PageQuery {
  readonly selection: readonly Parameter[];
  readonly offset?: number;
  /** Ask for the total as well (clause 4.13). */
  readonly count?: boolean;
  /** Maximum number of entities, if fewer than a page are wanted. */
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
export interface ParsedPage {
  /** Ids in the order of the page, repeats included. */
  readonly ids: readonly string[];
  /** See entitiesIn(); undefined if only the ids were read. */
  readonly entities: readonly ListedEntity[] | undefined;
  /** NGSILD-Results-Count (clause 6.3.13); undefined when it is missing or invalid. */
  readonly count: number | undefined;
  /** Whether that header has something that is not a count: negative, a fraction, or not a number. */
  readonly hasInvalidCount: boolean;
  /** Whether the answer links to a next page (clause 6.3.10). */
  readonly hasNext: boolean;
  /** Its Link header, which also names the @context that the broker used (clause 6.3.6). */
  readonly link?: string | undefined;
  /** NGSILD-Warning (clause 6.3.17): the result set is incomplete. */
  readonly warning: string | undefined;
  /** Whether instances are missing from the temporal evolutions (206, clause 6.3.10). */
  readonly isPartial: boolean;
  /** Whether the broker created an entity map, which shows that it queried its context sources too. */
  readonly madeEntityMap: boolean;
  /** Characters of the answer. */
  readonly length: number;
  /** Whether bytes that are not UTF-8 were replaced by U+FFFD. */
  readonly isDamaged: boolean;
  /** The text of the answer, if the resource keeps it. */
  readonly body?: string;
}

/** A list of matches. */
export interface Listed {
  /** When the broker's answer came, in milliseconds by the monotonic clock. */
  readonly atMs: number;
  /** How long the broker took for it, in milliseconds. */
  readonly tookMs: number;
}

/** A page, and what was finally asked for. */
export interface ListedPage extends ParsedPage, Listed {
  readonly limit: number;
  /** Instances of each attribute that were asked for; undefined for all. */
  readonly instances: number | undefined;
  /** Whether a page of another size may follow. */
  readonly mayGrow: boolean;
  /** The path that listed it, below the API root: the collection, with a slash at the end if the broker requires one. */
  readonly path: string;
}

/**
 * Reads the answer to a query.
 *
 * @param isExact keep numbers that a double cannot hold as they are written
 * @param keepsText keep the text of the answer
 * @throws BrokerReplyError if it is not an array of entities
 */
export function parsePage(reply: BrokerReply, isExact = false, keepsText = isExact): ParsedPage {
  return pageOf(reply, parseEntities(reply, isExact), keepsText);
}

/** Reads the answer to a query of a resource, which may have a way of its own to read ids. @throws BrokerReplyError */
export async function readPage(
  reply: BrokerReply,
  { isExact, keepsText, readIds }: ListedResource,
): Promise<ParsedPage> {
  const read = isBlank(reply) ? undefined : await readIds?.(reply.body);
  return read === undefined ? parsePage(reply, isExact, keepsText) : pageOf(reply, read, keepsText);
}

/** The listed entities; only their ids when the page was asked for with ids alone. */
export function entitiesIn({ entities: parsed }: Pick<ParsedPage, 'entities'>): readonly ListedEntity[] {
  if (parsed === undefined) throw new Error('Only the ids of this page were read.');
  return parsed;
}

function pageOf(reply: BrokerReply, list: EntityList | IdsIn, keepsText = false): ParsedPage {
  if ('fault' in list) throw new BrokerReplyError(`The broker ${list.fault}.`);
  if (isFromCache(reply)) throw new BrokerReplyError(FROM_CACHE);
  // The id as it was read may be that of another entity.
  if (reply.isDamaged === true && list.ids.some((id) => id.includes(REPLACED)))
    throw new BrokerReplyError('The broker listed an id that is not UTF-8, so its entity cannot be named.');
  const count = countOf(reply);
  return {
    entities: 'entities' in list ? list.entities : undefined,
    isPartial: reply.status === 206,
    ids: list.ids,
    count: count === 'invalid' ? undefined : count,
    hasInvalidCount: count === 'invalid',
    hasNext: hasNextLink(reply.headers.get('link')),
    link: reply.headers.get('link'),
    warning: reply.headers.get('ngsild-warning'),
    madeEntityMap: reply.headers.has('ngsild-entitymap'),
    length: reply.body.length,
    isDamaged: reply.isDamaged === true,
    ...(keepsText ? { body: reply.body } : {}),
  };
}

const FROM_CACHE =
  'A cache answered a query in place of the broker, so the list may be old, or that of another tenant. ' +
  'Exclude the broker from the cache, or let BROKER_URL bypass it.';

/** Headers in which caches say that they had the answer: Kong and nginx (also an old one), others. */
const STORED: readonly (readonly [header: string, says: RegExp])[] = [
  ['x-cache-status', /(?<![a-z])(?:hit|stale|updating)(?![a-z])/i],
  ['x-cache', /(?<![a-z])hit(?![a-z])/i],
];

/** Whether an answer was stored by a cache, for a second or longer (RFC 9111, clause 5.1) or by what the cache says. */
function isFromCache({ headers }: BrokerReply): boolean {
  if (Number(headers.get('age') ?? 0) >= 1 || saysHit(headers.get('cache-status') ?? '')) return true;
  return STORED.some(([header, says]) => says.test(headers.get(header) ?? ''));
}

/**
 * Whether a Cache-Status says that a cache had the answer: its parameter `hit`, which is true without a value (RFC 9211; lists
 * and parameters as in RFC 9651). Some write the word of X-Cache-Status instead.
 */
function saysHit(cacheStatus: string): boolean {
  const withoutStrings = cacheStatus.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  return withoutStrings.split(',').some((member) => {
    const [cache = '', ...parameters] = member.split(';').map((part) => part.trim().toLowerCase());
    if (parameters.length === 0) return /^(?:hit|stale|updating)(?![^ ])/.test(cache);
    return parameters.some((parameter) => /^hit\s*(?:=|$)/.test(parameter) && parameter !== 'hit=?0');
  });
}

/** Stands for each byte that is not UTF-8. */
export const REPLACED = '\ufffd';

/** The header that holds the total (clause 6.3.13). */
const COUNT_HEADER = 'ngsild-results-count';

/** Reads the total that an answer names: a whole number from 0 on; `invalid` for anything else in the header. */
function countOf({ headers }: Pick<BrokerReply, 'headers'>): number | 'invalid' | undefined {
  const written = headers.get(COUNT_HEADER);
  if (written === undefined) return undefined;
  return /^\s*\d{1,15}\s*$/.test(written) ? Number(written) : 'invalid';
}

/**
 * Whether an answer is an empty list without a body. Brokers answer limit=0, and some queries that match nothing, with 200 and
 * no body. A proxy that answers in place of the broker says that the body is text or HTML.
 */
function isBlank({ body, headers }: BrokerReply): boolean {
  return body.trim() === '' && /json|^$/i.test(headers.get('content-type') ?? '');
}

function parseEntities(reply: BrokerReply, isExact: boolean): EntityList {
  if (isBlank(reply)) return { entities: [], ids: [] };
  let body: unknown;
  try {
    body = isExact ? parseToKeep(reply.body) : parseWithDoubles(reply.body);
  } catch (cause) {
    throw new BrokerReplyError(`The broker ${NOT_JSON.fault}.`, { cause });
  }
  return entityListOf(body);
}

/** Looks for rel="next" among all link-values (RFC 8288); the @context link shares the header field. */
function hasNextLink(link = ''): boolean {
  // Relations are told apart after the match: within it, an endless list of them would take the square of its length.
  const relations = link.matchAll(/;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/gi);
  for (const [, quoted, token = ''] of relations)
    if ((quoted ?? token).toLowerCase().split(/\s+/).includes('next')) return true;
  return false;
}

/** Reads the ids of the entities in the text of a page, or says why it is not one; see `EntityList`. */
export type ReadIds = (text: string) => Promise<IdsIn | undefined>;

/** A collection of the broker that can be listed, and the ways to ask for no more than is needed. */
export interface ListedResource {
  /** Below the API root. */
  readonly path: '/entities' | '/temporal/entities';
  /** Completes "The broker did not …". */
  readonly listing: string;
  /** Statuses with which a query of it is answered. */
  readonly answered: ReadonlySet<number>;
  /** What is listed is to be archived: pages keep exact numbers, and the text of the answer. */
  readonly isExact?: true;
  /** Pages keep the text of the answer. */
  readonly keepsText?: true;
  /** Nothing follows the nesting of what is listed: it is used as text, or only its top levels are. */
  readonly mayBeDeep?: true;
  /** Reads the ids in the text of an answer, so that its entities are not needed here; undefined if that failed. */
  readonly readIds?: ReadIds | undefined;
  /** Ways to ask for no more than is needed, best first; the last one is the bare query. */
  projectionsOf(query: PageQuery): readonly Projection[];
}

/**
 * Entities (clause 6.4.3.2).
 *
 * @param content `ids`: only ids are needed; `attributes`: the attributes are needed as well; `whole`: everything is needed,
 *   to archive or compare parts; `archived`: everything is needed, as the text of the answer; `text`: the text of the answer is
 *   needed
 * @param readIds see ListedResource
 */
export function entities(
  content: 'ids' | 'attributes' | 'whole' | 'archived' | 'text',
  readIds?: ReadIds,
): ListedResource {
  return {
    readIds,
    path: '/entities',
    listing: 'list the matching entities',
    answered: new Set([200, 201, 203]),
    ...(content === 'whole' ? { isExact: true } : { mayBeDeep: true }),
    ...(content === 'text' || content === 'archived' ? { keepsText: true } : {}),
    // `attrs` already narrows the output, and is not mixed with `pick`.
    projectionsOf: ({ selection, needsTimes }) => {
      if (needsTimes === true || content === 'whole' || content === 'archived') return ['times', 'none'];
      const isNarrow = selection.some(({ name }) => name === 'attrs');
      return content === 'ids' && !isNarrow ? ['pick', 'key-values', 'none'] : ['none'];
    },
  };
}

/**
 * Temporal evolutions of entities (clause 6.18.3.2); 206 says that instances are missing from the answer.
 *
 * @param isExact see ListedResource
 */
export function temporalEntities(isExact = false): ListedResource {
  return {
    ...(isExact ? { isExact } : {}),
    path: '/temporal/entities',
    listing: 'list the matching temporal entities',
    answered: new Set([200, 201, 203, 206]),
    projectionsOf: ({ isBare, needsTimes }) => {
      if (isBare === true) return needsTimes === true ? ['times', 'none'] : ['none'];
      return needsTimes === true ? ['recent-times', 'recent', 'times', 'none'] : ['recent', 'none'];
    },
  };
}

const SYS_ATTRS: Parameter = { name: 'options', value: 'sysAttrs' };

/** The query parameters that a projection adds. */
export function projectionParameters(
  projection: Projection,
  { instances = 1 }: PageQuery,
): readonly Parameter[] {
  const lastN: Parameter = { name: 'lastN', value: String(instances) };
  switch (projection) {
    case 'pick':
      return [{ name: 'pick', value: 'id' }];
    case 'key-values':
      return [{ name: 'options', value: 'keyValues' }];
    case 'recent-times':
      return [lastN, SYS_ATTRS];
    case 'recent':
      return [lastN];
    case 'times':
      return [SYS_ATTRS];
    case 'none':
      return [];
  }
}

/** The words of a problem that is about the parameters of a projection. */
export const PROJECTION_WORDS: Readonly<Record<Projection, RegExp | undefined>> = {
  pick: /\bpick\b/i,
  'key-values': /\boptions\b|keyValues/i,
  'recent-times': /\blastN\b|\boptions\b|sysAttrs/i,
  recent: /\blastN\b/i,
  times: /\boptions\b|sysAttrs/i,
  none: undefined,
};

/**
 * Returns the failure behind an answer that looks like an empty page; undefined if the answer can be believed. Some brokers
 * answer `200 []` when their database fails, with a count that was never set (Orion-LD).
 */
export function hiddenFailure(
  reply: BrokerReply,
  { selection }: Pick<PageQuery, 'selection'>,
): Failure | undefined {
  const isEmpty = /^\s*(?:\[\s*\]\s*)?$/.test(reply.body);
  if (!isEmpty || countOf(reply) !== 'invalid' || isByDistance(selection)) return undefined;
  const written = (reply.headers.get(COUNT_HEADER) ?? '').trim().slice(0, 40);
  const message = `it answered an empty list with the impossible count ${written}`;
  return { kind: 'failed-query', cause: new Error(message) };
}

/** MongoDB cannot count by distance, and a broker on it says so by a negative count (Orion-LD: -2). */
function isByDistance(selection: PageQuery['selection']): boolean {
  return selection.some(({ name, value }) => name === 'georel' && value.startsWith('near'));
}
