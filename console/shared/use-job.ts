import { useEffect, useRef, useState } from 'preact/hooks';
import { isFinal } from '../../sidecar/client/purges.js';
import type { Purge } from '../api/client.js';
import { watchJob } from '../api/events.js';

/** A job that is being followed. */
export interface FollowedJob<Job> {
  readonly record: Job | undefined;
  /** Whether the stream is broken and being reconnected. */
  readonly isBroken: boolean;
  /** Why the record cannot be read. */
  readonly error: unknown;
  readonly retry: () => void;
  /** Shows a record from the answer to another request. */
  readonly show: (record: Job) => void;
}

/**
 * Follows a purge or a scan for as long as the page shows it.
 *
 * @param ask requests its events
 */
export function useJob<Job extends Pick<Purge, 'state'>>(
  id: string,
  ask: (signal: AbortSignal) => Promise<Response>,
  onRecord: (record: Job) => void = () => undefined,
): FollowedJob<Job> {
  const [record, setRecord] = useState<Job>();
  const [isBroken, setIsBroken] = useState(false);
  const [error, setError] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  const latest = useRef(onRecord);
  latest.current = onRecord;
  useEffect(() => {
    const aborter = new AbortController();
    setError(undefined);
    watchJob<Job>({
      ask,
      signal: aborter.signal,
      onRecord: (next) => {
        latest.current(next);
        setRecord(next);
        setIsBroken(false);
      },
      onBroken: () => setIsBroken(true),
    }).catch((reason: unknown) => {
      if (!aborter.signal.aborted) setError(reason);
    });
    return () => aborter.abort();
  }, [id, turn]);
  return {
    record,
    isBroken,
    error,
    retry: () => setTurn((last) => last + 1),
    // An answer may arrive after the event that ended the job, and is then older.
    show: (next) => setRecord((last) => (last !== undefined && isFinal(last) ? last : next)),
  };
}
