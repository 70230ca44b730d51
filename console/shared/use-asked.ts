import { useEffect, useRef, useState } from 'preact/hooks';
import { isTokenWanted } from '../api/client.js';
import { token } from '../api/token.js';

/** What came of asking for something. The last answer stays until the next one is there. */
export interface Asked<Value> {
  /** It is of what is asked for now; else that is still being waited for. */
  readonly isCurrent: boolean;
  readonly value: Value | undefined;
  readonly error: unknown;
  readonly again: () => void;
}

interface Pauses {
  /** How long what is asked for must not change before it is, in milliseconds. */
  readonly pauseMs: number;
  readonly isFirstAtOnce?: boolean;
}

/**
 * Asks for something whenever it has not changed for a while.
 *
 * @param key changes with what is asked for; undefined: nothing is
 */
export function useAsked<Value>(
  key: string | undefined,
  ask: (signal: AbortSignal) => Promise<Value>,
  { pauseMs, isFirstAtOnce = false }: Pauses,
): Asked<Value> {
  const [answer, setAnswer] = useState<{ key: string; value?: Value; error?: unknown }>();
  const [turn, setTurn] = useState(0);
  const isAtOnce = useRef(isFirstAtOnce);
  // Who has no token to give is not asked for it at every key.
  const isBarred = useRef(false);
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    if (key === undefined) {
      isBarred.current = false;
      setAnswer(undefined);
      return undefined;
    }
    if (isBarred.current && token() === undefined) return undefined;
    isBarred.current = false;
    const aborter = new AbortController();
    const { signal } = aborter;
    const look = () => {
      latest.current(signal).then(
        (value) => signal.aborted || setAnswer({ key, value }),
        (error: unknown) => {
          if (signal.aborted) return;
          isBarred.current = isTokenWanted(error);
          setAnswer({ key, error });
        },
      );
    };
    const timer = setTimeout(look, isAtOnce.current ? 0 : pauseMs);
    isAtOnce.current = false;
    return () => {
      clearTimeout(timer);
      aborter.abort();
    };
  }, [key, turn]);
  const again = () => {
    isBarred.current = false;
    setTurn((last) => last + 1);
  };
  return {
    isCurrent: (answer !== undefined && answer.key === key) || isBarred.current,
    value: answer?.value,
    error: answer?.error,
    again,
  };
}
