import { Button } from '../parts/button.js';
import { isFinal } from '../../sidecar/client/purges.js';
import { api, type Schemas } from '../api/client.js';
import { Page, PendingPage } from '../parts/page.js';
import { Listing, usePagedList } from '../parts/listing.js';
import { StateChip } from '../parts/purge-table.js';
import { Failure } from '../parts/states.js';
import { readableQuery } from '../../sidecar/shared/readable-query.js';
import { routeTo } from '../shared/router.js';
import { useJob } from '../shared/use-job.js';
import { useAction } from '../shared/hooks.js';
import { ForRole } from '../parts/for-role.js';
import { text } from '../strings.js';
import { readEntity } from '../entities/entity-api.js';
import { shownJson } from '../parts/json-text.js';
import { openInWorkbench } from '../workbench/state.js';
import { Throttle, type Rate } from '../purge/throttle.js';
import { FindingTable } from './finding-table.js';

type Scan = Schemas['Scan'];

/** One scan: its progress, its findings, and the entities of the finding that the address names. */
export function ScanPage({ id, params }: { readonly id: string; readonly params: URLSearchParams }) {
  const t = text.quality;
  const path = { scan: id };
  const {
    record: scan,
    isBroken,
    error,
    retry,
    show,
  } = useJob<Scan>(id, (signal) => api.request('get', '/scans/{scan}/events', { path, signal }));
  const { error: failure, run } = useAction();
  const crumbs = [[routeTo(['quality']), text.writes.back]] as const;
  if (scan === undefined) return <PendingPage title={t.scan} crumbs={crumbs} error={error} reload={retry} />;
  const chosen = params.get('finding');
  const finding = chosen === null ? undefined : Number(chosen);
  const { checked, valid, invalid, notJudged, problem } = scan;
  const throttle = async (rate: Rate) => {
    const changed = await api.json('patch', '/scans/{scan}', { path, body: rate });
    show(changed);
    return changed;
  };
  const detail = (problem as { readonly detail?: string } | undefined)?.detail;
  return (
    <Page title={t.scan} crumbs={crumbs} actions={<StateChip state={scan.state} />} isBusy={!isFinal(scan)}>
      <pre class="request">{readableQuery(scan.query)}</pre>
      {error !== undefined && <Failure error={error} onRetry={retry} />}
      {isBroken && (
        <p class="notice warn" role="status">
          {text.run.reconnecting}
        </p>
      )}
      <p>{t.counts(checked, valid, invalid, notJudged)}</p>
      {scan.previous !== undefined && (
        <p>
          <a href={routeTo(['quality', scan.previous.id])}>{t.previous(scan.previous.invalid)}</a>
        </p>
      )}
      {!isFinal(scan) && (
        <ForRole roles={['modeller', 'purger']}>
          <Throttle job={scan} change={throttle} />
          <Button
            onClick={() => run(async () => show(await api.json('post', '/scans/{scan}/cancel', { path })))}
            label={t.cancel}
          />
        </ForRole>
      )}
      {detail !== undefined && <p role="alert">{detail}</p>}
      {failure !== undefined && <Failure error={failure} />}
      {scan.findings.length > 0 && (
        <FindingTable
          findings={scan.findings}
          of={checked}
          chosen={finding}
          to={(position) => routeTo(['quality', id], { finding: String(position) })}
        />
      )}
      {isFinal(scan) && scan.findings.length === 0 && checked > 0 && <p>{t.allValid}</p>}
      {scan.unmodelled.length > 0 && (
        <>
          <h2>{t.unmodelled}</h2>
          <ul>
            {scan.unmodelled.map(({ type, entities }) => (
              <li key={type}>{t.ofType(type, entities)}</li>
            ))}
          </ul>
        </>
      )}
      {scan.warnings.map((warning) => (
        <p class="hint-box" key={warning}>
          {warning}
        </p>
      ))}
      {finding !== undefined && scan.findings[finding] !== undefined && (
        <FindingEntities scan={scan} finding={finding} params={params} />
      )}
    </Page>
  );
}

function FindingEntities({
  scan,
  finding,
  params,
}: {
  readonly scan: Scan;
  readonly finding: number;
  readonly params: URLSearchParams;
}) {
  const t = text.quality;
  const { isBusy, error, run } = useAction();
  const list = usePagedList(params, `${scan.id} ${finding} ${scan.state}`, (page, signal) =>
    api.page('/scans/{scan}/entities', { path: { scan: scan.id }, query: { finding, ...page }, signal }),
  );
  const open = async ({ id }: Schemas['FoundEntity']) => {
    const { domain = '', model = '' } = scan.findings[finding] ?? {};
    openInWorkbench({ text: shownJson(await readEntity(id, scan)), model: `${domain}/${model}` });
  };
  return (
    <section aria-label={t.entities}>
      <h2>{t.entities}</h2>
      {error !== undefined && <Failure error={error} />}
      <Listing
        list={list}
        to={(one) => routeTo(['quality', scan.id], { finding: String(finding), page: one })}
        isCounted
      >
        {(items) => (
          <ul class="found-entities">
            {items.map((entity) => (
              <li key={entity.id}>
                <code>{entity.id}</code>{' '}
                <Button
                  class="small"
                  aria-disabled={isBusy}
                  onClick={() => run(() => open(entity))}
                  label={t.open}
                />
                <ul>
                  {entity.errors.map(({ pointer, detail }) => (
                    <li key={`${pointer} ${detail}`}>
                      <code>{pointer === '' ? t.entity : pointer}</code> {detail}
                    </li>
                  ))}
                </ul>
              </li>
            ))}
          </ul>
        )}
      </Listing>
    </section>
  );
}
