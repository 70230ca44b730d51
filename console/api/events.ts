import { whenSeen, whileSeen } from '../shared/seen.js';
import { parsed } from '../../sidecar/client/client.js';
import { readEvents } from '../../sidecar/client/events.js';
import { isFinal } from '../../sidecar/client/purges.js';
import { api, type Purge } from './client.js';

/** Pauses before reconnecting to a broken stream, in milliseconds. */
const PAUSES = [500, 1000, 2000, 5000];

/** The gateway sends something every 15 s. A stream that is silent for this long is dead, e.g. because this machine slept. */
const SILENT_MS = 40_000;

export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly onRecord: (record: Purge) => void;
  /** Called when the stream breaks, before reconnecting; called with undefined when it works again. */
  readonly onBroken: (error: unknown) => void;
}

/**
 * Follows a purge by its server-sent events until the purge has ended. The events are read with fetch, because an EventSource
 * cannot send the token. A broken stream is reconnected, since the purge may still be running. While the tab is hidden, the
 * stream is closed.
 *
 * @throws ApiError for a purge that does not exist, or may not be read
 */
export async function watchPurge(id: string, options: WatchOptions): Promise<void> {
  const { signal, onBroken } = options;
  const isAborted = () => signal.aborted;
  let broken = 0;
  const onRecord = (record: Purge) => {
    if (broken > 0) onBroken(undefined);
    broken = 0;
    options.onRecord(record);
  };
  for (;;) {
    await whenSeen(signal);
    if (isAborted()) return;
    try {
      if (await whileSeen(signal, (seen) => readRecords(id, seen, onRecord))) return;
    } catch (error) {
      if (isAborted()) return;
      if (document.hidden) continue;
      if (isRefusal(error)) throw error;
      onBroken(error);
    }
    await pause(PAUSES[Math.min(broken, PAUSES.length - 1)] ?? 5000, signal);
    if (isAborted()) return;
    broken += 1;
  }
}

/** Reads one stream to its end. @returns whether the purge has ended */
async function readRecords(
  id: string,
  signal: AbortSignal,
  onRecord: (record: Purge) => void,
): Promise<boolean> {
  const { body } = await api.request('get', '/purges/{purge}/events', { path: { purge: id }, signal });
  for await (const { data } of body === null ? [] : readEvents(body, SILENT_MS)) {
    const record = parsed(data) as Purge;
    onRecord(record);
    if (isFinal(record)) return true;
  }
  return false;
}

/** A 4xx would be the same if the request were sent again. */
function isRefusal(error: unknown): boolean {
  const status = (error as { problem?: { status?: number } } | undefined)?.problem?.status ?? 0;
  return status >= 400 && status < 500 && status !== 429;
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
