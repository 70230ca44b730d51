/** What a client would like of an answer (RFC 7240); preferences that are not known are ignored, as the RFC wants it. */
export interface Preferences {
  /** `respond-async`: an answer at once, and the work later. */
  readonly respondAsync: boolean;
  /** `return=representation`: what was done, in the body. */
  readonly representation: boolean;
}

/**
 * Reads the header `Prefer`. Of a preference that is given more than once the first counts (RFC 7240 § 2); a header that does
 * not follow the grammar is ignored as a whole.
 */
export function preferencesOf(header: string | readonly string[] | undefined): Preferences {
  const given = parsePrefer([header ?? []].flat().join(','));
  return {
    respondAsync: given?.get('respond-async') === '',
    representation: given?.get('return')?.toLowerCase() === 'representation',
  };
}

const TOKEN = "[!#$%&'*+.^_`|~0-9a-z-]+";
const QUOTED = String.raw`"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*"`;
const PAIR = `(${TOKEN})(?:[ \\t]*=[ \\t]*(${TOKEN}|${QUOTED}))?`;

/** A preference with its parameters, which none that is known here has. */
const PREFERENCE = new RegExp(`${PAIR}(?:[ \\t]*;(?:[ \\t]*${PAIR})?)*[ \\t]*(?=,|$)`, 'iy');

/** Commas between elements of a list, which may be empty (RFC 9110 § 5.6.1.2). */
const COMMAS = /[ \t,]*/y;

/**
 * The value of each preference by its name in lower case, the first of each; a value that is missing is empty, which means the
 * same. Undefined for what does not follow the grammar of RFC 7240 § 2.
 */
function parsePrefer(text: string): ReadonlyMap<string, string> | undefined {
  const given = new Map<string, string>();
  for (let at = skip(0); at < text.length; at = skip(PREFERENCE.lastIndex)) {
    PREFERENCE.lastIndex = at;
    const [, name, value = ''] = PREFERENCE.exec(text) ?? [];
    if (name === undefined) return undefined;
    const key = name.toLowerCase();
    if (!given.has(key)) given.set(key, unquoted(value));
  }
  return given;

  function skip(from: number): number {
    COMMAS.lastIndex = from;
    COMMAS.exec(text);
    return COMMAS.lastIndex;
  }
}

function unquoted(word: string): string {
  return word.startsWith('"') ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1') : word;
}
