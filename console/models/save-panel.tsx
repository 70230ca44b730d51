import type { ComponentChildren } from 'preact';
import { Button } from '../parts/button.js';
import { ApiError, isConflict } from '../api/client.js';
import { Select } from '../parts/fields.js';
import { Failure } from '../parts/states.js';
import { ForRole } from '../parts/for-role.js';
import { text } from '../strings.js';
import { ChangeList } from './change-report.js';
import { COMPATIBILITY_CHOICES, type Compatibility, type ModelDryRun } from './models-api.js';
import { refusedReport, type DryRun } from './use-dry-run.js';

interface SavePanelProps {
  readonly dryRun: DryRun;
  /** Why nothing can be saved yet; undefined if it can. */
  readonly blocked: string | undefined;
  readonly isSaving: boolean;
  /** The error of the last save. */
  readonly error: unknown;
  readonly onSave: () => void;
  /** Repeats the check after it has failed. */
  readonly onRetry: () => void;
  /** The message if the model is not as expected. */
  readonly conflictTitle?: string | undefined;
  /** Reads the model again, and keeps the typed text. */
  readonly onConflict?: (() => void) | undefined;
  /** Which changes the model accepts now, and the choice for this save. */
  readonly compatibility?:
    | {
        readonly now: Compatibility;
        readonly chosen: Compatibility | '';
        readonly onChoose: (chosen: Compatibility | '') => void;
      }
    | undefined;
  readonly onPosition?: ((pointer: string) => void) | undefined;
  /** Shown above the button. */
  readonly children?: ComponentChildren;
}

/** Shows the effect of saving before it is done. If saving is refused, shows why and what can be done. */
export function SavePanel(props: SavePanelProps) {
  const t = text.models;
  const { dryRun, blocked, isSaving, error, onSave, onPosition, compatibility } = props;
  const problem = error ?? (blocked === undefined ? dryRun.error : undefined);
  const refused = refusedReport(problem);
  const isReady = blocked === undefined && dryRun.isCurrent && dryRun.found !== undefined && !isSaving;
  const found = blocked === undefined ? dryRun.found : undefined;
  return (
    <section
      class="card save"
      aria-labelledby="saving"
      aria-busy={blocked === undefined && !dryRun.isCurrent}
    >
      <h2 id="saving">{t.saving}</h2>
      <p class="hint" role="status">
        {blocked ?? (dryRun.isCurrent ? '' : t.looking)}
      </p>
      {refused === undefined && problem !== undefined && (
        <Failure
          error={problem}
          title={isConflict(problem) ? props.conflictTitle : undefined}
          onRetry={error === undefined && !isSettled(problem) ? props.onRetry : undefined}
        />
      )}
      {isConflict(problem) && props.onConflict !== undefined && (
        <div class="actions">
          <Button onClick={props.onConflict} label={t.goOn} />
          <p class="quiet">{t.goOnHint}</p>
        </div>
      )}
      {refused !== undefined && (
        <div class="notice bad" role="alert">
          <h3>{t.refused}</h3>
          <p>{problem instanceof Error ? problem.message : ''}</p>
          <p>{t.refusedAdvice}</p>
        </div>
      )}
      {refused !== undefined && <ChangeList report={refused} onPosition={onPosition} />}
      {refused === undefined && problem === undefined && found !== undefined && (
        <div class={dryRun.isCurrent ? '' : 'outdated'}>
          <p>
            <strong>{outcomeOf(found)}</strong>
          </p>
          {hasChange(found) && <ChangeList report={found.change} onPosition={onPosition} />}
          <Warnings warnings={found.warnings} />
        </div>
      )}
      {compatibility !== undefined && (
        <div class="narrow-field">
          <Select
            label={t.saveWith}
            value={compatibility.chosen}
            choices={[
              ['', t.asItIs(compatibility.now)],
              ...COMPATIBILITY_CHOICES.filter(([one]) => one !== compatibility.now),
            ]}
            onInput={compatibility.onChoose}
          />
          {compatibility.chosen !== '' && <p class="hint">{t.saveWithHint(compatibility.chosen)}</p>}
        </div>
      )}
      {props.children}
      <ForRole roles={['modeller']}>
        <div class="actions">
          <Button
            class={found?.change.overall === 'breaking' ? 'danger' : 'primary'}
            disabled={!isReady}
            onClick={onSave}
            label={isReady && found !== undefined ? labelOf(found) : text.labels.save}
          />
        </div>
      </ForRole>
    </section>
  );
}

/** Whether repeating the request would give the same answer, because the schema is wrong or the model has changed. */
function isSettled(problem: unknown): boolean {
  return problem instanceof ApiError && [400, 404, 409, 412, 413, 422].includes(problem.problem.status);
}

function hasChange({ outcome, change }: ModelDryRun): boolean {
  return change.differences.length > 0 || outcome === 'version' || outcome === 'replaced';
}

function outcomeOf({ outcome, version }: ModelDryRun): string {
  return text.models.outcomes[outcome](version);
}

function labelOf({ outcome, version, change }: ModelDryRun): string {
  const t = text.models;
  if (outcome === 'created') return t.saveCreated;
  if (outcome !== 'version') return text.labels.save;
  return change.overall === 'breaking' ? t.saveBreaking(version) : t.saveVersion(version);
}

/** The warnings about a model. */
export function Warnings({
  warnings,
  level: Heading = 'h3',
}: Pick<ModelDryRun, 'warnings'> & { readonly level?: 'h2' | 'h3' }) {
  if (warnings.length === 0) return null;
  return (
    <div class="notice warn">
      <Heading>{text.labels.warnings}</Heading>
      <ul class="findings">
        {warnings.map(({ code, term, detail }, index) => (
          <li key={index}>
            {detail} <span class="chip">{`${code}: ${term}`}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
