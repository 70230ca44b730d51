import { Button } from '../parts/button.js';
import { isFinal } from '../../sidecar/client/purges.js';
import { Choice, Field, Tick } from '../parts/fields.js';
import { Listing } from '../parts/listing.js';
import { JOB_STATES } from '../parts/purge-chip.js';
import { Page } from '../parts/page.js';
import { PurgeTable } from '../parts/purge-table.js';
import { replaceAddress, routeTo } from '../shared/router.js';
import { focusFirstField } from '../shared/focus.js';
import { pageOf } from '../shared/page-range.js';
import { useLoad } from '../shared/use-load.js';
import { text } from '../strings.js';
import { listPurges, type HistoryFilters } from './history-list.js';

const PAGE_SIZE = 25;

/** How often the list is read again while it has a running purge, in milliseconds. */
const EVERY_MS = 3000;

/**
 * The records of all purges, with pages and filters, both kept in the address. Dry runs, such as previews, are hidden by
 * default.
 */
export function HistoryPage({ params }: { readonly params: URLSearchParams }) {
  const t = text.history;
  const filters: HistoryFilters = {
    state: params.get('state') ?? '',
    tenant: params.get('tenant') ?? '',
    caller: params.get('caller') ?? '',
    retentionPolicy: params.get('retentionPolicy') ?? '',
    from: params.get('from') ?? '',
    to: params.get('to') ?? '',
    text: params.get('text') ?? '',
    type: params.get('type') ?? '',
    dry: params.get('dry') === 'shown' ? 'shown' : '',
  };
  const page = pageOf(params.get('page'));
  const loaded = useLoad(
    JSON.stringify([filters, page]),
    (signal) => listPurges(filters, page, PAGE_SIZE, signal),
    EVERY_MS,
  );
  const show = (changed: Partial<HistoryFilters>) =>
    replaceAddress(routeTo(['history'], { ...filters, ...changed }));
  const { dry, ...narrowing } = filters;
  const { state } = filters;
  const isFiltered = Object.values(narrowing).some((one) => one !== '');
  const field = (name: keyof typeof narrowing, label: string, type: 'text' | 'date' = 'text') => (
    <Field label={label} type={type} value={filters[name]} onInput={(typed) => show({ [name]: typed })} />
  );
  return (
    <Page title={t.title} lead={t.lead}>
      <form class="filters" aria-label={t.filters} onSubmit={(event) => event.preventDefault()}>
        <Choice
          label={t.state}
          value={state}
          choices={[['', t.anyState] as const, ...JOB_STATES.map((name) => [name, name] as const)]}
          onChoose={(chosen) => show({ state: chosen })}
        />
        {field('from', t.from, 'date')}
        {field('to', t.to, 'date')}
        {field('type', t.type)}
        {field('text', t.text)}
        {field('tenant', t.tenant)}
        {field('caller', t.caller)}
        {field('retentionPolicy', t.policy)}
        <Tick label={t.showDry} isOn={dry !== ''} onChange={(isOn) => show({ dry: isOn ? 'shown' : '' })} />
        {isFiltered && (
          <Button
            onClick={({ currentTarget }) => {
              replaceAddress(routeTo(['history'], { dry }));
              focusFirstField(currentTarget);
            }}
            label={t.clear}
          />
        )}
      </form>
      <Listing
        {...{ loaded, page, pageSize: PAGE_SIZE }}
        to={(one) => routeTo(['history'], { ...filters, page: one })}
        isCounted
        empty={
          <>
            <p>{isFiltered ? t.emptyFiltered : t.empty}</p>
            {dry === '' && <p>{t.dryHidden}</p>}
            {!isFiltered && <a href={routeTo(['purge'])}>{t.make}</a>}
          </>
        }
      >
        {(items) => (
          <div aria-busy={loaded.isLoading && !items.every(isFinal)}>
            <PurgeTable purges={items} label={t.title} />
          </div>
        )}
      </Listing>
    </Page>
  );
}
