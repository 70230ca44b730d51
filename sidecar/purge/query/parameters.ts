import { CONTEXT_RELATION, linksIn } from '../../ngsi-ld/context-link.js';
import { optionsIn } from '../../shared/purge-options.js';
import { closestMatch } from '../../shared/misspelling.js';
import { QueryRefusedError } from '../errors.js';
import { isName, MAX_NAME_CHARS } from '../../ngsi-ld/names.js';

/** One decoded query parameter. */
export interface Parameter {
  readonly name: string;
  readonly value: string;
}

/** Selecting parameters of Query Entities (clause 6.4.3.2) that go to the broker as they are. */
export const SELECTION_PARAMETERS: ReadonlySet<string> = new Set([
  'type',
  'id',
  'idPattern',
  'attrs',
  'q',
  'georel',
  'geometry',
  'coordinates',
  'geoproperty',
  'geometryProperty',
  'scopeQ',
  'csf',
  'expandValues',
  'jsonKeys',
  'local',
]);

/** This product's extensions; they never reach a broker. */
export const EXTENSIONS = optionsIn('query');

const OUTPUT_ONLY = 'it only shapes the output';
const ALWAYS_ALL = 'a purge always deletes every match';

/** The parameters of a kind of purge, and why it refuses some well-known names: ignoring one would widen the delete. */
export interface AcceptedParameters {
  readonly names: ReadonlySet<string>;
  readonly reasons: Readonly<Record<string, string>>;
  /** What has these parameters, for messages. @default a purge */
  readonly of?: string;
}

/** Parameters of Purge Entities (Table 6.4.3.3-1), of the selection, and extensions. */
export const ENTITY_PARAMETERS: AcceptedParameters = {
  names: new Set([...SELECTION_PARAMETERS, 'drop', 'keep', ...EXTENSIONS]),
  reasons: {
    limit: `${ALWAYS_ALL}; use maxAffected to bound it`,
    offset: ALWAYS_ALL,
    count: 'use dryRun=true to count without deleting',
    pick: `${OUTPUT_ONLY}; use drop or keep to remove attributes`,
    omit: `${OUTPUT_ONLY}; use drop or keep to remove attributes`,
    options: OUTPUT_ONLY,
    format: OUTPUT_ONLY,
    lastN: OUTPUT_ONLY,
    ...Object.fromEntries(
      ['datasetId', 'timerel', 'timeAt', 'endTimeAt', 'timeproperty'].map((name) => [
        name,
        'it is for temporal purges only (DELETE /ngsi-ld/v1/temporal/entities)',
      ]),
    ),
  },
};

/** Parameters of a time filter (clause 4.11). */
export const TIME_PARAMETERS = ['timerel', 'timeAt', 'endTimeAt', 'timeproperty'] as const;

/** Parameters of a temporal purge: those that select in Query Temporal Evolution (clause 6.18.3.2), and extensions. */
export const TEMPORAL_PARAMETERS: AcceptedParameters = {
  names: new Set([...SELECTION_PARAMETERS, 'datasetId', ...TIME_PARAMETERS, ...EXTENSIONS]),
  reasons: {
    limit: `${ALWAYS_ALL}; use maxAffected to bound it`,
    offset: ALWAYS_ALL,
    count: 'use dryRun=true to count without deleting',
    pick: `${OUTPUT_ONLY}; use attrs to purge single attributes`,
    omit: `${OUTPUT_ONLY}; use attrs to purge single attributes`,
    options: `${OUTPUT_ONLY}, and temporalValues or aggregatedValues name no instances`,
    format: `${OUTPUT_ONLY}, and temporalValues or aggregatedValues name no instances`,
    lastN: `${OUTPUT_ONLY}, the newest instances; to keep the newest and purge the others, use timerel=before`,
    aggrMethods: 'an aggregation names no instances that could be deleted',
    aggrPeriodDuration: 'an aggregation names no instances that could be deleted',
    drop: 'use attrs to purge attributes from temporal evolutions',
    keep: 'use attrs to purge attributes from temporal evolutions',
  },
};

/** The decoded parameters of a query, by name. */
export type PurgeParameters = ReadonlyMap<string, string>;

/**
 * Reads a query, and refuses what could be ignored or read in two ways.
 *
 * A query string is decoded once, as forms are (`+` is a space), which is how brokers decode it too.
 *
 * @param query a query string without its question mark, or parameters that are decoded already
 * @throws QueryRefusedError for an unknown, repeated, empty, not encoded or undecodable parameter, or one with control
 *   characters
 */
export function parseParameters(
  query: string | PurgeParameters,
  accepted: AcceptedParameters,
): PurgeParameters {
  const parameters = new Map<string, string>();
  for (const [name, value] of typeof query === 'string' ? pairsOf(query) : query) {
    if (!accepted.names.has(name)) throw unknownParameter(name, accepted);
    if (parameters.has(name)) {
      throw new QueryRefusedError('invalidRequest', `Parameter ${name} is given more than once.`, name);
    }
    if (value.trim() === '') {
      throw new QueryRefusedError('invalidRequest', `Parameter ${name} has no value.`, name);
    }
    if (/[\u0000-\u001f\u007f]/.test(value)) {
      throw new QueryRefusedError('invalidRequest', `Parameter ${name} contains control characters.`, name);
    }
    parameters.set(name, value);
  }
  return parameters;
}

function* pairsOf(query: string): Generator<readonly [name: string, value: string]> {
  if (query === '') return;
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals), pair);
    yield [name, equals === -1 ? '' : decode(pair.slice(equals + 1), name)];
  }
}

/** Returns a query as a query string. A query string stays as it is. */
export function queryText(query: string | PurgeParameters): string {
  return typeof query === 'string'
    ? query
    : formatParameters(Array.from(query, ([name, value]) => ({ name, value })));
}

/** Builds a query string from decoded parameters; the inverse of parseParameters. */
export function formatParameters(parameters: Iterable<Parameter>): string {
  return Array.from(parameters, ({ name, value }) => `${name}=${encodeValue(value)}`).join('&');
}

/** Whether a query can ask for an id. Commas separate ids, and a lone surrogate cannot be percent-encoded. */
export function isAskable(id: string): boolean {
  return !id.includes(',') && id.isWellFormed();
}

/** Percent-encodes a value; `:`, `/` and `,` stay readable, which RFC 3986 § 3.4 allows in a query. */
function encodeValue(value: string): string {
  return encodeURIComponent(value).replaceAll('%3A', ':').replaceAll('%2F', '/').replaceAll('%2C', ',');
}

function decode(text: string, name: string): string {
  // Raw bytes beyond ASCII would arrive as some other text (RFC 3986 § 2.1 requires percent-encoding).
  if (/[^\u0021-\u007e]/.test(text)) {
    const detail = `Parameter ${name} contains characters that must be percent-encoded.`;
    throw new QueryRefusedError('invalidRequest', detail, name);
  }
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    const detail = `Parameter ${name} is not valid percent-encoded UTF-8.`;
    throw new QueryRefusedError('invalidRequest', detail, name, { cause });
  }
}

function unknownParameter(
  name: string,
  { names, reasons, of = 'a purge' }: AcceptedParameters,
): QueryRefusedError {
  if (name === '')
    return new QueryRefusedError('invalidRequest', 'The query has a parameter without a name.', name);
  const near = closestMatch(name, names);
  const reason = Object.hasOwn(reasons, name)
    ? `: ${reasons[name] ?? ''}`
    : near?.toLowerCase() === name.toLowerCase()
      ? `: names are case-sensitive; use ${near}`
      : ': it is unknown, and an ignored filter would widen ' +
        `${of.replace(/^a /, 'the ')}${near === undefined ? '' : `; did you mean ${near}?`}`;
  return new QueryRefusedError(
    'invalidRequest',
    `Parameter ${name.slice(0, 100)} is not accepted by ${of}${reason}${reason.endsWith('?') ? '' : '.'}`,
    name.slice(0, 100),
  );
}

/** Maximum number of names in one list. Each name in drop and keep takes one query. */
const MAX_NAMES = 1000;

/**
 * Returns the names in a comma-separated list of attributes, each a term, a compact IRI or an IRI; undefined if the parameter
 * is missing. Refuses what could mean something else to a broker: paths, braces, wildcards.
 *
 * @throws QueryRefusedError
 */
export function namesOf(
  parameters: ReadonlyMap<string, string>,
  parameter: string,
): readonly string[] | undefined {
  const names = itemsOf(parameters, parameter);
  for (const name of names ?? []) checkName(name, parameter, 'an attribute name such as speed');
  return names;
}

/** Returns the items of a comma-separated list; undefined if the parameter is missing. @throws QueryRefusedError */
export function itemsOf(
  parameters: ReadonlyMap<string, string>,
  parameter: string,
): readonly string[] | undefined {
  const value = parameters.get(parameter);
  if (value === undefined) return undefined;
  const items = value.split(',');
  if (items.some((item) => item === '' || /\s/.test(item))) {
    throw refusedData(
      parameter,
      `${parameter} must be a comma-separated list of names, without spaces or empty items.`,
    );
  }
  if (items.length > MAX_NAMES) {
    throw refusedData(
      parameter,
      `${parameter} takes at most ${MAX_NAMES} names; this list has ${items.length}.`,
    );
  }
  return items;
}

/**
 * Checks one name.
 *
 * @param expected what it should be, e.g. "an attribute name such as speed"
 * @throws QueryRefusedError
 */
export function checkName(name: string, parameter: string, expected: string): void {
  if (isName(name)) return;
  const shown = `"${name.slice(0, 200)}"`;
  throw refusedData(parameter, `${parameter}: ${shown} is not ${expected}, or an IRI: ${faultOf(name)}.`);
}

function faultOf(name: string): string {
  if (name.length > MAX_NAME_CHARS) return `it is longer than ${MAX_NAME_CHARS} characters`;
  if (/[{}]/.test(name)) return 'braces select linked entities, which a purge does not follow';
  if (name.includes('*')) return 'wildcards are not supported';
  if (/[[\]]/.test(name)) return 'brackets select part of a value, and only whole attributes can be named';
  return 'a name has letters, digits, "_", "-" and "."';
}

/** Returns the refusal of a parameter's content. */
export function refusedData(parameter: string | undefined, message: string): QueryRefusedError {
  return new QueryRefusedError('badRequestData', message, parameter);
}

/** Returns the URLs of the @contexts that a Link header names. */
export function contextsOfLink(link = ''): readonly string[] {
  return linksIn(link).flatMap(({ url, isContext }) => (isContext ? [url.trim()] : []));
}

/**
 * Returns the URL of the @context of a request; undefined without a Link header.
 *
 * @throws QueryRefusedError for a Link that does not name exactly one @context: brokers would ignore the header, or choose
 *   one
 */
export function contextOfRequest(link: string | undefined): string | undefined {
  if (link === undefined) return undefined;
  const [url, another] = contextsOfLink(link);
  if (url !== undefined && another === undefined) return url;
  throw new QueryRefusedError(
    'invalidRequest',
    'The Link of a purge must name one @context, as in ' +
      `<https://models.example/context.jsonld>; rel="${CONTEXT_RELATION}"; ` +
      `type="application/ld+json". This one names ${url === undefined ? 'none' : 'several'}.`,
    'Link',
  );
}
