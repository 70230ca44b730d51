import type { IncomingHttpHeaders } from 'node:http';

const MAX_ENTRIES = 10_000;

/** One answered request. `items` is the number of entities in a batch; status 0 means that the connection was cut. */
export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  /** The path with `{id}`, `{attr}` and `{instanceId}`; the path itself if no route matches. */
  readonly route: string;
  /** The query string, without `?`. */
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  readonly status: number;
  readonly items: number | undefined;
}

/** Records the requests to the broker: the newest 10,000, and counts of all of them by method and route. */
export class RequestLog {
  #entries: LoggedRequest[] = [];
  readonly #counts = new Map<string, number>();
  #total = 0;

  get entries(): readonly LoggedRequest[] {
    return this.#entries.slice(-MAX_ENTRIES);
  }

  /** The number of requests answered since startup or the last `clear`. */
  get total(): number {
    return this.#total;
  }

  /** Counts by `METHOD route`, such as `DELETE /ngsi-ld/v1/entities/{id}`. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  add(entry: LoggedRequest): void {
    const key = `${entry.method} ${entry.route}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#total += 1;
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * MAX_ENTRIES) this.#entries = this.#entries.slice(-MAX_ENTRIES);
  }

  clear(): void {
    this.#entries = [];
    this.#counts.clear();
    this.#total = 0;
  }
}
