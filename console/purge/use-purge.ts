import { useEffect, useState } from 'preact/hooks';
import type { Purge } from '../api/client.js';
import { isFinal } from '../../sidecar/client/purges.js';
import { watchPurge } from '../api/events.js';
import { localTime } from '../shared/gateway-clock.js';
import { averageRate, withSample, type AverageRate, type RateSample } from './rates.js';

/** A purge that is being followed. */
export interface WatchedPurge {
  readonly record: Purge | undefined;
  /** The newest comes last. Their number is bounded, however long the purge takes. */
  readonly rates: readonly RateSample[];
  /** The average rate before this page started to follow it. */
  readonly before: AverageRate | undefined;
  /** Whether the stream is broken and being reconnected. */
  readonly isBroken: boolean;
  /** Why the record cannot be read. */
  readonly error: unknown;
  readonly retry: () => void;
  /** Shows a record from the answer to another request. */
  readonly show: (record: Purge) => void;
}

/** Follows a purge for as long as the page shows it. */
export function usePurge(id: string): WatchedPurge {
  const [record, setRecord] = useState<Purge>();
  const [rates, setRates] = useState<readonly RateSample[]>([]);
  const [before, setBefore] = useState<AverageRate>();
  const [isBroken, setIsBroken] = useState(false);
  const [error, setError] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const aborter = new AbortController();
    let isFirst = true;
    setError(undefined);
    watchPurge(id, {
      signal: aborter.signal,
      onRecord: (next) => {
        const { ratePerSecond, state } = next;
        if (isFirst && !isFinal(next))
          setBefore((known) => known ?? averageRate(next, localTime, Date.now()));
        isFirst = false;
        setRecord(next);
        setIsBroken(false);
        if (ratePerSecond !== undefined && state === 'running')
          setRates((last) => withSample(last, { at: Date.now(), perSecond: ratePerSecond }));
      },
      onBroken: (reason) => setIsBroken(reason !== undefined),
    }).catch((reason: unknown) => {
      if (!aborter.signal.aborted) setError(reason);
    });
    return () => aborter.abort();
  }, [id, turn]);
  return {
    record,
    rates,
    before,
    isBroken,
    error,
    retry: () => setTurn((last) => last + 1),
    // An answer may arrive after the event that ended the purge, and is then older.
    show: (next) => setRecord((last) => (last !== undefined && isFinal(last) ? last : next)),
  };
}
