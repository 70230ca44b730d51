import { useState } from 'preact/hooks';
import { api, type Purge } from '../api/client.js';
import { isFinal } from '../../sidecar/client/purges.js';
import { SampleList } from '../entities/sample-list.js';
import { Failure } from '../parts/states.js';
import { SureDialog } from '../parts/sure-dialog.js';
import { count, duration, time } from '../shared/format.js';
import { routeTo } from '../shared/router.js';
import { save } from '../shared/save.js';
import { text } from '../strings.js';
import { keepsIds } from './progress.js';

/** The whole record of a purge. */
export function RecordDetails({ record }: { readonly record: Purge }) {
  const t = text.run;
  const f = t.fields;
  const { createdAt, startedAt, endedAt, retentionPolicy } = record;
  const rows: readonly (readonly [string, string | undefined])[] = [
    [f.target, record.target],
    [f.tenant, record.tenant],
    [f.link, record.link],
    [f.caller, record.caller],
    [f.createdAt, time(createdAt)],
    [f.startedAt, startedAt && time(startedAt)],
    [f.endedAt, endedAt && time(endedAt)],
    [f.took, startedAt && endedAt ? duration(Date.parse(endedAt) - Date.parse(startedAt)) : undefined],
    [f.requests, count(record.requests)],
    [f.retries, count(record.retries)],
    [f.concurrency, count(record.concurrency)],
    [f.policy, Object.keys(record.policy).length === 0 ? undefined : JSON.stringify(record.policy)],
    [f.worker, record.worker],
    [f.requestId, record.requestId],
    [f.id, record.id],
  ];
  return (
    <section class="card" aria-labelledby="record">
      <h2 id="record">{t.record}</h2>
      <dl class="facts">
        {retentionPolicy !== undefined && (
          <div>
            <dt>{f.retentionPolicy}</dt>
            <dd>
              <a href={routeTo(['retention', retentionPolicy])}>{retentionPolicy}</a>
            </dd>
          </div>
        )}
        {rows
          .filter((row): row is [string, string] => row[1] !== undefined)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      {(record.sample ?? []).length > 0 && (
        <>
          <p class="label">{t.sample}</p>
          <SampleList ids={record.sample ?? []} place={placeOf(record)} label={t.sample} />
        </>
      )}
      <Ids record={record} />
      <details>
        <summary>{t.json}</summary>
        <pre>{JSON.stringify(record, null, 2)}</pre>
      </details>
    </section>
  );
}

/** The list of what was deleted, where one is kept: it can be had, and removed. */
function Ids({ record }: { readonly record: Purge }) {
  const [error, setError] = useState<unknown>();
  const [isLoading, setIsLoading] = useState(false);
  const [isRemoving, setIsRemoving] = useState(false);
  const [isRemoved, setIsRemoved] = useState(false);
  const t = text.run;
  const asked = { path: { purge: record.id } };
  if (!keepsIds(record)) return null;
  const load = async () => {
    setError(undefined);
    setIsLoading(true);
    try {
      const answer = await api.request('get', '/purges/{purge}/ids', asked);
      save(await answer.blob(), `${record.id}.ndjson`);
    } catch (failure) {
      setError(failure);
    }
    setIsLoading(false);
  };
  if (isRemoved)
    return (
      <p role="status" class="quiet">
        {t.idsRemoved}
      </p>
    );
  return (
    <>
      <div class="actions">
        <button type="button" disabled={isLoading} onClick={() => void load()}>
          {t.idsLoad}
        </button>
        {isFinal(record) && (
          <button type="button" onClick={() => setIsRemoving(true)}>
            {t.idsRemove}
          </button>
        )}
      </div>
      {error !== undefined && <Failure error={error} />}
      {isRemoving && (
        <SureDialog
          title={t.idsRemoveTitle}
          what={t.idsRemoveWhat}
          go={t.idsRemoveGo}
          tenant={record.tenant ?? ''}
          onClose={() => setIsRemoving(false)}
          onSure={async () => {
            await api.request('delete', '/purges/{purge}/ids', asked);
            setIsRemoving(false);
            setIsRemoved(true);
          }}
        />
      )}
    </>
  );
}

/** Where the entities of a purge are. */
function placeOf({ target, tenant, link }: Purge) {
  return { target: target === 'temporal' ? target : ('entities' as const), tenant, link };
}
