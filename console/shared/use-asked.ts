import { useEffect, useRef, useState } from 'preact/hooks';
import { isTokenWanted } from '../api/client.js';
import { token } from '../api/token.js';

/** The answer to a request. The last answer is kept until the next one arrives. */
export interface Asked<Value> {
  /** Whether the answer belongs to the current key; otherwise it is still awaited. */
  readonly isCurrent: boolean;
  readonly value: Value | undefined;
  readonly error: unknown;
  readonly again: () => void;
}

interface Pauses {
  /** How long the key must stay unchanged before the request is sent, in milliseconds. */
  readonly pauseMs: number;
  readonly isFirstAtOnce?: boolean;
}

/**
 * Sends a request whenever its key has not changed for a while.
 *
 * @param key changes with what is requested; undefined to request nothing
 */
export function useAsked<Value>(
  key: string | undefined,
  ask: (signal: AbortSignal) => Promise<Value>,
  { pauseMs, isFirstAtOnce = false }: Pauses,
): Asked<Value> {
  const [answer, setAnswer] = useState<{ key: string; value?: Value; error?: unknown }>();
  const [turn, setTurn] = useState(0);
  const isAtOnce = useRef(isFirstAtOnce);
  // A user who has no token is not asked for it at every key.
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
