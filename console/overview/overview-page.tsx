import { api, type Purge, type Status } from '../api/client.js';
import { Page } from '../parts/page.js';
import { PurgeTable } from '../parts/purge-table.js';
import { Pending } from '../parts/states.js';
import { time } from '../shared/format.js';
import { useLoad } from '../shared/hooks.js';
import { text } from '../strings.js';
import { latestPurges } from '../history/history-list.js';
import { Activity, DeleteRate } from './activity.js';
import { PROBLEM_STATES } from './days.js';

const EVERY_MS = 5000;

const SHOWN = 10;

/** Shows whether all is well: health, active purges, recent problems, and what was learnt about the broker. */
export function OverviewPage() {
  const t = text.overview;
  return (
    <Page title={text.pages.overview}>
      <StatusSections />
      <Purges title={t.running} states={['running', 'queued', 'cancelling']} none={t.none} hasRate />
      <Purges title={t.problems} states={PROBLEM_STATES} none={t.noProblems} />
      <Activity />
    </Page>
  );
}

function StatusSections() {
  const t = text.overview;
  const { value, error, reload } = useLoad(
    'status',
    async (signal) => ({
      at: Date.now(),
      status: await api.json('get', '/status', { signal }),
    }),
    EVERY_MS,
  );
  return (
    <>
      <Pending {...{ value, error, reload }} />
      {value !== undefined && (
        <>
          <Health status={value.status} />
          {error !== undefined && <Stale at={value.at} />}
          <section aria-labelledby="learnt">
            <h2 id="learnt">{t.learnt}</h2>
            <Learnt lessons={value.status.learnt} />
          </section>
        </>
      )}
    </>
  );
}

function Health({ status }: { readonly status: Status }) {
  const t = text.overview;
  const parts = [
    // The gateway has answered, so only the broker or the database can be down.
    [t.gateway, status.status === 'shutting down' ? status.status : 'up'],
    [t.broker, status.broker],
    [t.database, status.database],
  ] as const;
  return (
    <section aria-labelledby="health">
      <h2 id="health">{t.health}</h2>
      <ul class="tiles">
        {parts.map(([name, state]) => (
          <li key={name} class={state === 'up' ? 'good' : 'bad'}>
            <span>{name}</span>
            <strong>{state}</strong>
          </li>
        ))}
      </ul>
      {status.broker === 'down' && <p class="notice warn">{t.brokerDown}</p>}
      {status.database === 'down' && <p class="notice warn">{t.databaseDown}</p>}
    </section>
  );
}

/** Says that the data shown is outdated. */
function Stale({ at }: { readonly at: number }) {
  return (
    <p class="quiet">
      {text.state.stale} {text.overview.updated(time(at))}
    </p>
  );
}

/** What purges have learnt about the broker: what it refuses or ignores, and what it was observed to do. */
function Learnt({ lessons }: { readonly lessons: Status['learnt'] }) {
  const t = text.overview;
  if (lessons.length === 0) return <p class="quiet">{t.nothingLearnt}</p>;
  return (
    <>
      <p class="quiet">{t.learntFor}</p>
      <ul class="learnt">
        {lessons.map(({ collection, name, kind, detail, learntAt }) => (
          <li key={`${collection} ${name}`}>
            <span class={kind === 'proof' ? 'chip good' : 'chip warn'}>{t.kinds[kind]}</span>
            <span>{detail}</span>
            <span class="quiet">
              {collection === 'entities' ? text.purge.entities : text.purge.temporal} · {time(learntAt)}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Purges({
  title,
  states,
  none,
  hasRate = false,
}: {
  readonly title: string;
  readonly states: readonly Purge['state'][];
  readonly none: string;
  /** Whether to show the delete rate. */
  readonly hasRate?: boolean;
}) {
  const id = states[0] ?? '';
  const { value, error, reload } = useLoad(
    states.join(),
    async (signal) => ({ at: Date.now(), purges: await latestPurges(states, SHOWN, signal) }),
    EVERY_MS,
  );
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <Pending {...{ value, error, reload }} />
      {value !== undefined && value.purges.length === 0 && <p class="quiet">{none}</p>}
      {value !== undefined && value.purges.length > 0 && <PurgeTable purges={value.purges} label={title} />}
      {value !== undefined && hasRate && <DeleteRate {...value} />}
      {value !== undefined && error !== undefined && <Stale at={value.at} />}
    </section>
  );
}
