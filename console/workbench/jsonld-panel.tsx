import { JsonEditor } from '../editor/json-editor.js';
import { jsonError } from '../editor/errors.js';
import { useDebounced, useLoad } from '../shared/hooks.js';
import { shownJson } from '../parts/json-text.js';
import { Copyable } from '../parts/copyable.js';
import { bindForm, Select, Field, TextArea } from '../parts/fields.js';
import { Empty, Pending } from '../parts/states.js';
import { counted, text } from '../strings.js';
import { CONTEXTS, type Workbench, type PanelProps } from './state.js';
import { useContextUrls } from './names.js';
import { contextOf, process, type JsonLdResult } from './workbench-api.js';

/** A document, with its expanded and compacted forms side by side. */
export function JsonLdPanel({ workbench, onChange }: PanelProps) {
  const t = text.workbench;
  const settled = useDebounced(workbench);
  const contexts = useContextUrls(workbench.context === 'url');
  const bind = bindForm(workbench, onChange);
  return (
    <>
      <div class="card stack">
        <JsonEditor label={t.document} {...bind('text')} isSchema={false} errors={[]} height="short" />
        <div class="grid roomy">
          <Select
            {...bind('context')}
            label={t.context}
            choices={CONTEXTS.map((one) => [one, t.contexts[one]] as const)}
          />
          {workbench.context === 'url' && (
            <Field {...bind('url')} label={t.url} hint={t.urlHint} suggestions={contexts} />
          )}
        </div>
        {workbench.context === 'inline' && <TextArea {...bind('inline')} label={t.inline} rows={6} isWide />}
        <p class="hint">{t.contextHint}</p>
      </div>
      <div class="columns even">
        <Processed operation="expand" title={t.expanded} workbench={settled} />
        <Processed operation="compact" title={t.compacted} workbench={settled} />
      </div>
    </>
  );
}

function Processed({
  operation,
  title,
  workbench,
}: {
  readonly operation: 'expand' | 'compact';
  readonly title: string;
  readonly workbench: Workbench;
}) {
  const t = text.workbench;
  const isEmpty = workbench.text.trim() === '';
  const context = contextOf(workbench);
  const isJson = [workbench.text, ...(context === undefined ? [] : [context])].every(
    (one) => jsonError(one) === undefined,
  );
  const isReady = !isEmpty && isJson;
  const { value, error, reload } = useLoad(
    isReady ? JSON.stringify([workbench.text, context]) : undefined,
    (signal) => process(operation, workbench, signal),
  );
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {isEmpty && <Empty>{t.emptyDocument}</Empty>}
      {!isEmpty && !isJson && <Empty>{t.notJson}</Empty>}
      {isReady && <Pending {...{ value, error, reload }} />}
      {isReady && error === undefined && value !== undefined && (
        <>
          <Warnings warnings={value.warnings} />
          <Copyable label={title} value={shownJson(value.result)} />
        </>
      )}
    </section>
  );
}

function Warnings({ warnings }: { readonly warnings: JsonLdResult['warnings'] }) {
  const t = text.workbench;
  if (warnings.length === 0) return <p class="hint">{t.noneDropped}</p>;
  return (
    <ul class="bench-findings" aria-label={counted(warnings.length, 'warnings')}>
      {warnings.map(({ code, detail, pointer }) => (
        <li key={`${code} ${pointer ?? ''} ${detail}`}>
          <span class="chip warn">{t.warning}</span>
          <div>
            {pointer !== undefined && <code class="place">{pointer.replace(/^\/document/, '') || '/'}</code>}
            <p>{detail}</p>
          </div>
        </li>
      ))}
    </ul>
  );
}
