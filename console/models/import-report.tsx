import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { count } from '../shared/format.js';
import { text } from '../strings.js';
import { ChangeChip, ChangeList, DependentList, STATUS_CHIPS } from './change-report.js';
import type { ImportedFile, ImportReport } from './models-api.js';
import { toContext, toModel } from './routes.js';

/** What needs attention comes first. */
const STATUSES = ['refused', 'created', 'updated', 'unchanged'] as const;

/** Number of files of a status shown at first. */
const AT_FIRST = 50;

/** What an import did with each file, or would do. */
export function ImportReportView({ report }: { readonly report: ImportReport }) {
  const t = text.models.imports;
  const { summary, files, dependents } = report;
  const { examples } = summary;
  return (
    <>
      <dl class="counts">
        {STATUSES.map((status) => (
          <div key={status} class={status === 'refused' && summary.refused > 0 ? 'bad' : ''}>
            <dt>{status}</dt>
            <dd>{count(summary[status])}</dd>
          </div>
        ))}
        <div>
          <dt>{t.models}</dt>
          <dd>{count(summary.models)}</dd>
        </div>
        <div class={examples.invalid > 0 ? 'bad' : ''}>
          <dt>{t.examples}</dt>
          <dd>
            {t.exampleCounts(examples.valid, examples.invalid, examples.unchecked)}
            <small>{(summary.dryRun ? t.wouldKeepExamples : t.keptExamples)(examples.kept)}</small>
          </dd>
        </div>
      </dl>
      {summary.domains.length > 0 && <p>{t.into(summary.domains.join(', '))}</p>}
      {summary.ignored > 0 && <p class="quiet">{t.ignored(summary.ignored)}</p>}
      {files.length === 0 && <p class="hint-box">{t.nothing}</p>}
      {STATUSES.map((status) => (
        <Files
          key={status}
          status={status}
          files={files.filter((file) => file.status === status)}
          isDryRun={summary.dryRun}
        />
      ))}
      {dependents.length > 0 && (
        <section>
          <h3>{t.dependents}</h3>
          <DependentList dependents={dependents} />
        </section>
      )}
    </>
  );
}

function Files({
  status,
  files,
  isDryRun,
}: {
  readonly status: ImportedFile['status'];
  readonly files: readonly ImportedFile[];
  readonly isDryRun: boolean;
}) {
  const [shown, setShown] = useState(AT_FIRST);
  if (files.length === 0) return null;
  // A changed context may change the meaning of a model that keeps its version. Such models must not be overlooked among the
  // others.
  const changed = files.filter(({ change }) => change !== undefined);
  const inOrder =
    status === 'unchanged' ? [...changed, ...files.filter(({ change }) => change === undefined)] : files;
  const list = (
    <>
      <ul class="files">
        {inOrder.slice(0, shown).map((file, index) => (
          <FileRow key={index} file={file} isDryRun={isDryRun} />
        ))}
      </ul>
      {files.length > shown && (
        <Button onClick={() => setShown(shown + 500)} label={text.models.showMore(files.length - shown)} />
      )}
    </>
  );
  const title = `${status}: ${count(files.length)}`;
  if (status === 'unchanged')
    return (
      <details open={changed.length > 0}>
        <summary>{title}</summary>
        {list}
      </details>
    );
  return (
    <section>
      <h3>{title}</h3>
      {list}
    </section>
  );
}

function FileRow({ file, isDryRun }: { readonly file: ImportedFile; readonly isDryRun: boolean }) {
  const t = text.models.imports;
  const { path, status, line, reason, url, change, differences = [], examples } = file;
  return (
    <li>
      <span class={STATUS_CHIPS[status]}>{status}</span>
      <div>
        <p class="path">
          {path}
          {line !== undefined && <span class="quiet"> {t.line(line)}</span>}
        </p>
        <p class="place">
          <ImportedResource file={file} isDryRun={isDryRun} />
          {url !== undefined && <code>{url}</code>}
          {change !== undefined && <ChangeChip of={change} />}
        </p>
        {reason !== undefined && <p>{reason}</p>}
        {change !== undefined && differences.length > 0 && (
          <details>
            <summary>{t.differences}</summary>
            <ChangeList report={{ overall: change, differences }} />
          </details>
        )}
        <Examples
          title={t.invalidExamples}
          rows={(examples?.invalid ?? []).map(({ path: example, line: at, pointer, detail }) => [
            at === undefined ? example : `${example}:${at}`,
            `${pointer} ${detail}`,
          ])}
        />
        <Examples
          title={t.leftOutExamples}
          rows={(examples?.leftOut ?? []).map(({ path: example, reason: why }) => [example, why])}
        />
      </div>
    </li>
  );
}

/** Examples that an import did not take as they are, each with the reason. */
function Examples({ title, rows }: { readonly title: string; readonly rows: readonly [string, string][] }) {
  return rows.length === 0 ? null : (
    <details>
      <summary>{title}</summary>
      <ul class="findings">
        {rows.slice(0, 100).map(([example, why], index) => (
          <li key={index}>
            <code>{example}</code> {why}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The model or context in a file, as a link if it exists. */
function ImportedResource({ file, isDryRun }: { readonly file: ImportedFile; readonly isDryRun: boolean }) {
  const t = text.models.imports;
  const { model, context, status } = file;
  const isThere = status === 'unchanged' || status === 'updated' || (status === 'created' && !isDryRun);
  const [domain = '', name = ''] = model?.split('/') ?? [];
  if (model !== undefined)
    return (
      <>
        {t.model} {isThere ? <a href={toModel({ domain, name })}>{model}</a> : <strong>{model}</strong>}
      </>
    );
  if (context === undefined) return null;
  return (
    <>
      {t.context} {isThere ? <a href={toContext(context)}>{context}</a> : <strong>{context}</strong>}
    </>
  );
}
