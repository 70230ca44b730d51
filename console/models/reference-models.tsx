import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { isConflict } from '../api/client.js';
import { Card } from '../parts/card.js';
import { Failure } from '../parts/states.js';
import { useAction } from '../shared/hooks.js';
import { text } from '../strings.js';
import { DependentList } from './change-report.js';
import { updateDependents, type ReadReference, type UpdatedDependent } from './references-api.js';

/** What was found or done. */
interface Outcome {
  readonly dependents: readonly UpdatedDependent[];
  readonly isDone: boolean;
}

/** Models created with an earlier state of a document. They are searched for on request, and can then be updated. */
export function ReferenceModels({
  uri,
  read,
  isFetched,
  onChanged,
}: {
  readonly uri: string;
  readonly read: ReadReference;
  readonly isFetched: boolean;
  /** Called when the document has to be read again. */
  readonly onChanged: () => void;
}) {
  const t = text.models.references;
  const [outcome, setOutcome] = useState<Outcome>();
  const [doing, setDoing] = useState('');
  const { isBusy, error, run, clear } = useAction();
  const result = useRef<HTMLHeadingElement>(null);
  // The pressed button no longer exists, so the focus moves before the page is drawn without it.
  useLayoutEffect(() => {
    if (outcome?.isDone === true) result.current?.focus();
  }, [outcome]);
  const ask = (isDryRun: boolean) => {
    setDoing(isDryRun ? t.checking : t.updating);
    run(async () => {
      const dependents = await updateDependents(uri, read, isDryRun).catch((failure: unknown) => {
        setOutcome(undefined);
        throw failure;
      });
      setOutcome({ dependents, isDone: !isDryRun });
      if (!isDryRun) onChanged();
    });
  };
  const again = () => {
    clear();
    onChanged();
  };
  const updated = outcome?.dependents.filter(({ status }) => status === 'updated').length ?? 0;
  return (
    <Card id="users" title={t.users}>
      <p class="quiet">{t.usersLead}</p>
      <div class="actions">
        <Button
          aria-disabled={isBusy}
          onClick={() => ask(true)}
          label={outcome === undefined ? t.check : t.checkAgain}
        />
        <p class="quiet" role="status">
          {isBusy ? doing : outcome?.dependents.length === 0 ? t.none : ''}
        </p>
      </div>
      {error !== undefined && <Failure error={error} onRetry={isConflict(error) ? again : undefined} />}
      {outcome !== undefined && outcome.dependents.length > 0 && (
        <section class="found" aria-labelledby="outdated">
          <h3 id="outdated" ref={result} tabIndex={-1}>
            {outcome.isDone ? t.updated(updated) : t.wouldBe(outcome.dependents.length)}
          </h3>
          {!outcome.isDone && <p class="quiet">{t.would}</p>}
          <DependentList dependents={outcome.dependents} />
          {!outcome.isDone && updated === 0 && <p class="quiet">{t.nothingToUpdate}</p>}
          {!outcome.isDone && updated > 0 && (
            <div class="actions">
              <Button
                class="primary"
                aria-disabled={isBusy}
                onClick={() => ask(false)}
                label={t.update(updated)}
              />
              <p class="quiet">
                {t.updateHint} {isFetched && t.updateFetched}
              </p>
            </div>
          )}
        </section>
      )}
    </Card>
  );
}
