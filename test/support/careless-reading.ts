/** How a server may decode or split a request-target too early, too often or in the wrong place. */
export interface Carelessness {
  /** Decodes the whole target before it splits off the query (seen: coraine). */
  readonly decodesTarget: boolean;
  /** Decodes the path before it splits it into segments. */
  readonly decodesSlashes: boolean;
  readonly decodesTwice: boolean;
  /** Uses the last `?` as the beginning of the query. */
  readonly splitsAtLastMark: boolean;
  readonly turnsBackslashes: boolean;
  readonly mergesSlashes: boolean;
  readonly stripsTrailingSlash: boolean;
  readonly resolvesDots: boolean;
  /** Cuts segments at a `;` (matrix parameters). */
  readonly cutsMatrix: boolean;
  /** Decodes `+` as a space. */
  readonly readsForms: boolean;
  readonly trims: boolean;
  /** Ends a text at its first control character. */
  readonly cutsAtControls: boolean;
  /** Folds full-width and other compatibility characters. */
  readonly foldsWidth: boolean;
  /** Reads an id with slashes as one segment. */
  readonly isGreedy: boolean;
}

export const CAREFUL: Carelessness = {
  decodesTarget: false,
  decodesSlashes: false,
  decodesTwice: false,
  splitsAtLastMark: false,
  turnsBackslashes: false,
  mergesSlashes: false,
  stripsTrailingSlash: false,
  resolvesDots: false,
  cutsMatrix: false,
  readsForms: false,
  trims: false,
  cutsAtControls: false,
  foldsWidth: false,
  isGreedy: false,
};

/** How a server understands a target. */
export interface CarelessReading {
  /** Below the API root; slashes within a segment belong to an id if the server is greedy. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

const API_ROOT = '/ngsi-ld/v1/';

/**
 * Reads a target as a server with some carelessness does; undefined if it is not below the API
 * root.
 */
export function readTarget(target: string, how: Carelessness): CarelessReading | undefined {
  const decode = (text: string) => decoded(text, how);
  const text = how.decodesTarget ? decode(target) : target;
  const [beforeFragment = ''] = text.split('#', 1);
  const mark = how.splitsAtLastMark ? beforeFragment.lastIndexOf('?') : beforeFragment.indexOf('?');
  const query = mark < 0 ? '' : beforeFragment.slice(mark + 1);
  let path = mark < 0 ? beforeFragment : beforeFragment.slice(0, mark);
  const isDecoded = how.decodesTarget || how.decodesSlashes;
  if (!how.decodesTarget && how.decodesSlashes) path = decode(path);
  if (how.turnsBackslashes) path = path.replaceAll('\\', '/');
  if (how.mergesSlashes) path = path.replaceAll(/\/{2,}/g, '/');
  if (how.resolvesDots) path = withoutDots(path);
  if (how.stripsTrailingSlash) path = path.replace(/\/$/, '');
  if (`${path}/` === API_ROOT || !path.startsWith(API_ROOT)) return undefined;
  const raw = path.slice(API_ROOT.length).split('/');
  const segments = raw
    .map((segment) => (how.cutsMatrix ? segment.replace(/;[^]*$/, '') : segment))
    .map((segment) => (isDecoded ? segment : decode(segment)))
    .map((segment) => (how.trims ? segment.trim() : segment));
  return { segments: how.isGreedy ? joined(segments) : segments, query: new URLSearchParams(query) };
}

/**
 * Joins everything that is one id, attribute name or instance id for a server that only looks for
 * the fixed segments.
 */
function joined(segments: readonly string[]): readonly string[] {
  const collection = segments[0] === 'temporal' ? 2 : 1;
  const names = segments.slice(collection);
  const at = names.indexOf('attrs', 1);
  const id = (at < 0 ? names : names.slice(0, at)).join('/');
  const within = at < 0 ? [] : names.slice(at);
  return [...segments.slice(0, collection), ...(names.length === 0 ? [] : [id]), ...within];
}

function decoded(text: string, how: Carelessness): string {
  let result = decodeOnce(text, how);
  if (how.decodesTwice) result = decodeOnce(result, how);
  if (how.foldsWidth) result = result.normalize('NFKC');
  return how.cutsAtControls ? result.replace(/[\u0000-\u001f\u007f-\u009f][^]*$/, '') : result;
}

function decodeOnce(text: string, { readsForms }: Carelessness): string {
  const plain = readsForms ? text.replaceAll('+', ' ') : text;
  return plain.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

function withoutDots(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  return kept.join('/');
}
