import { PurgeStoppedError } from '../purge/index.js';
import { type JobNeeds, LeaseLostError, StoreUnavailableError } from '../store/index.js';
import type { LiveJob } from './live-job.js';
import type { JobServiceOptions } from './service-options.js';

/** The pause before a store that is away is asked again, in milliseconds. */
const ASK_AGAIN_MS = 1000;

/**
 * Writes what must be known of a job before it changes anything at the broker. While the store is away, the job waits for it as
 * long as its lease lasts.
 *
 * @throws PurgeStoppedError when another process has the job or may have it, or when the job is to stop
 */
export async function writeAhead(
  { store, clock }: Pick<JobServiceOptions, 'store' | 'clock'>,
  live: LiveJob,
  job?: JobNeeds,
): Promise<void> {
  const { lease } = live;
  for (;;) {
    void lease.check();
    try {
      await store.put(live.record, job, lease.claim);
      return;
    } catch (error) {
      if (error instanceof LeaseLostError) lease.take();
      else if (!(error instanceof StoreUnavailableError)) throw error;
      await clock.sleep(ASK_AGAIN_MS, live.stopped).catch((reason: unknown) => {
        throw new PurgeStoppedError('The job stopped before its next request that changes anything.', {
          cause: reason,
        });
      });
    }
  }
}
