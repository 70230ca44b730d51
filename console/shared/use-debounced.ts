import { useEffect, useState } from 'preact/hooks';

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
