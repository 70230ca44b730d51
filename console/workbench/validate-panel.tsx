import { useState } from 'preact/hooks';
import { ButtonLink } from '../parts/button.js';
import { ApiError } from '../api/client.js';
import { JsonEditor } from '../editor/json-editor.js';
import type { Position } from '../editor/errors.js';
import { errorsOf } from '../editor/errors.js';
import { useDebounced, useLoad } from '../shared/hooks.js';
import { bindForm, Select, Field, Checkbox } from '../parts/fields.js';
import { Empty, Failure, Loading } from '../parts/states.js';
import { routeTo } from '../shared/router.js';
import { text } from '../strings.js';
import { getDraft, setDraft } from '../shared/drafts.js';
import { SAMPLE_DRAFT } from '../models/sample-card.js';
import { FORMS, modelError, type PanelProps } from './state.js';
import { useModelNames } from './names.js';
import { findingsOf, Verdicts } from './verdicts.js';
import { applyFixes, type Fixable } from './fixes.js';
import { validate, type Verdict } from './workbench-api.js';

/** An entity, its errors, and their fixes. */
export function ValidatePanel({ workbench, onChange }: PanelProps) {
  const t = text.workbench;
  const [place, setPlace] = useState<Position>();
  const [message, setMessage] = useState('');
  const settled = useDebounced(workbench);
  const models = useModelNames(settled.model);
  const isEmpty = settled.text.trim() === '' || modelError(settled) !== undefined;
  const key = JSON.stringify([settled.text, settled.model, settled.form, settled.isStrict]);
  const { value, error, isLoading, reload } = useLoad(isEmpty ? undefined : key, (signal) =>
    validate(settled, signal),
  );
  const bind = bindForm(workbench, onChange);
  const isCurrent = workbench.text === settled.text;
  const verdicts = value ?? [];
  const fix = async (findings: readonly Fixable[]) => {
    const fixed = await applyFixes(workbench.text, findings);
    setMessage(fixed === workbench.text ? t.gone : '');
    if (fixed !== workbench.text) onChange({ text: fixed });
  };
  return (
    <div class="columns editing">
      <div class="card stack">
        <JsonEditor
          label={t.text}
          {...bind('text')}
          isSchema={false}
          errors={[]}
          marks={isCurrent ? marksOf(verdicts, error) : []}
          place={place}
        />
        <div class="grid">
          <Field
            {...bind('model')}
            label={text.labels.model}
            hint={t.modelHint}
            error={modelError(workbench)}
            suggestions={models}
          />
          <Select
            {...bind('form')}
            label={t.form}
            choices={FORMS.map((form) => [form, t.forms[form]] as const)}
          />
        </div>
        <Checkbox {...bind('isStrict')} label={t.isStrict} />
      </div>
      <div class="card" aria-live="polite" aria-busy={isLoading || !isCurrent}>
        <p role="status" class="hint">
          {message}
        </p>
        {isEmpty && <Empty>{modelError(settled) ?? t.empty}</Empty>}
        {!isEmpty && error !== undefined && (
          <ValidationError error={error} entityText={settled.text} onRetry={reload} />
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
  return [...found, ...errorsOf(error, '', 0)];
}

/** Shows a refusal. If there is no model for the type, offers to create one. */
function ValidationError({
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
              if (getDraft(SAMPLE_DRAFT) === undefined) setDraft(SAMPLE_DRAFT, { sample: entityText });
            }}
            label={t.makeModel}
          />{' '}
          <a href={routeTo(['models'])}>{t.findModel}</a>
        </p>
      )}
    </>
  );
}
