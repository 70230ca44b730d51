import { Button } from '../parts/button.js';
import { Form, bindForm, Select, Field, Checkbox, focusFirstField } from '../parts/fields.js';
import { Listing, usePagedList } from '../parts/listing.js';
import { JOB_STATES, PurgeTable } from '../parts/purge-table.js';
import { Page } from '../parts/page.js';
import { replaceAddress, routeTo } from '../shared/router.js';
import { text } from '../strings.js';
import { filtersIn, listPurges, type HistoryFilters } from './history-list.js';

/** How often the list is read again while it has a running purge, in milliseconds. */
const EVERY_MS = 3000;

/**
 * The records of all purges, with pages and filters, both kept in the address. Dry runs, such as previews, are hidden by
 * default.
 */
export function HistoryPage({ params }: { readonly params: URLSearchParams }) {
  const t = text.history;
  const filters = filtersIn(params);
  const list = usePagedList(
    params,
    JSON.stringify(filters),
    (query, signal) => listPurges(filters, query, signal),
    EVERY_MS,
  );
  const show = (changed: Partial<HistoryFilters>) =>
    replaceAddress(routeTo(['history'], { ...filters, ...changed }));
  const { dry, ...narrowing } = filters;
  const isFiltered = Object.values(narrowing).some((one) => one !== '');
  const bind = bindForm(filters, show);
  return (
    <Page title={text.pages.history} lead={t.lead}>
      <Form class="filters" aria-label={t.filters}>
        <Select {...bind('state')} label={text.labels.state} choices={[['', t.anyState], ...JOB_STATES]} />
        <Field {...bind('from')} label={text.labels.from} type="date" />
        <Field {...bind('to')} label={text.labels.to} type="date" />
        <Field {...bind('type')} label={text.labels.type} />
        <Field {...bind('text')} label={t.text} />
        <Field {...bind('tenant')} label={text.labels.tenant} />
        <Field {...bind('caller')} label={text.labels.caller} />
        <Field {...bind('retentionPolicy')} label={text.labels.policy} />
        <Checkbox
          label={t.showDry}
          value={dry !== ''}
          onInput={(isOn) => show({ dry: isOn ? 'shown' : '' })}
        />
        {isFiltered && (
          <Button
            onClick={({ currentTarget }) => {
              replaceAddress(routeTo(['history'], { dry }));
              focusFirstField(currentTarget);
            }}
            label={t.clear}
          />
        )}
      </Form>
      <Listing
        list={list}
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
        {(items) => <PurgeTable purges={items} label={text.pages.history} />}
      </Listing>
    </Page>
  );
}
