import { TooManyPurgesError } from '../errors.js';

/** What takes a place: a purge whose caller waits for its answer, one that waits in a queue, or one that deletes nothing. */
export type PlaceKind = 'purge' | 'job' | 'dry run';

/** Share of the places that jobs leave free, so that a full queue refuses no caller who waits. */
const KEPT_SHARE = 1 / 4;

/** The places for purges at work in one process. Dry runs have as many of their own. */
export class PurgePlaces {
  readonly #max: number;
  readonly #taken: Record<PlaceKind, number> = { purge: 0, job: 0, 'dry run': 0 };

  /** @param max purges at work at a time, and dry runs, 1 or more */
  constructor(max: number) {
    this.#max = max;
  }

  /** True when there is a place: a job waits for one, the others are refused. */
  isFree(kind: PlaceKind): boolean {
    const { purge, job, 'dry run': dry } = this.#taken;
    if (kind === 'dry run') return dry < this.#max;
    return purge + job < this.#max && (kind === 'purge' || job < this.#forJobs);
  }

  /**
   * Takes a place.
   *
   * @returns gives it back; calling it again does nothing
   * @throws TooManyPurgesError when there is none
   */
  take(kind: PlaceKind): () => void {
    if (!this.isFree(kind))
      throw new TooManyPurgesError(this.#max, kind === 'dry run' ? 'dry runs' : 'purges');
    this.#taken[kind] += 1;
    let isTaken = true;
    return () => {
      if (isTaken) this.#taken[kind] -= 1;
      isTaken = false;
    };
  }

  /** Places that jobs may have; one at least. */
  get #forJobs(): number {
    return Math.max(1, Math.floor(this.#max * (1 - KEPT_SHARE)));
  }
}
