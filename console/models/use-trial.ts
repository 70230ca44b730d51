import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, isTokenWanted } from '../api/client.js';
import type { ChangeReport, ModelKey, ModelTrial } from './models-api.js';
import { tryWrite, type Expected, type ModelWrite } from './model-write.js';

/** How long typing has to pause before the gateway is asked, in milliseconds. */
const PAUSE_MS = 500;

/** What a write would do, as far as is known. */
export interface Trial {
  /** Of the write as it is now; else it is still being checked. */
  readonly isCurrent: boolean;
  readonly found: ModelTrial | undefined;
  readonly error: unknown;
}

/**
 * Checks what a write would do, whenever it has not changed for a while.
 *
 * @param write undefined: there is nothing to check
 */
export function useTrial(key: ModelKey | undefined, write: ModelWrite | undefined, expected: Expected) {
  const asked = JSON.stringify([key, write, expected]);
  const [state, setState] = useState<{ asked: string; found?: ModelTrial; error?: unknown }>();
  const [turn, setTurn] = useState(0);
  const isFirst = useRef(true);
  // Who has no token to give is not asked for it at every key.
  const isBarred = useRef(false);
  useEffect(() => {
    if (key === undefined || write === undefined || isBarred.current) return undefined;
    const aborter = new AbortController();
    const { signal } = aborter;
    const look = () => {
      tryWrite(key, write, expected, signal).then(
        (found) => signal.aborted || setState({ asked, found }),
        (error: unknown) => {
          if (signal.aborted) return;
          isBarred.current = isTokenWanted(error);
          setState({ asked, error });
        },
      );
    };
    const timer = setTimeout(look, isFirst.current ? 0 : PAUSE_MS);
    isFirst.current = false;
    return () => {
      clearTimeout(timer);
      aborter.abort();
    };
  }, [asked, turn]);
  const trial: Trial = {
    isCurrent: state?.asked === asked || isBarred.current,
    found: state?.found,
    error: state?.error,
  };
  const again = () => {
    isBarred.current = false;
    setTurn((last) => last + 1);
  };
  return { trial, again };
}

/** The report of a change that was refused because of it (409). */
export function refusedReport(error: unknown): ChangeReport | undefined {
  if (!(error instanceof ApiError) || error.problem.status !== 409) return undefined;
  const { report } = error.problem;
  return typeof report === 'object' && report !== null && 'differences' in report
    ? (report as ChangeReport)
    : undefined;
}
