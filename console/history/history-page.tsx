import { Button } from '../parts/button.js';
import { isFinal } from '../../sidecar/client/purges.js';
import { bindForm, Choice, Field, Tick } from '../parts/fields.js';
import { Listing } from '../parts/listing.js';
import { JOB_STATES } from '../parts/purge-chip.js';
import { Page } from '../parts/page.js';
import { PurgeTable } from '../parts/purge-table.js';
import { replaceAddress, routeTo } from '../shared/router.js';
import { focusFirstField } from '../shared/focus.js';
import { pageOf } from '../shared/page-range.js';
import { useLoad } from '../shared/use-load.js';
import { text } from '../strings.js';
import { filtersIn, listPurges, type HistoryFilters } from './history-list.js';

const PAGE_SIZE = 25;

/** How often the list is read again while it has a running purge, in milliseconds. */
const EVERY_MS = 3000;

/**
 * The records of all purges, with pages and filters, both kept in the address. Dry runs, such as previews, are hidden by
 * default.
 */
export function HistoryPage({ params }: { readonly params: URLSearchParams }) {
  const t = text.history;
  const filters = filtersIn(params);
  const page = pageOf(params.get('page'));
  const loaded = useLoad(
    JSON.stringify([filters, page]),
    (signal) => listPurges(filters, page, PAGE_SIZE, signal),
    EVERY_MS,
  );
  const show = (changed: Partial<HistoryFilters>) =>
    replaceAddress(routeTo(['history'], { ...filters, ...changed }));
  const { dry, ...narrowing } = filters;
  const isFiltered = Object.values(narrowing).some((one) => one !== '');
  const bind = bindForm(filters, show);
  return (
    <Page title={t.title} lead={t.lead}>
      <form class="filters" aria-label={t.filters} onSubmit={(event) => event.preventDefault()}>
        <Choice {...bind('state')} label={t.state} choices={[['', t.anyState], ...JOB_STATES]} />
        <Field {...bind('from')} label={t.from} type="date" />
        <Field {...bind('to')} label={t.to} type="date" />
        <Field {...bind('type')} label={t.type} />
        <Field {...bind('text')} label={t.text} />
        <Field {...bind('tenant')} label={t.tenant} />
        <Field {...bind('caller')} label={t.caller} />
        <Field {...bind('retentionPolicy')} label={t.policy} />
        <Tick label={t.showDry} value={dry !== ''} onInput={(isOn) => show({ dry: isOn ? 'shown' : '' })} />
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
