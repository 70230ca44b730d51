import { useEffect, useRef, useState } from 'preact/hooks';
import { isFinal } from '../../sidecar/client/purges.js';
import type { Purge } from '../api/client.js';
import { watchJob } from '../api/events.js';

/**
 * Follows a purge or a scan for as long as the page shows it.
 *
 * @param ask requests its events
 */
export function useJob<Job extends Pick<Purge, 'state'>>(
  id: string,
  ask: (signal: AbortSignal) => Promise<Response>,
  onRecord: (record: Job) => void = () => undefined,
) {
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
    /** Whether the stream is broken and being reconnected. */
    isBroken,
    /** Why the record cannot be read. */
    error,
    retry: () => setTurn((last) => last + 1),
    /** Shows a record from the answer to another request, unless it is older than the event that ended the job. */
    show: (next: Job) => setRecord((last) => (last !== undefined && isFinal(last) ? last : next)),
  };
}
