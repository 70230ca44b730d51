import { useState } from 'preact/hooks';
import { ButtonLink } from '../parts/button.js';
import { ApiError } from '../api/client.js';
import { JsonEditor } from '../editor/json-editor.js';
import type { Place } from '../editor/faults.js';
import { faultsOf } from '../editor/faults.js';
import { useDebounced, useLoad } from '../shared/hooks.js';
import { bindForm, Choice, Field, Tick } from '../parts/fields.js';
import { Empty, Failure, Loading } from '../parts/states.js';
import { routeTo } from '../shared/router.js';
import { text } from '../strings.js';
import { draftOf, keepDraft } from '../shared/drafts.js';
import { SAMPLE_DRAFT } from '../models/sample-card.js';
import { FORMS, modelFault, type BenchProps } from './bench.js';
import { useModelOffers } from './offers.js';
import { findingsOf, Verdicts } from './verdicts.js';
import { withSuggestions, type Suggesting } from './suggestions.js';
import { validate, type Verdict } from './workbench-api.js';

/** An entity, its errors, and their fixes. */
export function ValidatePanel({ bench, onChange }: BenchProps) {
  const t = text.workbench;
  const [place, setPlace] = useState<Place>();
  const [said, setSaid] = useState('');
  const settled = useDebounced(bench);
  const models = useModelOffers(settled.model);
  const isEmpty = settled.text.trim() === '' || modelFault(settled) !== undefined;
  const key = JSON.stringify([settled.text, settled.model, settled.form, settled.isStrict]);
  const { value, error, isLoading, reload } = useLoad(isEmpty ? undefined : key, (signal) =>
    validate(settled, signal),
  );
  const bind = bindForm(bench, onChange);
  const isCurrent = bench.text === settled.text;
  const verdicts = value ?? [];
  const fix = async (findings: readonly Suggesting[]) => {
    const mended = await withSuggestions(bench.text, findings);
    setSaid(mended === bench.text ? t.gone : '');
    if (mended !== bench.text) onChange({ text: mended });
  };
  return (
    <div class="columns editing">
      <div class="card stack">
        <JsonEditor
          label={t.text}
          {...bind('text')}
          isSchema={false}
          faults={[]}
          marks={isCurrent ? marksOf(verdicts, error) : []}
          place={place}
        />
        <div class="grid">
          <Field
            {...bind('model')}
            label={text.labels.model}
            hint={t.modelHint}
            error={modelFault(bench)}
            offers={models}
          />
          <Choice
            {...bind('form')}
            label={t.form}
            choices={FORMS.map((form) => [form, t.forms[form]] as const)}
          />
        </div>
        <Tick {...bind('isStrict')} label={t.isStrict} />
      </div>
      <div class="card" aria-live="polite" aria-busy={isLoading || !isCurrent}>
        <p role="status" class="hint">
          {said}
        </p>
        {isEmpty && <Empty>{modelFault(settled) ?? t.empty}</Empty>}
        {!isEmpty && error !== undefined && (
          <WhatNext error={error} entityText={settled.text} onRetry={reload} />
        )}
        {!isEmpty && error === undefined && value === undefined && <Loading />}
        {!isEmpty && error === undefined && (
          <Verdicts
            verdicts={verdicts}
            onShow={({ pointer }) => setPlace({ pointer })}
            onFix={(finding, suggestion) => void fix([{ pointer: finding.pointer, suggestion }])}
            onFixAll={(findings) => void fix(findings)}
          />
        )}
      </div>
    </div>
  );
}

/** Returns the marks in the text: findings, or the position of a JSON error. */
function marksOf(verdicts: readonly Verdict[], error: unknown) {
  const found = verdicts.flatMap(findingsOf).map((finding) => ({
    pointer: finding.pointer,
    detail: finding.detail,
    isWarning: 'code' in finding,
  }));
  return [...found, ...faultsOf(error, '', 0)];
}

/** Shows a refusal. If there is no model for the type, offers to create one. */
function WhatNext({
  error,
  entityText,
  onRetry,
}: {
  readonly error: unknown;
  readonly entityText: string;
  readonly onRetry: () => void;
}) {
  const t = text.workbench;
  const isUnknown = error instanceof ApiError && error.problem.status === 404;
  return (
    <>
      <Failure error={error} {...(isUnknown ? {} : { onRetry })} />
      {isUnknown && (
        <p class="actions">
          <ButtonLink
            href={routeTo(['models', '~new'])}
            onClick={() => {
              // An existing draft is kept.
              if (draftOf(SAMPLE_DRAFT) === undefined) keepDraft(SAMPLE_DRAFT, { sample: entityText });
            }}
            label={t.makeModel}
          />{' '}
          <a href={routeTo(['models'])}>{t.findModel}</a>
        </p>
      )}
    </>
  );
}
