import { NON_ATTRIBUTE_MEMBERS } from '../../ngsi-ld/members.js';
import { conditionsOf, parseQ } from '../../ngsi-ld/q.js';
import { parseTypeSelector, typeNamesOf } from '../../ngsi-ld/type-selector.js';
import { BrokerFailedError, FilterIgnoredError } from '../errors.js';
import { contextsOfLink, type Parameter, formatParameters } from '../query/index.js';
import { parseBrokerProblem } from '../broker/index.js';
import { type ListedPage, parsePage, type ParsedPage } from '../listing/index.js';
import type { Requester } from '../requests/index.js';

/** Terms of the core @context that queries use; no other @context may give them another meaning (clause 5.5.7). */
const CORE_TERMS: ReadonlySet<string> = new Set([
  ...NON_ATTRIBUTE_MEMBERS,
  'location',
  'observationSpace',
  'operationSpace',
  'observedAt',
  'unitCode',
  'datasetId',
]);

const IRI = /^(?:[A-Za-z][A-Za-z0-9+.-]*:\/\/|urn:)/;

/**
 * Whether the @context of a request decides what a query means: it is not the core @context, and the query has a name that is
 * neither an IRI nor a term of the core @context.
 *
 * @param url the URL of the @context
 * @param removed attributes to drop or to keep
 */
export function dependsOnContext(
  url: string,
  selection: readonly Parameter[],
  removed: readonly string[] = [],
): boolean {
  if (CORE_CONTEXT.test(url)) return false;
  const names = [...removed, ...selection.flatMap(namesIn)];
  return names.some((name) => !IRI.test(name) && !CORE_TERMS.has(name));
}

function namesIn({ name, value }: Parameter): readonly string[] {
  switch (name) {
    case 'type':
      return typeNamesOf(parseTypeSelector(value));
    case 'q':
      return conditionsOf(parseQ(value)).flatMap(({ path }) => path.names);
    case 'attrs':
    case 'expandValues':
    case 'jsonKeys':
      return value.split(',');
    case 'geoproperty':
      return [value];
    default:
      return [];
  }
}

/** The core @context, which every broker has and always applies. */
const CORE_CONTEXT =
  /^https?:\/\/uri\.etsi\.org\/ngsi-ld\/(?:v[\d.]+\/)?ngsi-ld-core-context[^/?#]*\.jsonld$/;

/** No service listens on port 1, so the @context cannot be fetched, and the attempt fails at once. */
const UNFETCHABLE = 'http://127.0.0.1:1/no-such-context-purge-probe.jsonld';
const UNFETCHABLE_LINK = `<${UNFETCHABLE}>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"`;

/** Statuses which say that the query cannot be read with this @context. */
const REFUSED: ReadonlySet<number> = new Set([400, 404, 409, 422, 424]);

/** This many server errors in a row say the same, because the query itself is answered. */
const MAX_SERVER_ERRORS = 3;

const ADVICE =
  'so the query might match other entities. Nothing was deleted. Check that the ' +
  'broker can fetch the @context, or write full IRIs in place of short names and leave out Link.';

/** What the broker did with an @context that cannot be fetched. */
type LinkAnswer = { readonly kind: 'refused' } | { readonly kind: 'answered'; readonly page: ParsedPage };

/** Which matches are asked for. */
interface Look {
  readonly limit: number;
  readonly offset: number;
}

const FIRST: Look = { limit: 1, offset: 0 };

/** Why the broker is known to have used the @context. `names-it`: only as long as each page names it. */
export type LinkProof = 'refuses-others' | 'reads-differently' | 'names-it';

export interface LinkProofOptions {
  readonly requester: Requester;
  /** Whether the broker may be asked for a count. */
  readonly asksCount: boolean;
  /** The path that lists the matches, below the API root. */
  readonly path: string;
  readonly selection: readonly Parameter[];
  /** The @context that the purge names. */
  readonly url: string;
}

/**
 * Proves that the broker reads the query with the @context of the purge. Some brokers go on without an @context that they
 * cannot fetch, and then give short names another meaning. One of these observations is enough:
 *
 * - The broker refuses the same query with an @context that cannot be fetched. So it does not go on without one, and has that
 *   of the purge.
 * - That query shows nothing on the very page on which the purge's own query shows something. So the broker did not read them
 *   in the same way.
 * - The answer to that query names another @context than the one asked for, so the broker is honest about what it used, and
 *   every page of the purge names that of the purge.
 *
 * Only the first observation says something about the broker in general. The others only show that it could fetch the @context
 * just now.
 *
 * @param listed a page that lists something, and its offset
 * @throws FilterIgnoredError
 */
export async function proveLink(
  options: LinkProofOptions,
  listed: ListedPage,
  offset = 0,
): Promise<LinkProof> {
  const isOfOne = listed.limit === 1 && offset === 0;
  // A page of one entity, or the first page, may show nothing although the page that listed something would.
  for (const look of isOfOne ? [FIRST] : [FIRST, { limit: listed.limit, offset }]) {
    const answer = await askUnfetchable(options, look);
    if (answer.kind === 'refused') return 'refuses-others';
    const { ids, count, link } = answer.page;
    if (ids.length === 0) {
      if (count === 0) return 'reads-differently';
      continue;
    }
    const [used] = contextsOfLink(link);
    if (used === undefined || used === UNFETCHABLE)
      throw unproven(
        'The broker lists the same query with an @context that cannot be fetched, and does not say which one it used',
      );
    checkContext(listed, options.url);
    return 'names-it';
  }
  return 'reads-differently';
}

/** @throws FilterIgnoredError for a page that does not name the @context */
export function checkContext({ link }: Pick<ParsedPage, 'link'>, url: string): void {
  if (contextsOfLink(link)[0] === url) return;
  throw unproven('The broker did not use the @context of Link: its answer names another one or none');
}

function unproven(why: string): FilterIgnoredError {
  return new FilterIgnoredError('Link', `${why}, ${ADVICE}`);
}

async function askUnfetchable(
  { requester, path, selection, asksCount }: LinkProofOptions,
  { limit, offset }: Look,
): Promise<LinkAnswer> {
  const parameters = [
    ...selection,
    { name: 'limit', value: String(limit) },
    ...(offset === 0 ? [] : [{ name: 'offset', value: String(offset) }]),
    ...(asksCount ? [{ name: 'count', value: 'true' }] : []),
  ];
  const request = {
    method: 'GET',
    path: `${path}?${formatParameters(parameters)}`,
    operation: 'list with another @context',
    headers: { link: UNFETCHABLE_LINK },
    accepts403: true,
    acceptsServerErrors: true,
  } as const;
  for (let look = 1; ; look++) {
    const settled = await requester.send(request);
    if (settled.kind === 'gave-up')
      throw new BrokerFailedError(request.operation, settled.failure, 'attempts-used-up');
    const { reply } = settled;
    if (reply.status < 300) return { kind: 'answered', page: parsePage(reply) };
    if (REFUSED.has(reply.status)) return { kind: 'refused' };
    if (reply.status < 500)
      throw unproven(
        `An @context that cannot be fetched is answered with status ${reply.status}, ` +
          'which does not show whether the broker would go on without it',
      );
    const problem = parseBrokerProblem(reply);
    const isAboutContext = /LdContextNotAvailable/i.test(problem.type ?? '');
    if (isAboutContext || look === MAX_SERVER_ERRORS) return { kind: 'refused' };
    await requester.waitBeforeCheck(look);
  }
}
