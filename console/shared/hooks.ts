import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { needsToken } from '../api/client.js';
import { token } from '../api/token.js';
import { whenVisible } from './visibility.js';

/** The result of loading a value. */
export interface Loaded<Value> {
  /** The value of the current key. It is kept while it is loaded again. */
  readonly value: Value | undefined;
  /** The last value, even if it is that of an earlier key. */
  readonly last: Value | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/**
 * Loads a value, and loads it again whenever its key changes. With an interval, also loads it repeatedly while the tab is
 * visible. The previous request is aborted, so that an old answer never replaces a new one.
 *
 * @param key undefined to load nothing
 */
export function useLoad<Value>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<Value>,
  everyMs?: number,
): Loaded<Value> {
  const [answer, setAnswer] = useState<{ key?: string | undefined; value?: Value; error?: unknown }>({});
  const [isAsking, setIsAsking] = useState(true);
  const [turn, setTurn] = useState(0);
  // A user who has no token is not asked for it at every key, nor every few seconds.
  const isBarred = useRef(false);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    if (key === undefined) {
      isBarred.current = false;
      setAnswer({});
      return undefined;
    }
    if (isBarred.current && token() === undefined) {
      setAnswer(({ error }) => ({ key, error }));
      return undefined;
    }
    const aborter = new AbortController();
    const { signal } = aborter;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const settle = (error?: unknown) => {
      if (signal.aborted) return;
      setIsAsking(false);
      isBarred.current = needsToken(error);
      if (everyMs === undefined || isBarred.current) return;
      timer = setTimeout(() => {
        void whenVisible(signal).then(() => {
          if (!signal.aborted) setTurn((last) => last + 1);
        });
      }, everyMs);
    };
    setIsAsking(true);
    latest.current(signal).then(
      (value) => {
        if (!signal.aborted) setAnswer({ key, value });
        settle();
      },
      (error: unknown) => {
        if (!signal.aborted) setAnswer((last) => (last.key === key ? { ...last, error } : { key, error }));
        settle(error);
      },
    );
    return () => {
      aborter.abort();
      clearTimeout(timer);
    };
  }, [key, turn, everyMs]);
  const reload = useCallback(() => {
    isBarred.current = false;
    setTurn((last) => last + 1);
  }, []);
  const isCurrent = key !== undefined && answer.key === key;
  return {
    value: isCurrent ? answer.value : undefined,
    last: key === undefined ? undefined : answer.value,
    error: isCurrent ? answer.error : undefined,
    isLoading: key !== undefined && (!isCurrent || isAsking),
    reload,
  };
}

/** Runs actions of the user, one at a time. @returns whether one is running, and why the last one failed */
export function useAction() {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  /** Clears the last error. */
  const clear = () => setError(undefined);
  const run = (work: () => Promise<unknown>) => {
    if (isBusy) return;
    setIsBusy(true);
    clear();
    void work()
      .catch(setError)
      .then(() => setIsBusy(false));
  };
  return { isBusy, error, run, clear };
}

/** How long a value must not change, in milliseconds: typing has paused. */
const PAUSE_MS = 450;

/** Returns a value once it has not changed for a while. */
export function useDebounced<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
