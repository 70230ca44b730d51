import pLimit from 'p-limit';
import { Pool, type Dispatcher } from 'undici';
import { timed } from './statistics.js';
import { deleteInstance, listInstances } from './temporal-requests.js';

export interface TemporalScriptTimes {
  /** Milliseconds spent on its queries. */
  readonly listingMs: number;
  /** Milliseconds spent on deletes. */
  readonly deletesMs: number;
}

/**
 * The obvious script: GET the temporal entities, DELETE each instance in the answer, and repeat until nothing is left.
 *
 * @param most number of deletes after which to stop, to measure a sample
 */
export async function runTemporalScript(
  brokerUrl: string,
  query: string,
  { concurrency, most = Infinity }: { readonly concurrency: number; readonly most?: number },
): Promise<TemporalScriptTimes> {
  const limit = pLimit(concurrency);
  const times = { listingMs: 0, deletesMs: 0 };
  for (let left = most; left > 0;) {
    let paths: readonly string[] = [];
    times.listingMs += await timed(async () => {
      paths = await listInstances(brokerUrl, `${query}&limit=1000`);
    });
    if (paths.length === 0) break;
    const taken = paths.slice(0, left);
    left -= taken.length;
    times.deletesMs += await timed(async () =>
      Promise.all(taken.map(async (path) => limit(async () => deleteInstance(brokerUrl, path)))),
    );
  }
  return times;
}

/**
 * Deletes instances with known paths as fast as undici can: with one connection per delete in flight, and a handler instead of
 * promises and streams.
 *
 * @throws Error if a delete does not end with 204
 */
export async function deleteKnownInstances(
  brokerUrl: string,
  paths: readonly string[],
  concurrency: number,
): Promise<void> {
  const pool = new Pool(brokerUrl, { connections: concurrency });
  try {
    await new Promise<void>((resolve, reject) => {
      let sent = 0;
      let done = 0;
      const next = () => {
        const path = paths[sent];
        if (path === undefined) return;
        sent += 1;
        pool.dispatch({ method: 'DELETE', path }, handler);
      };
      // All requests share one handler, because none of its calls needs to know its request.
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart: () => {},
        onResponseStart: (_controller, statusCode) => {
          if (statusCode !== 204) reject(new Error(`DELETE ended with ${statusCode}.`));
        },
        onResponseData: () => {},
        onResponseEnd: () => {
          done += 1;
          if (done === paths.length) resolve();
          else next();
        },
        onResponseError: (_controller, error) => reject(error),
      };
      for (let slot = 0; slot < concurrency; slot++) next();
    });
  } finally {
    await pool.close();
  }
}
