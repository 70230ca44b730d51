import { whenSeen, whileSeen } from '../shared/seen.js';
import { parsed } from '../../sidecar/client/client.js';
import { readEvents } from '../../sidecar/client/events.js';
import { isFinal } from '../../sidecar/client/purges.js';
import { api, type Purge } from './client.js';

/** Pauses before a broken stream is asked for again, in milliseconds. */
const PAUSES = [500, 1000, 2000, 5000];

/** The gateway gives a sign every 15 s; a stream without one for this long is dead, e.g. after this machine slept. */
const SILENT_MS = 40_000;

export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly onRecord: (record: Purge) => void;
  /** Called when the stream broke, and is asked for again; undefined: it is there again. */
  readonly onBroken: (error: unknown) => void;
}

/**
 * Follows a purge by its server-sent events until it has ended. They are read with fetch: an EventSource cannot send the
 * token. A stream that breaks is asked for again, since its end is none of the purge. It is let go while the tab is hidden.
 *
 * @throws ApiError for a purge that is not known, or may not be read
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

/** A 4xx stays one when the same is asked for again. */
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
