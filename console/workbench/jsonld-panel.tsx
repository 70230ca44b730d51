import { JsonEditor } from '../editor/json-editor.js';
import { jsonFault } from '../editor/faults.js';
import { useDebounced } from '../shared/use-debounced.js';
import { shownJson } from '../parts/json-text.js';
import { Copyable } from '../parts/copyable.js';
import { Choice, Field, Lines } from '../parts/fields.js';
import { Empty, Pending } from '../parts/states.js';
import { useLoad } from '../shared/use-load.js';
import { text } from '../strings.js';
import { CONTEXTS, type Bench } from './bench.js';
import { useContextOffers } from './offers.js';
import { PAUSE_MS } from './validate-panel.js';
import { contextOf, process, type JsonLdResult } from './workbench-api.js';

/** A document, with its expanded and compacted forms side by side. */
export function JsonLdPanel({
  bench,
  onChange,
}: {
  readonly bench: Bench;
  readonly onChange: (change: Partial<Bench>) => void;
}) {
  const t = text.workbench;
  const settled = useDebounced(bench, PAUSE_MS);
  return (
    <>
      <div class="card stack">
        <JsonEditor
          label={t.document}
          value={bench.text}
          onInput={(typed) => onChange({ text: typed })}
          isSchema={false}
          faults={[]}
          height="short"
        />
        <div class="grid">
          <Choice
            label={t.context}
            value={bench.context}
            choices={CONTEXTS.map((one) => [one, t.contexts[one] ?? one] as const)}
            onChoose={(context) => onChange({ context })}
          />
          {bench.context === 'url' && <ContextUrl url={bench.url} onInput={(url) => onChange({ url })} />}
        </div>
        {bench.context === 'inline' && (
          <Lines
            label={t.inline}
            value={bench.inline}
            onInput={(inline) => onChange({ inline })}
            rows={6}
            isWide
          />
        )}
        <p class="hint">{t.contextHint}</p>
      </div>
      <div class="columns even">
        <Processed operation="expand" title={t.expanded} bench={settled} />
        <Processed operation="compact" title={t.compacted} bench={settled} />
      </div>
    </>
  );
}

function ContextUrl({ url, onInput }: { readonly url: string; readonly onInput: (url: string) => void }) {
  const t = text.workbench;
  return <Field label={t.url} value={url} onInput={onInput} hint={t.urlHint} offers={useContextOffers()} />;
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
    <ul class="bench-findings" aria-label={t.warnings(warnings.length)}>
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
