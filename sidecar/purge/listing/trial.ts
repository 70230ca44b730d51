import type { BrokerCapabilities, Projection } from '../broker/index.js';

/**
 * What a page finds out about the broker while it is refused and asked for in other ways. It holds for that page alone until
 * the page is answered: otherwise the query was at fault, and nothing was learnt.
 */
export interface Trial {
  readonly pageSizeMax: number;
  readonly refusedProjections: ReadonlySet<Projection>;
  readonly countAccepted: boolean;
  limitPages(max: number): void;
  refuse(projections: readonly Projection[]): void;
  refuseCount(): void;
  /** The page was answered: what was found out is true of the broker. */
  keep(): void;
}

/** A trial that begins with what is known. */
export function createTrial(capabilities: BrokerCapabilities): Trial {
  const refused = new Set<Projection>();
  let most = Infinity;
  let isCountRefused = false;
  const trial: Trial = {
    get pageSizeMax() {
      return Math.min(most, capabilities.pageSizeMax ?? Infinity);
    },
    get refusedProjections() {
      const known = capabilities.refusedProjections;
      return refused.size === 0 ? known : new Set([...known, ...refused]);
    },
    get countAccepted() {
      return !isCountRefused && capabilities.countAccepted;
    },
    limitPages(max) {
      most = Math.min(most, max);
    },
    refuse(projections) {
      for (const projection of projections) refused.add(projection);
    },
    refuseCount() {
      isCountRefused = true;
    },
    keep() {
      if (most < Infinity) capabilities.pageSizeMax = trial.pageSizeMax;
      if (refused.size > 0) capabilities.refusedProjections = trial.refusedProjections;
      if (isCountRefused) capabilities.countAccepted = false;
    },
  };
  return trial;
}
