import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Failure } from '../parts/states.js';
import { rate } from '../shared/format.js';
import { text } from '../strings.js';

/** The limits on the slider; after the last one, there is no limit. */
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];

/** The step that means no limit. */
export const LAST_STEP = STEPS.length;

/** Returns the limit of a step, in deletes per second; null for no limit. */
export function limitOf(step: number): number | null {
  return STEPS[step] ?? null;
}

/** Returns the step of a limit: the first that is not below it. */
export function stepOf(limit: number | null): number {
  if (limit === null) return LAST_STEP;
  const step = STEPS.findIndex((one) => one >= limit);
  return step === -1 ? LAST_STEP - 1 : step;
}

/** How long the slider must rest before the limit is sent, in milliseconds. */
const REST_MS = 250;

/** The maximum rate per second, as in records and in changes to them; null for no limit. */
export interface Rate {
  readonly maxPerSecond: number | null;
}

/** A slider that limits the rate of a running purge or scan. */
export function Throttle({
  job,
  change,
}: {
  readonly job: Rate;
  /** Requests another limit. @returns the limit that the gateway applies, since a policy may allow less */
  readonly change: (rate: Rate) => Promise<Rate>;
}) {
  const id = useId();
  const [chosen, setChosen] = useState<number>();
  const [message, setMessage] = useState('');
  const [error, setError] = useState<unknown>();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const step = chosen ?? stepOf(job.maxPerSecond);
  const exact = chosen === undefined ? job.maxPerSecond : limitOf(step);
  const label = exact === null ? text.run.noLimit : rate(exact);
  const choose = (next: number) => {
    setChosen(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void send(next), REST_MS);
  };
  const send = async (sent: number) => {
    setError(undefined);
    try {
      const { maxPerSecond } = await change({ maxPerSecond: limitOf(sent) });
      setMessage(maxPerSecond === null ? text.run.unthrottled : text.run.throttled(rate(maxPerSecond)));
    } catch (failure) {
      setError(failure);
    }
    // The slider may have been moved again in the meantime.
    setChosen((now) => (now === sent ? undefined : now));
  };
  return (
    <div class="throttle">
      <label for={id}>{text.run.throttle}</label>
      <div class="slider">
        <input
          id={id}
          type="range"
          min={0}
          max={LAST_STEP}
          step={1}
          value={step}
          aria-valuetext={label}
          onInput={(event) => choose(Number(event.currentTarget.value))}
        />
        <output for={id}>{label}</output>
      </div>
      <p class="hint" role="status">
        {message}
      </p>
      {error !== undefined && <Failure error={error} />}
    </div>
  );
}
