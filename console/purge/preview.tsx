import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import type { PurgePreview } from '../api/client.js';
import { SampleList } from '../entities/sample-list.js';
import { previewTitle, Failure } from '../parts/states.js';
import { count } from '../shared/format.js';
import { useDebounced, useLoad } from '../shared/hooks.js';
import { counted, text } from '../strings.js';
import { ConfirmPurge } from './confirm.js';
import { isEmpty, hasInvalidHeader, unitOf, type PurgeForm, previewKey } from './form.js';
import { planPurge, previewPurge } from './purge-api.js';

type Question = Omit<Parameters<typeof ConfirmPurge>[0], 'onClose'>;

/** Counts what the form matches with a dry run, whenever typing pauses, and offers to start the purge. */
export function PreviewPane({ form }: { readonly form: PurgeForm }) {
  const [question, setQuestion] = useState<Question>();
  const [isPlanning, setIsPlanning] = useState(false);
  const isWrong = hasInvalidHeader(form);
  const key = keyOf(form);
  const isNothing = key === undefined;
  const settled = useDebounced(form);
  const asked = useLoad(keyOf(settled), (signal) => previewPurge(settled, signal));
  const { error, last: found, reload: again } = asked;
  const isCurrent = key === keyOf(settled) && !asked.isLoading;
  const t = text.preview;
  const unit = unitOf(form, found?.unit);
  /**
   * Counts once more. The user confirms this count, and with a plan exactly these items are deleted. The form may be changed
   * while it is counted, so the question keeps the one that was counted.
   */
  const confirm = async (preview: PurgePreview) => {
    if (isPlanning) return;
    setIsPlanning(true);
    const planned = await planPurge(form);
    setIsPlanning(false);
    if (planned?.matched === 0) again();
    else
      setQuestion({
        form,
        preview:
          planned === undefined
            ? { ...preview, unit }
            : { matched: planned.matched, unit: planned.unit ?? unit, plan: planned.id },
      });
  };
  const follows = isCurrent && found !== undefined ? counted(found.matched, unit) : undefined;
  return (
    <section class="card preview" aria-labelledby="preview" aria-busy={!isNothing && !isCurrent}>
      <h2 id="preview">{text.labels.preview}</h2>
      <div aria-live="polite">
        {isNothing && <p class={isWrong ? 'wrong' : 'quiet'}>{isWrong ? t.unsendable : t.empty}</p>}
        {!isNothing && !isCurrent && (
          <p class="quiet">
            <span class="spinner" aria-hidden="true" />{' '}
            {found === undefined && error === undefined ? t.counting : t.outdated}
          </p>
        )}
        {isCurrent && error !== undefined && (
          <Failure error={error} title={previewTitle(error)} onRetry={again} />
        )}
        {!isNothing && found !== undefined && <Matches found={found} unit={unit} isCurrent={isCurrent} />}
      </div>
      {isCurrent && found !== undefined && found.matched > 0 && (
        <div class="actions">
          <Button
            class="danger"
            aria-disabled={isPlanning}
            onClick={() => void confirm(found)}
            label={isPlanning ? t.counting : t.start(found.matched, unit)}
          />
        </div>
      )}
      {/* Below the button, and not announced: with the keyboard, the button would be a hundred ids away. */}
      {!isNothing && found !== undefined && found.sample.length > 0 && (
        <div class={isCurrent ? undefined : 'outdated'}>
          <p class="label">{t.sample(found.sample.length)}</p>
          <SampleList ids={found.sample} place={form} label={text.labels.sample} />
        </div>
      )}
      {/* If the preview is below the form, this keeps its count visible; screen readers use the text above. */}
      {!isNothing && (
        <p class="follows" aria-hidden="true">
          {t.follows(isCurrent && error !== undefined ? t.notCounted : (follows ?? '…'))}
        </p>
      )}
      {question !== undefined && <ConfirmPurge {...question} onClose={() => setQuestion(undefined)} />}
    </section>
  );
}

function Matches({
  found,
  unit,
  isCurrent,
}: {
  readonly found: PurgePreview;
  readonly unit: string;
  readonly isCurrent: boolean;
}) {
  const t = text.preview;
  return (
    <div class={isCurrent ? undefined : 'outdated'}>
      {found.matched === 0 ? (
        <p class="matched">{t.none}</p>
      ) : (
        <p class="matched">
          {found.atLeast === true && <span>{t.atLeast} </span>}
          <strong>{count(found.matched)}</strong> {counted(found.matched, unit).replace(/^\S+ /, '')}{' '}
          {t.matches}
        </p>
      )}
      {(found.hints ?? []).map((hint) => (
        <p class="hint-box" key={hint}>
          {hint}
        </p>
      ))}
    </div>
  );
}

/** Returns a key of what the form matches; undefined if it selects nothing, or cannot be sent. */
function keyOf(form: PurgeForm): string | undefined {
  return hasInvalidHeader(form) || isEmpty(form) ? undefined : previewKey(form);
}
