import { PurgeStoppedError, TooManyPurgesError } from '../purge/index.js';
import type { LiveJob } from './live-job.js';

/**
 * What takes a place: a purge whose caller waits for the result, a purge from the queue, a purge that deletes nothing,
 * or a scan.
 */
export type PlaceKind = 'purge' | 'job' | 'dry run' | 'scan';

/** Share of the places that jobs leave free, so that a full queue never causes a caller who waits to be refused. */
const KEPT_SHARE = 1 / 4;

/** Number of extra places for scans, as a share of those for purges. Each scan keeps a worker thread busy. */
const SCANS_SHARE = 1 / 4;

/** All jobs that run in this process. Each has a record, a lease and a place, and can be stopped. */
export class JobRegistry {
  readonly #max: number;
  readonly #onLeft: (id: string) => void;
  /** All running jobs, with the places they have taken. */
  readonly #running = new Map<LiveJob, PlaceKind | undefined>();
  /** The latest run of each id. A job can be taken again while its earlier run still waits for its last deletes. */
  readonly #latest = new Map<string, LiveJob>();
  readonly #stopping = new AbortController();
  /** Aborts when this process stops. */
  readonly stopping = this.#stopping.signal;
  #waiting: (() => void)[] = [];

  /**
   * @param max number of places for purges, at least 1; dry runs have as many of their own, and scans a quarter of that
   * @param onLeft called whenever a job has ended here
   */
  constructor(max: number, onLeft: (id: string) => void = () => {}) {
    this.#max = max;
    this.#onLeft = onLeft;
  }

  get(id: string): LiveJob | undefined {
    return this.#latest.get(id);
  }

  /** The latest run of each id. */
  all(): readonly LiveJob[] {
    return [...this.#latest.values()];
  }

  /** Number of places taken by purges, including dry runs. */
  get purges(): number {
    return this.#taken('purge') + this.#taken('job') + this.#taken('dry run');
  }

  get scans(): number {
    return this.#taken('scan');
  }

  /** Whether a place of this kind is free. If not, jobs wait and everything else is refused. */
  isFree(kind: PlaceKind): boolean {
    if (kind === 'scan') return this.#taken('scan') < Math.max(1, Math.floor(this.#max * SCANS_SHARE));
    if (kind === 'dry run') return this.#taken('dry run') < this.#max;
    const jobs = this.#taken('job');
    const forJobs = Math.max(1, Math.floor(this.#max * (1 - KEPT_SHARE)));
    return this.#taken('purge') + jobs < this.#max && (kind === 'purge' || jobs < forJobs);
  }

  /** Registers a job that runs here from now on. The job stops at once if this process is stopping. */
  enter<Live extends LiveJob>(live: Live): Live {
    this.#running.set(live, undefined);
    this.#latest.set(live.record.id, live);
    if (this.stopping.aborted) live.stop();
    return live;
  }

  /** @throws PurgeStoppedError if this process is stopping, TooManyPurgesError if no place is free */
  takePlace(live: LiveJob, kind: PlaceKind): void {
    this.requireOpen();
    if (!this.isFree(kind)) throw new TooManyPurgesError(this.#max, kind === 'job' ? 'purges' : `${kind}s`);
    this.#running.set(live, kind);
  }

  /** Removes a job that has ended here, and frees its place. */
  leave(live: LiveJob): void {
    const { id } = live.record;
    this.#running.delete(live);
    if (this.#latest.get(id) === live) this.#latest.delete(id);
    this.#onLeft(id);
    if (this.#running.size > 0) return;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** @throws PurgeStoppedError if this process is stopping */
  requireOpen(): void {
    if (this.stopping.aborted)
      throw new PurgeStoppedError(
        'The gateway is shutting down and accepts no new purges. Nothing was deleted.',
      );
  }

  /** Stops all running jobs, and refuses new ones. */
  stop(): void {
    this.#stopping.abort();
    for (const live of this.#running.keys()) live.stop();
  }

  async idle(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #taken(kind: PlaceKind): number {
    let count = 0;
    for (const taken of this.#running.values()) if (taken === kind) count += 1;
    return count;
  }
}
