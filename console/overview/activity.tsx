import { useEffect, useState } from 'preact/hooks';
import { api, type Purge, type Schemas } from '../api/client.js';
import { Sparkline } from '../parts/sparkline.js';
import { Empty, Pending } from '../parts/states.js';
import { RateChart } from '../purge/rate-chart.js';
import { withSample, type RateSample } from '../purge/use-purge.js';
import { count } from '../shared/format.js';
import { routeTo } from '../shared/router.js';
import { useLoad } from '../shared/hooks.js';
import { text } from '../strings.js';
import { dailySums, isProblem } from './days.js';

const DAYS = 14;

/** Maximum number of records that the API lists at once. */
const MOST = 1000;

/** Daily sums change slowly. */
const EVERY_MS = 60_000;

/** The activity of the last days as small charts; if there is none, the first step to take. */
export function Activity() {
  const t = text.overview;
  const { value, error, reload } = useLoad(
    'activity',
    async (signal) => {
      const [purges, models, scans] = await Promise.all([
        api.page('/purges', { query: { dryRun: false, limit: MOST }, signal }),
        api.page('/models', { query: { limit: 1 }, signal }),
        api.page('/scans', { query: { limit: MOST }, signal }),
      ]);
      return { purges, scans: scans.items, models: models.total, at: Date.now() };
    },
    EVERY_MS,
  );
  return (
    <section aria-labelledby="activity">
      <h2 id="activity">{t.activity(DAYS)}</h2>
      <Pending {...{ value, error, reload }} />
      {value !== undefined && value.purges.total === 0 && (
        <Empty>
          <p>{t.noPurges}</p>
          <a href={routeTo(['purge'])}>{t.firstPurge}</a>
        </Empty>
      )}
      {value !== undefined && value.purges.total + value.scans.length > 0 && (
        <ul class="tiles charts">
          {chartsOf(value.purges.items, value.scans, value.at).map(({ name, values }) => (
            <li key={name}>
              <span>{name}</span>
              <strong>{count(values.reduce((sum, one) => sum + one, 0))}</strong>
              <figure class="sparkline">
                <Sparkline {...{ values }} label={`${name}: ${values.map(count).join(', ')}`} />
              </figure>
            </li>
          ))}
        </ul>
      )}
      {value !== undefined && value.purges.total > MOST && <p class="quiet">{t.newest(MOST)}</p>}
      {value !== undefined && (
        <p>
          {value.scans.length === 0 ? t.noScans : t.lastScan(value.scans[0]?.invalid ?? 0)}{' '}
          <a href={routeTo(['quality', ...(value.scans[0] === undefined ? [] : [value.scans[0].id])])}>
            {value.scans.length === 0 ? t.firstScan : t.showScan}
          </a>
        </p>
      )}
      {value !== undefined && (
        <p>
          {value.models === 0 ? t.noModels : t.models(value.models)}{' '}
          <a href={routeTo(['models'])}>{value.models === 0 ? t.firstModel : t.showModels}</a>
        </p>
      )}
    </section>
  );
}

function chartsOf(purges: readonly Purge[], scans: readonly Schemas['ListedScan'][], nowMs: number) {
  const t = text.overview;
  return [
    { name: t.purges, values: dailySums(purges, () => 1, nowMs, DAYS) },
    { name: t.deleted, values: dailySums(purges, ({ deleted }) => deleted, nowMs, DAYS) },
    { name: t.withProblems, values: dailySums(purges.filter(isProblem), () => 1, nowMs, DAYS) },
    { name: text.labels.scans, values: dailySums(scans, () => 1, nowMs, DAYS) },
    { name: t.invalid, values: dailySums(scans, ({ invalid }) => invalid, nowMs, DAYS) },
  ];
}

/** The delete rate of all active purges together, while the page is open. @param at when they were read, in milliseconds */
export function DeleteRate({ purges, at }: { readonly purges: readonly Purge[]; readonly at: number }) {
  const [rates, setRates] = useState<readonly RateSample[]>([]);
  useEffect(() => {
    const perSecond = purges.reduce((sum, { ratePerSecond = 0 }) => sum + ratePerSecond, 0);
    setRates((samples) => withSample(samples, { at, perSecond }));
  }, [at]);
  // A single reading gives no line yet.
  const isIdle = rates.length < 2 || rates.every(({ perSecond }) => perSecond === 0);
  return isIdle ? null : <RateChart rates={rates} />;
}
