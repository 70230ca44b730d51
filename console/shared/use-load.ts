import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { isTokenWanted } from '../api/client.js';
import { whenSeen } from './seen.js';

/** The result of loading a value. The last value is kept while it is loaded again. */
export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/**
 * Loads a value, and loads it again whenever its key changes. With an interval, also loads it repeatedly while the tab is
 * visible. The previous request is aborted, so that an old answer never replaces a new one.
 */
export function useLoad<Value>(
  key: string,
  load: (signal: AbortSignal) => Promise<Value>,
  everyMs?: number,
): Loaded<Value> {
  const [state, setState] = useState<{ key: string; value?: Value; error?: unknown; isLoading: boolean }>({
    key,
    isLoading: true,
  });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const aborter = new AbortController();
    const { signal } = aborter;
    setState((last) => (last.key === key ? { ...last, isLoading: true } : { key, isLoading: true }));
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = () => {
      if (everyMs !== undefined && !signal.aborted)
        timer = setTimeout(() => {
          void whenSeen(signal).then(() => {
            if (!signal.aborted) setTurn((last) => last + 1);
          });
        }, everyMs);
    };
    latest.current(signal).then(
      (value) => {
        if (!signal.aborted) setState({ key, value, isLoading: false });
        again();
      },
      (error: unknown) => {
        if (!signal.aborted) setState((last) => ({ ...last, error, isLoading: false }));
        // A user who has no token is not asked for it every few seconds.
        if (!isTokenWanted(error)) again();
      },
    );
    return () => {
      aborter.abort();
      clearTimeout(timer);
    };
  }, [key, turn, everyMs]);
  const reload = useCallback(() => setTurn((last) => last + 1), []);
  const isCurrent = state.key === key;
  return {
    value: isCurrent ? state.value : undefined,
    error: isCurrent ? state.error : undefined,
    isLoading: !isCurrent || state.isLoading,
    reload,
  };
}
