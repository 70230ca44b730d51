/** What the query of a write says about how its body is to be read. */
export interface WriteOptions {
  /**
   * Whether attributes may be plain values. `either` where a broker could read the body as simplified, or as it shows: what is
   * written must then be valid both ways.
   */
  readonly isSimplified: boolean;
  /** Whether an upsert certainly only updates what is there: `options=update`, and nothing that says otherwise. */
  readonly updates: boolean;
  /** Whether strings may be merged into the language maps that attributes have: `lang`, on a merge. */
  readonly mergesLanguages: boolean;
  /** The one instance of the attribute that is certainly meant, where one is. */
  readonly datasetId: string | undefined;
}

const SIMPLIFIED = /^(?:keyvalues|simplified|simplifiedkeyvalues)$/i;

/**
 * Reads the query of a write as a careless server might: what it does not say clearly is taken in the stricter sense.
 *
 * @param rawUrl request-target, undecoded
 */
export function writeOptions(rawUrl: string): WriteOptions {
  const start = rawUrl.indexOf('?');
  if (start === -1) return NONE;
  // Some servers also split at semicolons.
  const parameters = rawUrl
    .slice(start + 1)
    .split(/[&;]/)
    .map(parameterOf);
  const named = (name: string) => parameters.filter(([one]) => one.trim().toLowerCase() === name);
  const options = named('options').flatMap(([, value]) => value.split(','));
  const formats = named('format').map(([, value]) => value);
  const isSimplified = [...options, ...formats].some((one) => SIMPLIFIED.test(one.trim()));
  const [only, ...others] = named('options');
  const isSpelledOut = others.length === 0 && /(?:\?|&)options=[A-Za-z,]+(?:&|$)/.test(rawUrl);
  const says = only?.[1].split(',') ?? [];
  const [dataset, ...otherDatasets] = named('datasetid');
  const meansOne =
    otherDatasets.length === 0 &&
    /(?:\?|&)datasetId=[^&;]/.test(rawUrl) &&
    named('deleteall').every(([, value]) => value === 'false');
  return {
    isSimplified,
    updates: isSpelledOut && says.includes('update') && !says.some((one) => /^replace$/i.test(one)),
    mergesLanguages: named('lang').length > 0,
    datasetId: meansOne ? dataset?.[1] : undefined,
  };
}

const NONE: WriteOptions = {
  isSimplified: false,
  updates: false,
  mergesLanguages: false,
  datasetId: undefined,
};

function parameterOf(text: string): readonly [name: string, value: string] {
  const end = text.indexOf('=');
  const [name, value] = end === -1 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)];
  return [decoded(name), decoded(value)];
}

function decoded(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}
