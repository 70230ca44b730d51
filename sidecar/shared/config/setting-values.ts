/** Parsers for the values of settings. */

import { isIP } from 'node:net';
import { isLoopback } from '../loopback.js';
import { ROLES, type Role } from '../roles.js';

/** Reads one setting; throws an Error whose message completes "NAME …". */
export type Parse<Value> = (text: string) => Value;

/** Makes a parser for a whole number in digits, from `least` to `most`. */
export function wholeNumber(min: number, max: number): Parse<number> {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
    if (!(value >= min && value <= max)) throw new Error(`must be a whole number from ${min} to ${max}`);
    return value;
  };
}

/** Parses a number from 0 to 1. */
export function fraction(text: string): number {
  const value = /^(?:0|1|[01]?\.\d{1,10})$/.test(text) ? Number(text) : NaN;
  if (!(value >= 0 && value <= 1)) throw new Error('must be a number from 0 to 1');
  return value;
}

/** Makes a parser for one of some words. */
export function oneOf<const Choice extends string>(choices: readonly Choice[]): Parse<Choice> {
  return (text) => {
    const choice = choices.find((candidate) => candidate === text);
    if (choice === undefined) throw new Error(`must be one of ${choices.join(', ')}`);
    return choice;
  };
}

/** Parses `true` or `false`. */
export function flag(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new Error('must be true or false');
  return text === 'true';
}

/** Parses a comma-separated list of host names. */
export function hosts(text: string): readonly string[] {
  return text.split(',').map((item) => {
    const host = item.trim().toLowerCase();
    if (!/^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\])$/.test(host))
      throw new Error('must be a comma-separated list of host names, without scheme or port');
    return host;
  });
}

/** Accepts any text that is not empty. */
export function nonEmpty(text: string): string {
  if (text.trim() === '') throw new Error('must not be empty');
  return text;
}

/** Parses a listen address. An IPv6 address may be in brackets, as in a URL. */
export function listenAddress(text: string): string {
  const bracketed = /^\[(.*)\]$/.exec(text)?.[1];
  const host = bracketed ?? text;
  if (isIP(host) !== 6 && (bracketed !== undefined || !/^[a-z0-9_.-]+$/i.test(host)))
    throw new Error('must be a host name or an IP address, without scheme or port');
  return host;
}

/** Validates the path of a database. A `~` or a scheme would become the name of a folder below the working directory. */
export function databasePath(text: string): string {
  if (/^(?:~|[a-z]{2,}:)/i.test(text))
    throw new Error('must be the path of a file, or :memory:, without ~ and without a scheme such as file:');
  return nonEmpty(text);
}

function token(text: string): string {
  // Sent as a header value: visible ASCII only, so that Kong and every client can send it.
  if (!/^[\x21-\x7e]{8,1024}$/.test(text))
    throw new Error('must be 8 to 1024 visible ASCII characters without spaces');
  return text;
}

/** Parses secrets separated by commas. */
export function tokens(text: string): readonly string[] {
  return text.split(',').map(token);
}

/** Parses one secret, or two separated by a comma. */
export function oneOrTwoTokens(text: string): readonly string[] {
  const all = tokens(text);
  if (all.length > 2) throw new Error('must be one secret, or two separated by a comma');
  return all;
}

/** Checks a secret from which a key is derived. */
export function archiveSecret(text: string): string {
  if (text.length < 16) throw new Error('must have 16 characters or more');
  return text;
}

/** Parses an http or https URL without query, fragment and credentials. */
export function httpUrl(text: string): URL {
  if (!/^https?:/i.test(text.trim())) throw new Error('must be a URL that begins with http:// or https://');
  const url = URL.parse(text);
  if (url === null)
    throw new Error(
      'is not a valid URL: its host must be a name or an IP address, and its port a number up to 65535',
    );
  if (url.username !== '' || url.password !== '') throw new Error('must not contain credentials');
  if (url.search !== '' || url.hash !== '') throw new Error('must not have a query or a fragment');
  return url;
}

/** Parses the URL under which others reach the gateway. */
export function publicUrl(text: string): URL {
  const url = httpUrl(text);
  if (/\/api\/v2\/?$/.test(url.pathname)) throw new Error('must be the base URL, without /api/v2');
  return url;
}

/** Supported query parameters of a PostgreSQL URL. Others would be ignored silently, including a misspelt sslmode. */
const DATABASE_PARAMETERS: readonly string[] = [
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'host',
  'port',
  'application_name',
  'connect_timeout',
  'options',
];
const SSL_MODES: readonly string[] = ['disable', 'require', 'verify-ca', 'verify-full'];

/** Validates a libpq URL. Messages never repeat any part of it, because it contains a password. */
export function databaseUrl(text: string): string {
  const url = URL.parse(text) ?? undefined;
  // Lists of hosts are for libpq: here, such a list would be looked up as one name. The user and password end at the last @.
  const hosts = /^postgres(?:ql)?:\/\/(?:[^/]*@)?([^/?]*)/.exec(text)?.[1] ?? '';
  const isList = (part: string | null | undefined) => part?.includes(',') === true;
  if ([hosts, url?.searchParams.get('host'), url?.searchParams.get('port')].some(isList))
    throw new Error(
      'must name one host, not a list of them: use an address that always leads to the primary server',
    );
  if (url === undefined || !/^postgres(?:ql)?:$/.test(url.protocol) || url.hash !== '')
    throw new Error('must be a URL such as postgres://user:password@host:5432/database');
  const parameters = url.searchParams;
  // If a password contains a "?", the rest of it looks like parameters, so messages do not repeat their names either.
  const names = [...parameters.keys()];
  if (!names.every((name) => DATABASE_PARAMETERS.includes(name)) || new Set(names).size < names.length)
    throw new Error(
      `must have no parameters other than ${DATABASE_PARAMETERS.join(', ')}, each at most once`,
    );
  if (url.hostname === '' && !parameters.has('host')) throw new Error('must name a host');
  const mode = parameters.get('sslmode');
  if (mode !== null && !SSL_MODES.includes(mode))
    throw new Error(`must have one of ${SSL_MODES.join(', ')} as sslmode`);
  if (mode === 'verify-ca' && !parameters.has('sslrootcert'))
    throw new Error('must have the CA certificate as sslrootcert with sslmode=verify-ca');
  if (!/^\d{0,4}$/.test(parameters.get('connect_timeout') ?? ''))
    throw new Error('must have a whole number of seconds as connect_timeout');
  return text;
}

/** Validates an issuer. It is kept exactly as written, because tokens must name it character for character. */
export function issuer(text: string): string {
  secureUrl(httpUrl(text));
  return text;
}

/** Parses the URL of a key set. */
export function keysUrl(text: string): URL {
  const url = URL.parse(text) ?? undefined;
  if (url === undefined || url.username !== '' || url.password !== '' || url.hash !== '')
    throw new Error('must be a URL without credentials and fragment');
  return secureUrl(url);
}

/** Requires https or a loopback address: whoever can change keys in transit can sign in as anybody. */
function secureUrl(url: URL): URL {
  const isLocal = url.protocol === 'http:' && isLoopback(url.hostname);
  if (url.protocol !== 'https:' && !isLocal)
    throw new Error('must be an https URL (http is for loopback addresses only)');
  return url;
}

/** Parses the roles that the values of a claim map to; undefined for a value that maps to no role. */
export function roleMap(text: string): ReadonlyMap<string, Role | undefined> {
  const entries = text.split(',').map((item) => {
    const at = item.lastIndexOf('=');
    const [value, name] = [item.slice(0, Math.max(at, 0)).trim(), item.slice(at + 1).trim()];
    const role = ROLES.find((one) => one === name);
    if (value === '' || (role === undefined && name !== ''))
      throw new Error(
        `must be a comma-separated list of value=role, with one of the roles ${ROLES.join(', ')}`,
      );
    return [value, role] as const;
  });
  if (new Map(entries).size < entries.length) throw new Error('must not name a value twice');
  return new Map(entries);
}

/** Parses a comma-separated list of IP addresses and networks. */
export function networks(text: string): readonly string[] {
  return text.split(',').map((item) => {
    const [address = '', prefix, ...rest] = item.trim().split('/');
    const version = isIP(address);
    const isRange =
      prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
    if (version === 0 || !isRange || rest.length > 0)
      throw new Error(
        'must be a comma-separated list of IP addresses and networks such as 10.0.0.5 or 10.1.0.0/16',
      );
    return item.trim();
  });
}

/** Parses a comma-separated list of origins. */
export function origins(text: string): readonly string[] {
  const found = text.split(',').map((item) => {
    // Nothing is allowed after the port, not even a slash, which would look like a restriction to paths.
    const isOrigin = /^https?:\/\/[^/?#@*\s]+$/i.test(item.trim()) && URL.parse(item) !== null;
    if (!isOrigin)
      throw new Error(
        'must be a comma-separated list of origins such as https://example.org or http://localhost:8000',
      );
    return new URL(item).origin;
  });
  return [...new Set(found)];
}

/** Validates an IRI to which names can be appended. */
export function baseIri(text: string): string {
  // A term is appended directly, so the base must end with a separator.
  if (!/^(?:https?:\/\/[^/]|urn:[^:])[^\s<>"{}|\\^`]*[/#]$/i.test(text) || URL.parse(text) === null)
    throw new Error('must be an absolute http, https or urn IRI that ends in / or #');
  return text;
}

/** Parses the base URL of a broker, or `embedded`. */
export function brokerUrl(text: string): URL | 'embedded' {
  if (text === 'embedded') return text;
  const url = httpUrl(text);
  if (/\/ngsi-ld(?:\/|$)/.test(url.pathname)) throw new Error('must be the base URL, without /ngsi-ld/v1');
  return url;
}
