import { useState } from 'preact/hooks';

/** An action started by the user: whether it is running, and why it failed the last time. */
export interface Work {
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly run: (work: () => Promise<unknown>) => void;
  /** Clears the last error. */
  readonly clear: () => void;
}

/** Runs actions of the user, one at a time, and keeps the last error. */
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
