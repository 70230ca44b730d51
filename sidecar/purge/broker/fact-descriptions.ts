import { isProof, isProofOfQuery, type Facts, type FactValue } from './capabilities.js';

/** Facts by collection. */
export type FactsByCollection = Readonly<Record<(typeof COLLECTIONS)[number], Facts>>;

const COLLECTIONS = ['entities', 'temporal'] as const;

/** Something learnt about a broker, for people to read. */
export interface FactDescription {
  readonly collection: (typeof COLLECTIONS)[number];
  /** As facts are named: `page-max`, `counts-before q`. */
  readonly name: string;
  /** `proof`: it was seen to work. `limit`: it makes purges slower or more careful. */
  readonly kind: 'proof' | 'limit';
  /** One sentence. */
  readonly detail: string;
  /** In milliseconds since 1970. */
  readonly atMs: number;
}

/** Descriptions of the projections, with their parameters. */
const PROJECTIONS: Readonly<Record<string, string>> = {
  pick: 'ids alone (pick=id)',
  'key-values': 'key-values (options=keyValues)',
  'recent-times': 'the newest instances with system times (lastN, options=sysAttrs)',
  recent: 'the newest instances alone (lastN)',
  times: 'system times (options=sysAttrs)',
};

/**
 * Describes in sentences what was learnt about a broker. Limits come first, then the order is by collection and name. Details
 * such as accepted page sizes are left out.
 */
export function describeFacts(learnt: FactsByCollection): readonly FactDescription[] {
  const lessons = COLLECTIONS.flatMap((collection) => [
    ...[...learnt[collection]].flatMap(([name, { value, atMs }]): readonly FactDescription[] => {
      const detail = sentence(name, value);
      const kind = isProof(name) ? 'proof' : 'limit';
      return detail === undefined ? [] : [{ collection, name, kind, detail, atMs }];
    }),
    ...provenQueries(collection, learnt[collection]),
  ]);
  const order = ({ kind, collection, name }: FactDescription) =>
    `${kind === 'limit' ? 0 : 1} ${collection === 'entities' ? 0 : 1} ${name}`;
  return lessons.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** Says how many queries are proven. Which queries those are cannot be read from the names of their proofs. */
function provenQueries(collection: FactDescription['collection'], facts: Facts): readonly FactDescription[] {
  const times = [...facts].filter(([name]) => isProofOfQuery(name)).map(([, { atMs }]) => atMs);
  if (times.length === 0) return [];
  const what = times.length === 1 ? 'One query was' : `${times.length} queries were`;
  const detail = `${what} proven: with any one filter made impossible, nothing was listed.`;
  return [{ collection, name: 'honoured', kind: 'proof', detail, atMs: Math.max(...times) }];
}

function sentence(name: string, value: FactValue): string | undefined {
  const [kind = '', ...rest] = name.split(' ');
  const about = rest.join(' ');
  switch (kind) {
    case 'page-max':
      return `Pages of more than ${String(value)} are refused.`;
    case 'batch-max':
      return `Batch deletes of more than ${String(value)} ids are refused.`;
    case 'no-count':
      return 'Matches are not counted (count=true), so they are listed to be counted.';
    case 'no-batch':
      return 'Batch delete is missing or has no effect, so each entity is deleted by a request of its own.';
    case 'needs-datasets':
      return 'deleteAll=true works only for attributes with datasets.';
    case 'refused':
      return `Lists of ${PROJECTIONS[about] ?? about} are refused, so more is read than is needed.`;
    case 'counts-before':
      return `${about} is applied after counting and paging, so counts are not trusted.`;
    case 'collection-end':
      return value === '/' ? 'The path of the collection ends with a slash.' : undefined;
    default:
      return undefined;
  }
}
