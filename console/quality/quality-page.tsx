import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { isFinal } from '../../sidecar/client/purges.js';
import { api, pageParams } from '../api/client.js';
import { Field } from '../parts/fields.js';
import { Listing } from '../parts/listing.js';
import { Page } from '../parts/page.js';
import { PurgeChip } from '../parts/purge-chip.js';
import { Failure } from '../parts/states.js';
import { readableQuery } from '../../sidecar/shared/readable-query.js';
import { count, time } from '../shared/format.js';
import { pageOf } from '../shared/page-range.js';
import { routeTo } from '../shared/router.js';
import { useLoad } from '../shared/use-load.js';
import { ForRole } from '../parts/for-role.js';
import { Table } from '../parts/table.js';
import { useWork } from '../shared/use-work.js';
import { text } from '../strings.js';
import { ScanPage } from './scan-page.js';
import { WritePolicyPage } from './write-policy-editor.js';
import { Writes } from './writes.js';

/** The segment of the address before the name of a write policy; no scan has this id. */
const WRITES = 'writes';

const PAGE_SIZE = 25;

/** How often the list is read again while it has a running scan, in milliseconds. */
const EVERY_MS = 2000;

/** The quality of what the broker has and what it is sent: scans, write policies, and the findings of both. */
export function QualityPage({
  id,
  policy,
  params,
}: {
  readonly id: string | undefined;
  /** The name of a write policy, if the address names one. */
  readonly policy: string | undefined;
  readonly params: URLSearchParams;
}) {
  if (id === WRITES && policy !== undefined) return <WritePolicyPage key={policy} name={policy} />;
  if (id !== undefined) return <ScanPage key={id} id={id} params={params} />;
  const t = text.quality;
  return (
    <Page title={t.title} lead={t.lead}>
      <NewScan />
      <Scans page={pageOf(params.get('page'))} />
      <Writes policy={params.get('policy') ?? undefined} />
    </Page>
  );
}

function NewScan() {
  const t = text.quality;
  const [query, setQuery] = useState('');
  const [model, setModel] = useState('');
  const [tenant, setTenant] = useState('');
  const [sample, setSample] = useState('');
  const { error, run } = useWork();
  const start = async () => {
    const body = {
      query: query.trim(),
      ...(model.trim() === '' ? {} : { model: model.trim() }),
      ...(tenant.trim() === '' ? {} : { tenant: tenant.trim() }),
      ...(sample.trim() === '' ? {} : { sample: Number(sample) }),
    };
    const { id } = await api.json('post', '/scans', { body });
    location.hash = routeTo(['quality', id]);
  };
  return (
    <form
      class="filters"
      aria-label={t.form}
      onSubmit={(event) => {
        event.preventDefault();
        run(start);
      }}
    >
      <Field label={t.query} value={query} onInput={setQuery} hint={t.queryHint} isWide />
      <Field label={t.model} value={model} onInput={setModel} hint={t.modelHint} />
      <Field label={t.tenant} value={tenant} onInput={setTenant} />
      <Field label={t.sample} value={sample} onInput={setSample} type="number" hint={t.sampleHint} />
      <ForRole roles={['modeller', 'purger']}>
        <Button type="submit" class="primary" disabled={query.trim() === ''} label={t.start} />
      </ForRole>
      {error !== undefined && <Failure error={error} />}
    </form>
  );
}

function Scans({ page }: { readonly page: number }) {
  const t = text.quality;
  const loaded = useLoad(
    `scans ${page}`,
    (signal) => api.page('/scans', { query: pageParams(page, PAGE_SIZE), signal }),
    EVERY_MS,
  );
  return (
    <Listing
      {...{ loaded, page, pageSize: PAGE_SIZE }}
      to={(one) => routeTo(['quality'], { page: one })}
      isCounted
      empty={<p>{t.empty}</p>}
    >
      {(items) => (
        <div aria-busy={!items.every(isFinal)}>
          <Table
            label={t.scans}
            columns={[
              t.columns.when,
              t.columns.state,
              t.columns.query,
              { number: t.columns.checked },
              { number: t.columns.invalid },
              t.columns.caller,
            ]}
          >
            {items.map((scan) => (
              <tr key={scan.id}>
                <td class="when">{time(scan.createdAt)}</td>
                <td>
                  <PurgeChip state={scan.state} />
                </td>
                <td class="query">
                  <a href={routeTo(['quality', scan.id])}>{readableQuery(scan.query)}</a>
                </td>
                <td class="number">{count(scan.checked)}</td>
                <td class="number">{count(scan.invalid)}</td>
                <td>{scan.caller}</td>
              </tr>
            ))}
          </Table>
        </div>
      )}
    </Listing>
  );
}
