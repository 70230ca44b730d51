import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { api } from '../api/client.js';
import { fieldErrors, Failure } from '../parts/states.js';
import { Form, bindForm, Field, nonEmpty } from '../parts/fields.js';
import { Listing, usePagedList } from '../parts/listing.js';
import { Page } from '../parts/page.js';
import { StateChip } from '../parts/purge-table.js';
import { readableQuery } from '../../sidecar/shared/readable-query.js';
import { count, time } from '../shared/format.js';
import { routeTo } from '../shared/router.js';
import { ForRole } from '../parts/for-role.js';
import { Table } from '../parts/table.js';
import { useAction } from '../shared/hooks.js';
import { text } from '../strings.js';
import { ScanPage } from './scan-page.js';
import { WritePolicyPage } from './write-policy-editor.js';
import { WritePolicies } from './write-policies.js';

/** The segment of the address before the name of a write policy; no scan has this id. */
const WRITES = 'writes';

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
    <Page title={text.pages.quality} lead={t.lead}>
      <NewScan />
      <Scans params={params} />
      <WritePolicies policy={params.get('policy') ?? undefined} />
    </Page>
  );
}

function NewScan() {
  const t = text.quality;
  const [form, setForm] = useState({ query: '', model: '', tenant: '', sample: '' });
  const { isBusy, error, run } = useAction();
  const bind = bindForm(form, (changed) => setForm({ ...form, ...changed }), fieldErrors(error));
  const start = async () => {
    const { query, sample, ...more } = form;
    const body = {
      query: query.trim(),
      ...nonEmpty(more),
      ...(sample === '' ? {} : { sample: Number(sample) }),
    };
    const { id } = await api.json('post', '/scans', { body });
    location.hash = routeTo(['quality', id]);
  };
  return (
    <Form class="filters" aria-label={t.form} onSubmit={() => run(start)}>
      <Field {...bind('query')} label={text.labels.query} hint={t.queryHint} isWide />
      <Field {...bind('model')} label={text.labels.model} hint={t.modelHint} />
      <Field {...bind('tenant')} label={text.labels.tenant} />
      <Field {...bind('sample')} label={t.sample} hint={t.sampleHint} type="number" />
      <ForRole roles={['modeller', 'purger']}>
        <Button
          type="submit"
          class="primary"
          disabled={form.query.trim() === ''}
          aria-disabled={isBusy}
          label={t.start}
        />
      </ForRole>
      {error !== undefined && <Failure error={error} />}
    </Form>
  );
}

function Scans({ params }: { readonly params: URLSearchParams }) {
  const t = text.quality;
  const list = usePagedList(
    params,
    'scans',
    (query, signal) => api.page('/scans', { query, signal }),
    EVERY_MS,
  );
  return (
    <Listing list={list} to={(one) => routeTo(['quality'], { page: one })} isCounted empty={<p>{t.empty}</p>}>
      {(items) => (
        <Table
          label={text.labels.scans}
          columns={[
            text.labels.created,
            text.labels.state,
            text.labels.query,
            { number: t.columns.checked },
            { number: t.columns.invalid },
            text.labels.caller,
          ]}
        >
          {items.map((scan) => (
            <tr key={scan.id}>
              <td class="when">{time(scan.createdAt)}</td>
              <td>
                <StateChip state={scan.state} />
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
      )}
    </Listing>
  );
}
