import type { Projection } from '../broker/capabilities.js';
import type { PageQuery } from './page.js';
import type { Parameter } from '../query/parameters.js';

/** A collection of the broker that can be listed, and how little of it can be asked for. */
export interface ListedResource {
  /** Below the API root. */
  readonly path: '/entities' | '/temporal/entities';
  /** Completes "The broker did not …". */
  readonly listing: string;
  /** Statuses with which a query of it is answered. */
  readonly answered: ReadonlySet<number>;
  /** Ways to ask for no more than is needed, best first; the last one is the bare query. */
  projectionsOf(query: PageQuery): readonly Projection[];
}

/**
 * Entities (clause 6.4.3.2).
 *
 * @param content `ids`: only ids are needed; `attributes`: the attributes are needed as well
 */
export function entities(content: 'ids' | 'attributes'): ListedResource {
  return {
    path: '/entities',
    listing: 'list the matching entities',
    answered: new Set([200, 201, 203]),
    // `attrs` already narrows the output, and is not mixed with `pick`.
    projectionsOf: ({ selection, needsTimes }) => {
      if (needsTimes === true) return ['times', 'none'];
      const isNarrow = selection.some(({ name }) => name === 'attrs');
      return content === 'ids' && !isNarrow ? ['pick', 'key-values', 'none'] : ['none'];
    },
  };
}

/** Temporal evolutions of entities (clause 6.18.3.2); 206 says that instances are missing from the answer. */
export function temporalEntities(): ListedResource {
  return {
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

/** What a problem says when it is about the parameters of a projection. */
export const PROJECTION_WORDS: Readonly<Record<Projection, RegExp | undefined>> = {
  pick: /\bpick\b/i,
  'key-values': /\boptions\b|keyValues/i,
  'recent-times': /\blastN\b|\boptions\b|sysAttrs/i,
  recent: /\blastN\b/i,
  times: /\boptions\b|sysAttrs/i,
  none: undefined,
};
