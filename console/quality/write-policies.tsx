import { ButtonLink } from '../parts/button.js';
import { allPages, api } from '../api/client.js';
import { Card } from '../parts/card.js';
import { Select } from '../parts/fields.js';
import { Empty, Pending } from '../parts/states.js';
import { readableQuery } from '../../sidecar/shared/readable-query.js';
import { count, time } from '../shared/format.js';
import { routeTo } from '../shared/router.js';
import { useLoad } from '../shared/hooks.js';
import { Table } from '../parts/table.js';
import { text } from '../strings.js';
import { FindingTable } from './finding-table.js';
import type { WritePolicy } from './write-policies-api.js';
import { NEW } from './write-policy-editor.js';

/** How often the findings are read again, in milliseconds. */
const EVERY_MS = 5000;

/** The write policies, and the findings of their checks beside those of the last scan. */
export function WritePolicies({ policy }: { readonly policy: string | undefined }) {
  const t = text.writes;
  const { value, error, reload } = useLoad('write policies', (signal) =>
    allPages((query) => api.page('/write-policies', { query, signal })),
  );
  return (
    <>
      <section aria-labelledby="writes">
        <div class="heading">
          <h2 id="writes">{t.title}</h2>
          <ButtonLink href={routeTo(['quality', 'writes', NEW])} label={t.create} />
        </div>
        <Pending {...{ value, error, reload }} />
        {value?.length === 0 && <Empty>{t.empty}</Empty>}
        {value !== undefined && value.length > 0 && <PolicyTable policies={value} />}
      </section>
      <div class="columns even">
        <WriteFindings policy={policy} names={(value ?? []).map(({ name }) => name)} />
        <ScanFindings />
      </div>
    </>
  );
}

function PolicyTable({ policies }: { readonly policies: readonly WritePolicy[] }) {
  const t = text.writes;
  return (
    <Table
      label={t.title}
      columns={[
        text.labels.name,
        text.labels.mode,
        t.fields.types,
        text.labels.tenant,
        { number: t.fields.priority },
      ]}
    >
      {policies.map(({ name, mode, types, tenant, priority }) => (
        <tr key={name}>
          <td class="name">
            <a href={routeTo(['quality', 'writes', name])}>{name}</a>
          </td>
          <td>
            <span class={mode === 'enforce' ? 'chip bad' : mode === 'report' ? 'chip calm' : 'chip'}>
              {mode}
            </span>
          </td>
          <td class="prose">
            <p class="clamped">{types === undefined ? t.all : types.join(', ')}</p>
          </td>
          <td>{tenant === undefined ? t.all : text.where.tenant(tenant)}</td>
          <td class="number">{count(priority)}</td>
        </tr>
      ))}
    </Table>
  );
}

function WriteFindings({
  policy,
  names,
}: {
  readonly policy: string | undefined;
  readonly names: readonly string[];
}) {
  const t = text.writes;
  const { value, error, reload } = useLoad(
    `writes ${policy ?? ''}`,
    (signal) => api.json('get', '/write-checks', { query: { policy }, signal }),
    EVERY_MS,
  );
  const shown = policy === undefined || names.includes(policy) ? names : [policy, ...names];
  return (
    <Card id="of-writes" title={t.ofWrites}>
      <Select
        label={text.labels.policy}
        value={policy ?? ''}
        choices={[['', t.all], ...shown]}
        onInput={(chosen) => {
          location.hash = routeTo(['quality'], { policy: chosen });
        }}
      />
      <Pending {...{ value, error, reload }} />
      {value !== undefined && (
        <>
          <p>{t.counts(value.checked, value.invalid, value.refused, value.notJudged)}</p>
          {value.notJudged > 0 && <p class="hint">{t.whyNotJudged}</p>}
          <p class="hint">{t.since(time(value.since))}</p>
          {value.findings.length > 0 && <FindingTable findings={value.findings} of={value.checked} />}
        </>
      )}
    </Card>
  );
}

async function readLastScan(signal: AbortSignal) {
  const [last] = (await api.page('/scans', { query: { limit: 1 }, signal })).items;
  if (last === undefined) return {};
  return { scan: await api.json('get', '/scans/{scan}', { path: { scan: last.id }, signal }) };
}

function ScanFindings() {
  const t = text.quality;
  const { value, error, reload } = useLoad('last scan', readLastScan, EVERY_MS);
  const scan = value?.scan;
  return (
    <Card id="of-scan" title={text.writes.ofScan}>
      <Pending {...{ value, error, reload }} />
      {value !== undefined && scan === undefined && <p class="quiet">{t.empty}</p>}
      {scan !== undefined && (
        <>
          <p>
            <a href={routeTo(['quality', scan.id])}>{readableQuery(scan.query)}</a>
          </p>
          <p>{t.counts(scan.checked, scan.valid, scan.invalid, scan.notJudged)}</p>
          {scan.findings.length > 0 && (
            <FindingTable
              findings={scan.findings}
              of={scan.checked}
              to={(position) => routeTo(['quality', scan.id], { finding: String(position) })}
            />
          )}
        </>
      )}
    </Card>
  );
}
