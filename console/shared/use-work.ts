import { useState } from 'preact/hooks';

/** What a person has begun: whether it is at work, and why it failed the last time. */
export interface Work {
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly run: (work: () => Promise<unknown>) => void;
  /** Takes away what was said of the last time. */
  readonly clear: () => void;
}

/** Runs what a person begins, one thing at a time, and keeps why it failed. */
export function useWork(): Work {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>();
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
