import { useEffect, useState } from 'preact/hooks';
import type { Purge } from '../api/client.js';
import { watchPurge } from '../api/events.js';

/** One point of the rate of a purge. */
export interface RateSample {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly perSecond: number;
}

/** A purge as it goes on. */
export interface WatchedPurge {
  readonly record: Purge | undefined;
  /** The newest last; a bounded number of them, however long the purge takes. */
  readonly rates: readonly RateSample[];
  /** The stream broke, and is asked for again. */
  readonly isBroken: boolean;
  /** The record cannot be read. */
  readonly error: unknown;
  readonly retry: () => void;
  /** Shows a record that another request was answered with. */
  readonly show: (record: Purge) => void;
}

const MAX_SAMPLES = 240;

/** Follows a purge for as long as the page shows it. */
export function usePurge(id: string): WatchedPurge {
  const [record, setRecord] = useState<Purge>();
  const [rates, setRates] = useState<readonly RateSample[]>([]);
  const [isBroken, setIsBroken] = useState(false);
  const [error, setError] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const aborter = new AbortController();
    setError(undefined);
    watchPurge(id, {
      signal: aborter.signal,
      onRecord: (next) => {
        setRecord(next);
        setIsBroken(false);
        const { ratePerSecond, state } = next;
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
    ...{ record, rates, isBroken, error },
    retry: () => setTurn((last) => last + 1),
    show: setRecord,
  };
}

/** Adds a sample; when there are too many, every second one of the older half goes. */
export function withSample(last: readonly RateSample[], sample: RateSample): readonly RateSample[] {
  const samples = [...last, sample];
  if (samples.length <= MAX_SAMPLES) return samples;
  const half = MAX_SAMPLES / 2;
  return [...samples.slice(0, half).filter((_, index) => index % 2 === 0), ...samples.slice(half)];
}
