import { JsonEditor } from '../editor/json-editor.js';
import { jsonFault } from '../editor/faults.js';
import { useDebounced, useLoad } from '../shared/hooks.js';
import { shownJson } from '../parts/json-text.js';
import { Copyable } from '../parts/copyable.js';
import { bindForm, Choice, Field, Lines } from '../parts/fields.js';
import { Empty, Pending } from '../parts/states.js';
import { counted, text } from '../strings.js';
import { CONTEXTS, type Bench, type BenchProps } from './bench.js';
import { useContextOffers } from './offers.js';
import { contextOf, process, type JsonLdResult } from './workbench-api.js';

/** A document, with its expanded and compacted forms side by side. */
export function JsonLdPanel({ bench, onChange }: BenchProps) {
  const t = text.workbench;
  const settled = useDebounced(bench);
  const contexts = useContextOffers(bench.context === 'url');
  const bind = bindForm(bench, onChange);
  return (
    <>
      <div class="card stack">
        <JsonEditor label={t.document} {...bind('text')} isSchema={false} faults={[]} height="short" />
        <div class="grid">
          <Choice
            {...bind('context')}
            label={t.context}
            choices={CONTEXTS.map((one) => [one, t.contexts[one]] as const)}
          />
          {bench.context === 'url' && (
            <Field {...bind('url')} label={t.url} hint={t.urlHint} offers={contexts} />
          )}
        </div>
        {bench.context === 'inline' && <Lines {...bind('inline')} label={t.inline} rows={6} isWide />}
        <p class="hint">{t.contextHint}</p>
      </div>
      <div class="columns even">
        <Processed operation="expand" title={t.expanded} bench={settled} />
        <Processed operation="compact" title={t.compacted} bench={settled} />
      </div>
    </>
  );
}

function Processed({
  operation,
  title,
  bench,
}: {
  readonly operation: 'expand' | 'compact';
  readonly title: string;
  readonly bench: Bench;
}) {
  const t = text.workbench;
  const isEmpty = bench.text.trim() === '';
  const context = contextOf(bench);
  const isJson = [bench.text, ...(context === undefined ? [] : [context])].every(
    (one) => jsonFault(one) === undefined,
  );
  const isReady = !isEmpty && isJson;
  const { value, error, reload } = useLoad(
    isReady ? JSON.stringify([bench.text, context]) : undefined,
    (signal) => process(operation, bench, signal),
  );
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {isEmpty && <Empty>{t.empty}</Empty>}
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
