import { QueryRefusedError } from './errors.js';

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

/** Parameters of Purge Entities (Table 6.4.3.3-1) beyond the selection, and this product's extensions. */
export const PURGE_PARAMETERS: ReadonlySet<string> = new Set(['drop', 'keep', 'dryRun', 'maxAffected']);

/**
 * Splits and decodes a query string; refuses what could be ignored or read in two ways.
 *
 * Decoded once, as forms are (`+` is a space), which is how brokers decode it too.
 *
 * @param query without the question mark
 * @throws QueryRefusedError for an unknown, repeated, empty, not encoded or undecodable parameter
 */
export function parseParameters(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  if (query === '') return parameters;
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals), pair);
    const value = equals === -1 ? '' : decode(pair.slice(equals + 1), name);
    if (!SELECTION_PARAMETERS.has(name) && !PURGE_PARAMETERS.has(name)) throw unknownParameter(name);
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

/** Builds a query string from decoded parameters; the inverse of parseParameters. */
export function formatParameters(parameters: Iterable<Parameter>): string {
  return Array.from(parameters, ({ name, value }) => `${name}=${encodeValue(value)}`).join('&');
}

/** Percent-encodes a value; `:`, `/` and `,` stay readable, which RFC 3986 § 3.4 allows in a query. */
function encodeValue(value: string): string {
  return encodeURIComponent(value).replaceAll('%3A', ':').replaceAll('%2F', '/').replaceAll('%2C', ',');
}

function decode(text: string, name: string): string {
  // Raw bytes beyond ASCII arrive as some other text (RFC 3986 § 2.1 has them percent-encoded).
  if (/[^\u0021-\u007e]/.test(text)) {
    const detail = `Parameter ${name} has characters that must be percent-encoded.`;
    throw new QueryRefusedError('invalidRequest', detail, name);
  }
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    const detail = `Parameter ${name} is not valid percent-encoded UTF-8.`;
    throw new QueryRefusedError('invalidRequest', detail, name, { cause });
  }
}

/** Why some well-known names are refused: an ignored parameter would silently widen a delete. */
const KNOWN_ELSEWHERE: Readonly<Record<string, string>> = {
  limit: 'a purge always deletes every match; use maxAffected to bound it',
  offset: 'a purge always deletes every match',
  count: 'use dryRun=true to count without deleting',
  pick: 'it selects output only; use drop or keep to remove attributes',
  omit: 'it selects output only; use drop or keep to remove attributes',
  options: 'it selects output only',
  format: 'it selects output only',
  datasetId: 'it is only known for temporal purges',
  lastN: 'it selects output only',
};

function unknownParameter(name: string): QueryRefusedError {
  if (name === '')
    return new QueryRefusedError('invalidRequest', 'The query has a parameter without a name.', name);
  const known = [...SELECTION_PARAMETERS, ...PURGE_PARAMETERS];
  const similar = known.find((candidate) => candidate.toLowerCase() === name.toLowerCase());
  const reason = Object.hasOwn(KNOWN_ELSEWHERE, name)
    ? `: ${KNOWN_ELSEWHERE[name] ?? ''}`
    : similar === undefined
      ? ': it is not known, and an ignored filter would widen the purge'
      : `: names are case-sensitive, it is spelled ${similar}`;
  return new QueryRefusedError(
    'invalidRequest',
    `Parameter ${name.slice(0, 100)} is not accepted by a purge${reason}.`,
    name.slice(0, 100),
  );
}
