import { useEffect, useRef, useState } from 'preact/hooks';
import { api, ApiError, UnreachableError } from '../api/client.js';
import { Crumbs } from '../parts/crumbs.js';
import { Field } from '../parts/fields.js';
import { Failure } from '../parts/states.js';
import { count } from '../shared/format.js';
import { ForRole } from '../parts/for-role.js';
import { text } from '../strings.js';
import { bodyOf, chosenFiles, droppedFiles, type PathedFile, type Upload } from './dropped-files.js';
import { ImportReportView } from './import-report.js';
import type { ImportReport } from './models-api.js';
import { toDomain, toModels } from './places.js';
import { TooLargeError, uploadOf } from './upload.js';

/** What was checked, and the result. */
interface Looked {
  readonly upload: Upload;
  readonly domain: string;
  readonly report?: ImportReport;
  readonly error?: unknown;
}

/** A page on which a repository of models is dropped or chosen, checked by a dry run, and imported if the user confirms. */
export function ImportPage({ params }: { readonly params: URLSearchParams }) {
  const t = text.models.imports;
  const [domain, setDomain] = useState(params.get('domain') ?? '');
  const [upload, setUpload] = useState<Upload>();
  const [looked, setLooked] = useState<Looked>();
  const [busy, setBusy] = useState<string>();
  const [fault, setFault] = useState<string>();
  const aborter = useRef<AbortController>(undefined);
  useEffect(() => () => aborter.current?.abort(), []);

  const run = async (given: Upload, dryRun: boolean) => {
    aborter.current?.abort();
    const { signal } = (aborter.current = new AbortController());
    setBusy(dryRun ? t.looking : t.importing);
    const into = domain.trim();
    const query = { ...(into === '' ? {} : { domain: into }), ...(dryRun ? { dryRun } : {}) };
    const about = { upload: given, domain: into };
    try {
      const report = await api.json('post', '/import', { query, ...bodyOf(given), signal });
      if (!signal.aborted) setLooked({ ...about, report });
    } catch (error) {
      if (!signal.aborted) setLooked({ ...about, error });
    }
    if (!signal.aborted) setBusy(undefined);
  };
  const take = (files: readonly PathedFile[], left = 0) => {
    setFault(undefined);
    setLooked(undefined);
    try {
      const given = uploadOf(files, left);
      setUpload(given);
      if (given.kind === 'files' && given.files.length === 0) setFault(t.noJson);
      else void run(given, true);
    } catch (error) {
      setUpload(undefined);
      setFault(faultOf(error));
    }
  };
  const drop = async (data: DataTransfer) => {
    setBusy(t.reading);
    try {
      const { files, left } = await droppedFiles(data);
      setBusy(undefined);
      take(files, left);
    } catch (error) {
      setBusy(undefined);
      setFault(faultOf(error));
    }
  };
  const isCurrent = looked !== undefined && looked.upload === upload && looked.domain === domain.trim();
  const report = looked?.report;
  return (
    <div class="page">
      <Crumbs to={[[toModels(), text.models.allDomains]]} />
      <h1>{t.title}</h1>
      <p class="lead">{t.lead}</p>
      <section class="card">
        <div class="grid">
          <Field label={t.domain} hint={t.domainHint} value={domain} onInput={setDomain} />
        </div>
        <DropZone onDrop={(data) => void drop(data)} onChoose={take} />
        {upload !== undefined && <p class="chosen">{nameOf(upload)}</p>}
        {fault !== undefined && (
          <p class="notice bad" role="alert">
            {fault}
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
      {looked?.error !== undefined && (
        <ImportFailure error={looked.error} onRetry={() => void run(looked.upload, true)} />
      )}
      {upload !== undefined && looked !== undefined && !isCurrent && busy === undefined && (
        <section class="card">
          <p>{t.otherDomain}</p>
          <button type="button" onClick={() => void run(upload, true)}>
            {t.lookAgain}
          </button>
        </section>
      )}
      {report !== undefined && isCurrent && (
        <section class="card" aria-labelledby="report">
          <h2 id="report">
            <span role="status">{report.summary.dryRun ? t.wouldBe : t.done}</span>
          </h2>
          {report.summary.dryRun && (
            <ForRole roles={['modeller']}>
              <div class="actions first">
                <button
                  type="button"
                  class="primary"
                  disabled={busy !== undefined || !changes(report)}
                  onClick={() => void run(looked.upload, false)}
                >
                  {t.go(count(report.summary.created + report.summary.updated))}
                </button>
                <p class="quiet">{changes(report) ? t.goHint(report.summary.refused) : t.nothingToDo}</p>
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
    </div>
  );
}

/** Whether an import would change anything. */
function changes({ summary: { created, updated }, dependents }: ImportReport): boolean {
  return created + updated > 0 || dependents.some(({ status }) => status === 'updated');
}

function nameOf(upload: Upload): string {
  const t = text.models.imports;
  if (upload.kind === 'archive') return t.archive(upload.file.name, megabytes(upload.file.size));
  return t.files(
    count(upload.files.length),
    upload.files.length,
    megabytes(upload.bytes),
    count(upload.left),
  );
}

function megabytes(bytes: number): string {
  return bytes < 100_000 ? `${count(Math.ceil(bytes / 1000))} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function faultOf(error: unknown): string {
  const t = text.models.imports;
  if (error instanceof TooLargeError) return error.what === 'files' ? t.tooMany : t.tooLarge;
  return `${t.unreadable} ${error instanceof Error ? error.message : ''}`;
}

function ImportFailure({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  const t = text.models.imports;
  const isLarge = error instanceof ApiError && error.problem.status === 413;
  return (
    <>
      <Failure error={error} onRetry={onRetry} title={isLarge ? t.refusedLarge : undefined} />
      {(isLarge || error instanceof UnreachableError) && <p class="hint-box">{t.limitHint}</p>}
    </>
  );
}

/** A place to drop files, folders and archives, with buttons as an alternative. */
function DropZone({
  onDrop,
  onChoose,
}: {
  readonly onDrop: (data: DataTransfer) => void;
  readonly onChoose: (files: readonly PathedFile[]) => void;
}) {
  const t = text.models.imports;
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
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setIsOver(false);
        if (event.dataTransfer !== null) onDrop(event.dataTransfer);
      }}
    >
      <p>{t.drop}</p>
      <div class="actions">
        <FileButton label={t.chooseFiles} accept=".zip,.tgz,.gz,.json,.jsonld" onChoose={onChoose} />
        <FileButton label={t.chooseFolder} webkitdirectory onChoose={onChoose} />
      </div>
    </div>
  );
}

/** A button for choosing files or a folder. */
function FileButton({
  label,
  onChoose,
  ...kind
}: {
  readonly label: string;
  readonly accept?: string;
  readonly webkitdirectory?: boolean;
  readonly onChoose: (files: readonly PathedFile[]) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" onClick={() => input.current?.click()}>
        {label}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        aria-label={label}
        {...kind}
        onChange={({ currentTarget }) => {
          const list = chosenFiles(currentTarget.files);
          // Allows the same choice to be made again.
          currentTarget.value = '';
          if (list.length > 0) onChoose(list);
        }}
      />
    </>
  );
}
