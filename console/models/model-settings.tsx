import type { WithETag } from '../api/client.js';
import { Card } from '../parts/card.js';
import { bindForm, Choice, Field, Lines } from '../parts/fields.js';
import { useWork } from '../shared/use-work.js';
import { useDraft } from '../shared/drafts.js';
import { text } from '../strings.js';
import { writeModel } from './model-write.js';
import {
  COMPATIBILITY_CHOICES,
  readModel,
  type Model,
  type ModelKey,
  type ModelSettings,
} from './models-api.js';
import { SavePanel } from './save-panel.js';
import { Unsaved } from '../parts/unsaved.js';
import { changedSettings, formOfModel, type SettingsForm } from './settings-form.js';
import { useTrial } from './use-trial.js';

/** Returns the name of the draft of a model's settings. */
export function settingsDraft({ domain, name }: ModelKey): string {
  return `settings of ${domain}/${name}`;
}

/** The settings of a model, besides its schema. */
export function ModelSettingsForm({
  read: { value: model, etag },
  onChanged,
}: {
  readonly read: WithETag<Model>;
  readonly onChanged: () => void;
}) {
  const t = text.models;
  // Only changed members are sent, so that changes of other users to the other members are kept.
  const draft = useDraft<SettingsForm & { readonly base: string }>(settingsDraft(model), () => ({
    ...formOfModel(model),
    base: etag,
  }));
  const { base, ...form } = draft.form;
  const { isBusy, error, run, clear } = useWork();
  const { settings, fault } = settingsOf(form, model);
  const expected = { etag: base };
  const { trial, again } = useTrial(model, settings === undefined ? undefined : { settings }, expected);
  const bind = bindForm<SettingsForm>(form, (changed) => {
    draft.change(changed);
    clear();
  });
  const save = async () => {
    await writeModel(model, { settings }, expected);
    draft.forget();
    onChanged();
  };
  const goOn = async () => draft.change({ base: (await readModel(model)).etag });
  return (
    <div class="columns editing">
      <Card
        id="settings"
        title={t.parts.settings}
        tools={draft.isChanged && <Unsaved onDiscard={draft.discard} />}
      >
        <div class="stack">
          <Field {...bind('description')} label={t.description} isWide />
          <Choice
            {...bind('status')}
            label={t.status}
            choices={(['draft', 'published', 'deprecated'] as const)
              .filter((one) => one !== 'draft' || model.status === 'draft')
              .map((one) => [one, `${one}: ${t.statusNotes[one]}`] as const)}
          />
          <Field {...bind('sunset')} label={t.sunset} hint={t.sunsetHint} />
          <Choice
            {...bind('compatibility')}
            label={t.compatibility}
            choices={[['', t.asItIs(model.compatibility)], ['domain', t.ofDomain], ...COMPATIBILITY_CHOICES]}
          />
          <Field {...bind('contextBase')} label={t.contextBase} hint={t.contextBaseHint} isWide />
          <Lines {...bind('context')} label={t.contexts.own} hint={t.contexts.ownHint} rows={6} isWide />
        </div>
      </Card>
      <SavePanel
        trial={trial}
        wait={fault === undefined ? (settings === undefined ? t.unchanged : undefined) : t.notJson(fault)}
        isSaving={isBusy}
        error={error}
        onSave={() => run(save)}
        onAgain={again}
        onOvertaken={() => run(goOn)}
      />
    </div>
  );
}

function settingsOf(form: SettingsForm, model: Model): { settings?: ModelSettings; fault?: string } {
  try {
    const settings = changedSettings(form, model);
    return settings === undefined ? {} : { settings };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}
