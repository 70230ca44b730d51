import { addressOf, ApiError, callPage, OfflineError, type Purge } from '../api/client.js';
import { PurgeTable } from '../parts/purge-table.js';
import { Failure, Loading } from '../parts/states.js';
import { time } from '../shared/format.js';
import { useLoad } from '../shared/use-load.js';
import { text } from '../strings.js';

const EVERY_MS = 5000;

/** States of purges that want a look, and how many purges are shown. */
const PROBLEM_STATES = ['failed', 'partial', 'interrupted', 'refused'] as const;
const SHOWN = 10;

/** Previews are dry runs that mostly fail while a query is half typed: more is read than is shown, and they are left out. */
const READ = 50;

interface Health {
  readonly status: string;
  readonly broker: string;
  readonly database: string;
}

/** Whether all is well: health, what is at work, and what went wrong lately. */
export function OverviewPage() {
  const t = text.overview;
  return (
    <div class="page">
      <h1>{t.title}</h1>
      <HealthCards />
      <Purges title={t.running} states={['running', 'queued', 'cancelling']} none={t.none} />
      <Purges title={t.problems} states={PROBLEM_STATES} none={t.noProblems} />
    </div>
  );
}

/** Not ready is an answer as well here, with status 503. */
async function readHealth(signal: AbortSignal): Promise<Health> {
  const response = await fetch(addressOf('health/ready'), { signal, cache: 'no-store' }).catch(
    (cause: unknown) => {
      if (signal.aborted) throw cause;
      throw new OfflineError(false, cause);
    },
  );
  const health = (await response.json().catch(() => undefined)) as Health | undefined;
  if (typeof health?.status !== 'string')
    throw new ApiError({ title: response.statusText, status: response.status }, undefined);
  return health;
}

function HealthCards() {
  const t = text.overview;
  const { value, error, reload } = useLoad('health', readHealth, EVERY_MS);
  if (error !== undefined) return <Failure error={error} onRetry={reload} />;
  if (value === undefined) return <Loading />;
  const parts = [
    [t.gateway, value.status],
    [t.broker, value.broker],
    [t.database, value.database],
  ] as const;
  return (
    <section aria-labelledby="health">
      <h2 id="health">{t.health}</h2>
      <ul class="tiles">
        {parts.map(([name, state]) => (
          <li key={name} class={state === 'up' ? 'good' : 'bad'}>
            <span>{name}</span>
            <strong>{state === 'up' ? t.up : state === 'down' ? t.down : state}</strong>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Purges({
  title,
  states,
  none,
}: {
  readonly title: string;
  readonly states: readonly string[];
  readonly none: string;
}) {
  const id = states[0] ?? '';
  const { value, error, reload } = useLoad(
    states.join(),
    async (signal) => {
      const pages = await Promise.all(
        states.map((state) => callPage<Purge>(`api/v2/purges?state=${state}&limit=${READ}`, signal)),
      );
      const purges = pages
        .flatMap(({ items }) => items)
        .filter(({ dryRun }) => !dryRun)
        .sort((a, b) => b.createdAt.localeCompare(a.createdAt));
      return { at: Date.now(), purges: purges.slice(0, SHOWN) };
    },
    EVERY_MS,
  );
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {error !== undefined && <Failure error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && value.purges.length === 0 && <p class="quiet">{none}</p>}
      {value !== undefined && value.purges.length > 0 && <PurgeTable purges={value.purges} label={title} />}
      {value !== undefined && error !== undefined && (
        <p class="quiet">
          {text.state.stale} {text.overview.updated(time(value.at))}
        </p>
      )}
    </section>
  );
}
