import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { api, type Purge } from '../api/client.js';
import { Failure } from '../parts/states.js';
import { rate } from '../shared/format.js';
import { text } from '../strings.js';
import { LAST_STEP, limitOf, stepOf } from './throttle-steps.js';

/** How long the slider must rest before the limit is sent, in milliseconds. */
const REST_MS = 250;

/** Holds a running purge to a rate. */
export function Throttle({
  record,
  onChanged,
}: {
  readonly record: Purge;
  readonly onChanged: (record: Purge) => void;
}) {
  const id = useId();
  const [chosen, setChosen] = useState<number>();
  const [said, setSaid] = useState('');
  const [error, setError] = useState<unknown>();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const step = chosen ?? stepOf(record.maxPerSecond);
  const exact = chosen === undefined ? record.maxPerSecond : limitOf(step);
  const label = exact === null ? text.run.noLimit : rate(exact);
  const choose = (next: number) => {
    setChosen(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void send(next), REST_MS);
  };
  const send = async (sent: number) => {
    const maxPerSecond = limitOf(sent);
    setError(undefined);
    try {
      const asked = { path: { purge: record.id }, body: { maxPerSecond } };
      const changed = await api.json('patch', '/purges/{purge}', asked);
      onChanged(changed);
      // What the gateway made of it: a policy may allow less.
      setSaid(
        changed.maxPerSecond === null ? text.run.unthrottled : text.run.throttled(rate(changed.maxPerSecond)),
      );
    } catch (failure) {
      setError(failure);
    }
    // The slider may have been moved on meanwhile.
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
        {said}
      </p>
      {error !== undefined && <Failure error={error} />}
    </div>
  );
}
