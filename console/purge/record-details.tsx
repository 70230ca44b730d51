import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { api, type Purge } from '../api/client.js';
import { isFinal } from '../../sidecar/client/purges.js';
import { SampleList } from '../entities/sample-list.js';
import { Card, PropertyList } from '../parts/card.js';
import { Failure } from '../parts/states.js';
import { ConfirmButton } from '../parts/dialog.js';
import { count, duration, time } from '../shared/format.js';
import { routeTo } from '../shared/router.js';
import { saveFile } from '../shared/save-file.js';
import { useAction } from '../shared/hooks.js';
import { text } from '../strings.js';
import { keepsIds } from './progress.js';

/** The whole record of a purge. */
export function RecordDetails({ record }: { readonly record: Purge }) {
  const t = text.run;
  const f = t.fields;
  const { createdAt, startedAt, endedAt, retentionPolicy } = record;
  const rows = [
    [
      f.retentionPolicy,
      retentionPolicy && <a href={routeTo(['retention', retentionPolicy])}>{retentionPolicy}</a>,
    ],
    [text.labels.target, record.target],
    [text.labels.tenant, record.tenant],
    [f.link, record.link],
    [text.labels.caller, record.caller],
    [text.labels.requested, time(createdAt)],
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
  ] as const;
  return (
    <Card id="record" title={t.record}>
      <PropertyList rows={rows} />
      {(record.sample ?? []).length > 0 && (
        <>
          <p class="label">{text.labels.sample}</p>
          <SampleList ids={record.sample ?? []} place={placeOf(record)} label={text.labels.sample} />
        </>
      )}
      <Ids record={record} />
      <details>
        <summary>{t.json}</summary>
        <pre>{JSON.stringify(record, null, 2)}</pre>
      </details>
    </Card>
  );
}

/** The list of deleted items, if one is kept: it can be downloaded and removed. */
function Ids({ record }: { readonly record: Purge }) {
  const { isBusy, error, run } = useAction();
  const [isRemoved, setIsRemoved] = useState(false);
  const t = text.run;
  const asked = { path: { purge: record.id } };
  if (!keepsIds(record)) return null;
  const load = async () => {
    const answer = await api.request('get', '/purges/{purge}/ids', asked);
    saveFile(await answer.blob(), `${record.id}.ndjson`);
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
        <Button disabled={isBusy} onClick={() => run(load)} label={t.idsLoad} />
        {isFinal(record) && (
          <ConfirmButton
            label={t.idsRemove}
            title={t.idsRemoveTitle}
            message={t.idsRemoveWhat}
            confirm={t.idsRemoveGo}
            tenant={record.tenant ?? ''}
            onConfirm={async () => {
              await api.request('delete', '/purges/{purge}/ids', asked);
              setIsRemoved(true);
            }}
          />
        )}
      </div>
      {error !== undefined && <Failure error={error} />}
    </>
  );
}

/** Where the entities of a purge are in the broker. */
function placeOf({ target, tenant, link }: Purge) {
  return { target: target === 'temporal' ? target : ('entities' as const), tenant, link };
}
