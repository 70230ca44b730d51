import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { isOvertaken } from '../api/client.js';
import { Card } from '../parts/card.js';
import { Failure } from '../parts/states.js';
import { useWork } from '../shared/use-work.js';
import { text } from '../strings.js';
import { DependentList } from './dependent-list.js';
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
  const { isBusy, error, run, clear } = useWork();
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
  return (
    <Card id="users" title={t.users}>
      <p class="quiet">{t.usersLead}</p>
      <div class="actions">
        <Button onClick={() => ask(true)} label={outcome === undefined ? t.check : t.checkAgain} />
        <p class="quiet" role="status">
          {isBusy ? doing : outcome?.dependents.length === 0 ? t.none : ''}
        </p>
      </div>
      {error !== undefined && (
        <Failure
          error={error}
          title={isOvertaken(error) ? text.models.overtaken : undefined}
          onRetry={isOvertaken(error) ? again : undefined}
        />
      )}
      {outcome !== undefined && outcome.dependents.length > 0 && (
        <section class="found" aria-labelledby="outdated">
          <h3 id="outdated" ref={result} tabIndex={-1}>
            {outcome.isDone ? t.updated(updatedIn(outcome)) : t.wouldBe(outcome.dependents.length)}
          </h3>
          {!outcome.isDone && <p class="quiet">{t.would}</p>}
          <DependentList dependents={outcome.dependents} />
          {!outcome.isDone && (
            <Update total={updatedIn(outcome)} isFetched={isFetched} onGo={() => ask(false)} />
          )}
        </section>
      )}
    </Card>
  );
}

function updatedIn({ dependents }: Outcome): number {
  return dependents.filter(({ status }) => status === 'updated').length;
}

function Update({
  total,
  isFetched,
  onGo,
}: {
  readonly total: number;
  readonly isFetched: boolean;
  readonly onGo: () => void;
}) {
  const t = text.models.references;
  if (total === 0) return <p class="quiet">{t.nothingToUpdate}</p>;
  return (
    <div class="actions">
      <Button class="primary" onClick={onGo} label={t.update(total)} />
      <p class="quiet">
        {t.updateHint} {isFetched && t.updateFetched}
      </p>
    </div>
  );
}
