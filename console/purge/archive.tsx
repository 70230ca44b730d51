import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { api, type Purge } from '../api/client.js';
import { Card } from '../parts/card.js';
import { ForRole } from '../parts/for-role.js';
import { Failure } from '../parts/states.js';
import { ConfirmButton } from '../parts/dialog.js';
import { saveFile } from '../shared/save-file.js';
import { time } from '../shared/format.js';
import { routeTo } from '../shared/router.js';
import { counted, text } from '../strings.js';
import { useAction } from '../shared/hooks.js';
import { waitForEnd } from './purge-api.js';

/** The archive of a purge: it can be previewed, restored, downloaded and erased. */
export function Archive({ record }: { readonly record: Purge }) {
  const [found, setFound] = useState<Purge>();
  const { isBusy, error, run } = useAction();
  const [erasedAt, setErasedAt] = useState(record.archive?.erasedAt);
  const { archive } = record;
  const t = text.undo;
  if (archive === undefined) return null;
  const path = { purge: record.id };
  const restore = async (dryRun: boolean) =>
    api.json('post', '/purges/{purge}/restore', { path, body: { dryRun } });
  const preview = async () => setFound(await waitForEnd(await restore(true)));
  const go = async () => {
    const { id } = await restore(false);
    location.hash = routeTo(['purge', id]);
  };
  const load = async () => {
    const answer = await api.request('get', '/purges/{purge}/archive', { path });
    saveFile(await answer.blob(), `${record.id}.ndjson`);
  };
  const gone = counted(found?.restored ?? 0, record.unit);
  return (
    <Card id="undo" title={t.title}>
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
            <Button
              aria-disabled={isBusy}
              onClick={() => run(preview)}
              label={isBusy ? t.previewing : t.preview}
            />
            {found !== undefined && found.restored !== 0 && (
              <Button class="primary" aria-disabled={isBusy} onClick={() => run(go)} label={t.go(gone)} />
            )}
            <Button aria-disabled={isBusy} onClick={() => run(load)} label={t.load} />
            <ConfirmButton
              label={t.erase}
              title={t.eraseTitle}
              message={t.eraseWhat}
              confirm={t.eraseGo}
              tenant={record.tenant ?? ''}
              onConfirm={async () => {
                await api.request('delete', '/purges/{purge}/archive', { path });
                setErasedAt(new Date().toISOString());
              }}
            />
          </div>
        </ForRole>
      )}
      {error !== undefined && <Failure error={error} />}
    </Card>
  );
}
