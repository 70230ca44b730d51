import { useState } from 'preact/hooks';
import { api, type Purge } from '../api/client.js';
import { ForRole } from '../parts/for-role.js';
import { Failure } from '../parts/states.js';
import { SureDialog } from '../parts/sure-dialog.js';
import { save } from '../shared/save.js';
import { time } from '../shared/format.js';
import { routeTo } from '../shared/router.js';
import { counted, text } from '../strings.js';
import { endOf } from './order.js';

/** What a purge has archived: it can be previewed, restored, downloaded and erased. */
export function Undo({ record }: { readonly record: Purge }) {
  const [found, setFound] = useState<Purge>();
  const [isBusy, setIsBusy] = useState(false);
  const [isErasing, setIsErasing] = useState(false);
  const [erasedAt, setErasedAt] = useState(record.archive?.erasedAt);
  const [error, setError] = useState<unknown>();
  const { archive } = record;
  const t = text.undo;
  if (archive === undefined) return null;
  const path = { purge: record.id };
  const act = async (work: () => Promise<void>) => {
    if (isBusy) return;
    setIsBusy(true);
    setError(undefined);
    await work().catch(setError);
    setIsBusy(false);
  };
  const restore = async (dryRun: boolean) =>
    api.json('post', '/purges/{purge}/restore', { path, body: { dryRun } });
  const preview = async () => setFound(await endOf(await restore(true), new AbortController().signal));
  const go = async () => {
    const { id } = await restore(false);
    location.hash = routeTo(['purge', id]);
  };
  const load = async () => {
    const answer = await api.request('get', '/purges/{purge}/archive', { path });
    save(await answer.blob(), `${record.id}.ndjson`);
  };
  const gone = counted(found?.restored ?? 0, record.unit);
  return (
    <section class="card" aria-labelledby="undo">
      <h2 id="undo">{t.title}</h2>
      {erasedAt === undefined ? (
        <p>{t.archived(archive.entities, archive.bytes, time(archive.expiresAt))}</p>
      ) : (
        <p role="status">{t.erased(time(erasedAt))}</p>
      )}
      {found !== undefined && (
        <p role="status">
          {found.restored === 0
            ? t.nothing
            : `${t.would(gone, found.alreadyThere ?? 0, found.different ?? 0)} ${t.lost}`}
        </p>
      )}
      {erasedAt === undefined && (
        <ForRole roles={['purger']}>
          <div class="actions">
            <button type="button" aria-disabled={isBusy} onClick={() => void act(preview)}>
              {isBusy ? t.previewing : t.preview}
            </button>
            {found !== undefined && found.restored !== 0 && (
              <button type="button" class="primary" aria-disabled={isBusy} onClick={() => void act(go)}>
                {t.go(gone)}
              </button>
            )}
            <button type="button" aria-disabled={isBusy} onClick={() => void act(load)}>
              {t.load}
            </button>
            <button type="button" onClick={() => setIsErasing(true)}>
              {t.erase}
            </button>
          </div>
        </ForRole>
      )}
      {error !== undefined && <Failure error={error} />}
      {isErasing && (
        <SureDialog
          title={t.eraseTitle}
          what={t.eraseWhat}
          go={t.eraseGo}
          tenant={record.tenant ?? ''}
          onClose={() => setIsErasing(false)}
          onSure={async () => {
            await api.request('delete', '/purges/{purge}/archive', { path });
            setIsErasing(false);
            setErasedAt(new Date().toISOString());
          }}
        />
      )}
    </section>
  );
}
