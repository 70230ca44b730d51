import { decoded } from '../shared/code-hosts.js';
import { flagOf, optionsIn } from '../shared/purge-options.js';
import { usage } from './exit-codes.js';

/**
 * Encodes a query as people type it, such as `type=A&q=speed<600`. `%XX` counts as already encoded. Everything else is literal,
 * including `+`, which is more often part of a time than a space.
 *
 * @param words the arguments; several are joined by `&`
 * @throws CliError for a parameter that has a flag, and for text that is not valid Unicode
 */
export function encodeQuery(words: readonly string[]): string {
  const pairs = words
    .map((word) => word.replace(/^\?/, ''))
    .join('&')
    .split('&')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '');
  for (const pair of pairs) {
    const name = decoded(pair.split('=', 1)[0] ?? '');
    const flag = optionsIn('query')
      .filter((option) => option === name)
      .map(flagOf)[0];
    if (flag !== undefined) throw usage(`Use ${flag} instead of ${pair}.`);
  }
  return pairs
    .map((pair) => {
      const equals = pair.indexOf('=');
      return equals === -1
        ? encode(pair)
        : `${encode(pair.slice(0, equals))}=${encode(pair.slice(equals + 1))}`;
    })
    .join('&');
}

/** Returns the values of a parameter in a query string made by encodeQuery. */
export function valuesIn(query: string, name: string): readonly string[] {
  return query.split('&').flatMap((pair) => {
    const [given = '', ...value] = pair.split('=');
    return decoded(given) === name && value.length > 0 ? [value.join('=')] : [];
  });
}

/** Percent-encodes what is not encoded yet; `:`, `/` and `,` stay readable (RFC 3986 § 3.4). */
export function encode(text: string): string {
  return text
    .split(/(%[0-9a-fA-F]{2})/)
    .map((part, index) => (index % 2 === 1 ? part : encodePlain(part)))
    .join('');
}

function encodePlain(text: string): string {
  try {
    return encodeURIComponent(text).replace(/%3A|%2F|%2C/g, decodeURIComponent);
  } catch (cause) {
    throw usage('The query is not valid Unicode text.', { cause });
  }
}
