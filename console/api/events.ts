import { EndedEarlyError, recordsUntilEnd } from '../../sidecar/client/follow.js';
import { whenVisible } from '../shared/visibility.js';
import type { Purge } from './client.js';

/** Pauses before reconnecting to a broken stream, in milliseconds. */
const PAUSES = [500, 1000, 2000, 5000];

/** The gateway sends something every 15 s. A stream that is silent for this long is dead, e.g. because this machine slept. */
const SILENT_MS = 40_000;

export interface WatchOptions<Job> {
  /** Requests the events of the job. They are read with fetch, because an EventSource cannot send the token. */
  readonly ask: (signal: AbortSignal) => Promise<Response>;
  readonly signal: AbortSignal;
  readonly onRecord: (record: Job) => void;
  /** Called when the stream breaks, before reconnecting. */
  readonly onBroken: () => void;
}

/**
 * Follows a job until it has ended. While the tab is hidden, the stream is closed.
 *
 * @throws ApiError for a job that does not exist, or may not be read
 */
export async function watchJob<Job extends Pick<Purge, 'state'>>({
  ask,
  signal,
  onRecord,
  onBroken,
}: WatchOptions<Job>): Promise<void> {
  let hiding = new AbortController();
  const look = () => {
    if (document.hidden) hiding.abort();
    else hiding = new AbortController();
  };
  document.addEventListener('visibilitychange', look);
  const records = recordsUntilEnd({
    ask: async () => {
      await whenVisible(signal);
      signal.throwIfAborted();
      return ask(AbortSignal.any([signal, hiding.signal]));
    },
    read: (document) => document as Job,
    onBroken: async (error, failures) => {
      if (document.hidden) return;
      if (!(error instanceof EndedEarlyError)) onBroken();
      await pause(PAUSES[Math.min(failures, PAUSES.length) - 1] ?? 0, signal);
    },
    stopOn: signal,
    silentMs: SILENT_MS,
  });
  try {
    for await (const record of records) onRecord(record);
  } finally {
    document.removeEventListener('visibilitychange', look);
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end);
  });
}
