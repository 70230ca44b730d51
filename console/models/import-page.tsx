import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { api, ApiError, UnreachableError } from '../api/client.js';
import { Page } from '../parts/page.js';
import { Field } from '../parts/fields.js';
import { Failure } from '../parts/states.js';
import { count } from '../shared/format.js';
import { ForRole } from '../parts/for-role.js';
import { useDebounced, useLoad, useAction } from '../shared/hooks.js';
import { text } from '../strings.js';
import { ImportReportView } from './import-report.js';
import type { ImportReport } from './models-api.js';
import { toDomain, toModels } from './routes.js';

/** A page on which models are dropped or chosen, checked by a dry run, and imported if the user confirms. */
export function ImportPage({ params }: { readonly params: URLSearchParams }) {
  const t = text.models.imports;
  const [domain, setDomain] = useState(params.get('domain') ?? '');
  const into = useDebounced(domain.trim());
  const [chosen, setChosen] = useState<{ readonly turn: number; readonly file: File }>();
  const [isWrong, setIsWrong] = useState(false);
  const [done, setDone] = useState<{ readonly key: string | undefined; readonly report: ImportReport }>();
  const importing = useAction();
  const key = chosen && `${chosen.turn} ${into}`;
  const send = async (file: File, dryRun: boolean, signal?: AbortSignal) => {
    const query = { ...(into === '' ? {} : { domain: into }), ...(dryRun ? { dryRun } : {}) };
    return api.json('post', '/import', { query, ...bodyOf(file), signal });
  };
  const look = useLoad(key, async (signal) => chosen && send(chosen.file, true, signal));
  const go = async () => {
    if (chosen !== undefined) setDone({ key, report: await send(chosen.file, false) });
  };
  const take = (files: FileList | null | undefined) => {
    const [given, more] = files ?? [];
    if (given === undefined || importing.isBusy) return;
    const isOne = more === undefined && typeOf(given.name) !== undefined;
    setIsWrong(!isOne);
    importing.clear();
    setChosen((last) => (isOne ? { turn: (last?.turn ?? 0) + 1, file: given } : undefined));
  };
  const again = () => {
    importing.clear();
    look.reload();
  };
  const isLooking = look.isLoading || (chosen !== undefined && domain.trim() !== into);
  const busy = importing.isBusy ? t.importing : isLooking ? t.looking : undefined;
  const report = isLooking ? undefined : done !== undefined && done.key === key ? done.report : look.value;
  const error = importing.error ?? look.error;
  const isLarge = error instanceof ApiError && error.problem.status === 413;
  return (
    <Page title={t.title} crumbs={[[toModels(), text.models.allDomains]]} lead={t.lead}>
      <section class="card">
        <div class="grid">
          <Field label={text.labels.domain} hint={t.domainHint} value={domain} onInput={setDomain} />
        </div>
        <DropZone onFiles={take} />
        {chosen !== undefined && <p class="chosen">{t.file(chosen.file.name, size(chosen.file.size))}</p>}
        {isWrong && (
          <p class="notice bad" role="alert">
            {t.wrongFile}
          </p>
        )}
        <p class="busy-line" role="status">
          {busy !== undefined && (
            <>
              <span class="spinner" aria-hidden="true" /> {busy}
            </>
          )}
        </p>
      </section>
      {error !== undefined && (
        <Failure error={error} onRetry={again} title={isLarge ? t.refusedLarge : undefined} />
      )}
      {(isLarge || error instanceof UnreachableError) && <p class="hint-box">{t.limitHint}</p>}
      {report !== undefined && (
        <section class="card" aria-labelledby="report">
          <h2 id="report">
            <span role="status">{report.summary.dryRun ? t.wouldBe : t.done}</span>
          </h2>
          {report.summary.dryRun && (
            <ForRole roles={['modeller']}>
              <div class="actions first">
                <Button
                  class="primary"
                  disabled={busy !== undefined || !changes(report)}
                  onClick={() => importing.run(go)}
                  label={t.go(report.summary.created + report.summary.updated)}
                />
                <p class="quiet">{changes(report) ? t.goHint : t.nothingToDo}</p>
              </div>
            </ForRole>
          )}
          {!report.summary.dryRun && (
            <p>
              {report.summary.domains.map((name) => (
                <a key={name} href={toDomain(name)}>
                  {t.open(name)}
                </a>
              ))}
            </p>
          )}
          <ImportReportView report={report} />
        </section>
      )}
    </Page>
  );
}

/** Whether an import would change anything. */
function changes({ summary: { created, updated }, dependents }: ImportReport): boolean {
  return created + updated > 0 || dependents.some(({ status }) => status === 'updated');
}

function size(bytes: number): string {
  return bytes < 100_000 ? `${count(Math.ceil(bytes / 1000))} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Returns the media type of a file that an import accepts, from its name; undefined for other files and folders. */
function typeOf(name: string): string | undefined {
  if (/\.(?:tar\.gz|tgz)$/i.test(name)) return 'application/gzip';
  if (/\.zip$/i.test(name)) return 'application/zip';
  return /\.(?:json|jsonld)$/i.test(name) ? 'application/json' : undefined;
}

/** Returns the body of an import: an archive as it is, or a form with one file. */
function bodyOf(file: File): { body: Blob | FormData; headers: Readonly<Record<string, string>> } {
  const type = typeOf(file.name) ?? '';
  if (type !== 'application/json') return { body: file, headers: { 'content-type': type } };
  const form = new FormData();
  form.append('file', file, file.name);
  return { body: form, headers: {} };
}

/** A place to drop a file, with a button as an alternative. */
function DropZone({ onFiles }: { readonly onFiles: (files: FileList | null | undefined) => void }) {
  const t = text.models.imports;
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  useEffect(() => {
    // A browser opens files that are dropped elsewhere on the page, which would replace the page.
    const ignore = (event: DragEvent) => event.preventDefault();
    addEventListener('dragover', ignore);
    addEventListener('drop', ignore);
    return () => {
      removeEventListener('dragover', ignore);
      removeEventListener('drop', ignore);
    };
  }, []);
  return (
    <div
      class={isOver ? 'drop over' : 'drop'}
      onDragOver={() => setIsOver(true)}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        setIsOver(false);
        onFiles(event.dataTransfer?.files);
      }}
    >
      <p>{t.drop}</p>
      <Button onClick={() => input.current?.click()} label={t.chooseFile} />
      <input
        ref={input}
        type="file"
        hidden
        aria-label={t.chooseFile}
        accept=".zip,.tgz,.gz,.json,.jsonld"
        onChange={({ currentTarget }) => {
          onFiles(currentTarget.files);
          // Allows the same choice to be made again.
          currentTarget.value = '';
        }}
      />
      <p class="hint">{t.folders}</p>
    </div>
  );
}
