import { callPage, type Purge } from '../api/client.js';
import { isFinal } from '../api/events.js';
import { Choice, Field } from '../parts/fields.js';
import { PurgeTable } from '../parts/purge-table.js';
import { Empty, Failure, Loading } from '../parts/states.js';
import { replaceAddress, routeTo } from '../shared/router.js';
import { useLoad } from '../shared/use-load.js';
import { text } from '../strings.js';

const PAGE_SIZE = 25;

/** How often the list is read again while a purge on it is at work, in milliseconds. */
const EVERY_MS = 3000;

const FILTERS = ['state', 'tenant', 'caller'] as const;

/** The records of all purges, by page and filter; the address holds both. */
export function HistoryPage({ params }: { readonly params: URLSearchParams }) {
  const t = text.history;
  const filters = Object.fromEntries(FILTERS.map((name) => [name, params.get(name) ?? ''])) as Record<
    (typeof FILTERS)[number],
    string
  >;
  const page = Math.max(1, Math.trunc(Number(params.get('page') ?? '1')) || 1);
  const given = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ''));
  given.set('limit', String(PAGE_SIZE));
  given.set('offset', String((page - 1) * PAGE_SIZE));
  const path = `api/v2/purges?${given.toString()}`;
  const { value, error, isLoading, reload } = useLoad(
    path,
    (signal) => callPage<Purge>(path, signal),
    EVERY_MS,
  );
  const show = (changed: Partial<typeof filters>) =>
    replaceAddress(routeTo(['history'], { ...filters, ...changed }));
  const isFiltered = Object.values(filters).some((one) => one !== '');
  return (
    <div class="page">
      <h1>{t.title}</h1>
      <p class="lead">{t.lead}</p>
      <form class="filters" aria-label={t.filters} onSubmit={(event) => event.preventDefault()}>
        <Choice
          label={t.state}
          value={filters.state}
          choices={[['', t.anyState] as const, ...Object.entries(text.run.states)]}
          onChoose={(state) => show({ state })}
        />
        <Field label={t.tenant} value={filters.tenant} onInput={(tenant) => show({ tenant })} />
        <Field label={t.caller} value={filters.caller} onInput={(caller) => show({ caller })} />
        {isFiltered && (
          <button type="button" onClick={() => show({ state: '', tenant: '', caller: '' })}>
            {t.clear}
          </button>
        )}
      </form>
      {error !== undefined && <Failure error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && value.items.length === 0 && (
        <Empty>
          <p>{isFiltered ? t.emptyFiltered : t.empty}</p>
          {!isFiltered && <a href={routeTo(['purge'])}>{t.make}</a>}
        </Empty>
      )}
      {value !== undefined && value.items.length > 0 && (
        <div aria-busy={isLoading && !value.items.every(isFinal)}>
          <PurgeTable purges={value.items} label={t.title} />
          <Pager page={page} total={value.total} filters={filters} />
        </div>
      )}
    </div>
  );
}

function Pager({
  page,
  total,
  filters,
}: {
  readonly page: number;
  readonly total: number;
  readonly filters: Readonly<Record<string, string>>;
}) {
  const t = text.history;
  const to = (one: number) => routeTo(['history'], { ...filters, page: one === 1 ? undefined : String(one) });
  const first = (page - 1) * PAGE_SIZE + 1;
  const last = Math.min(page * PAGE_SIZE, total);
  return (
    <nav class="pager" aria-label={t.pages}>
      {page > 1 && <a href={to(page - 1)}>{t.newer}</a>}
      <span>{t.range(first, last, total)}</span>
      {last < total && <a href={to(page + 1)}>{t.older}</a>}
    </nav>
  );
}
