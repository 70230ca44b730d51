import { useState } from 'preact/hooks';
import type { Tagged } from '../api/client.js';
import { Choice, Field } from '../parts/fields.js';
import { text } from '../strings.js';
import { JsonArea } from '../editor/json-area.js';
import { writeModel } from './model-write.js';
import { COMPATIBILITIES, readModel, type Model, type ModelSettings } from './models-api.js';
import { SavePanel } from './save-panel.js';
import { changedSettings, formOfModel, type SettingsForm } from './settings-form.js';
import { useTrial } from './use-trial.js';

/** What a model has besides its schema. */
export function ModelSettingsForm({
  read: { value: model, etag },
  onChanged,
}: {
  readonly read: Tagged<Model>;
  readonly onChanged: () => void;
}) {
  const t = text.models;
  const [form, setForm] = useState<SettingsForm>(() => formOfModel(model));
  // Members that were not changed here are not sent, and stay as somebody else left them.
  const [base, setBase] = useState(etag);
  const [error, setError] = useState<unknown>();
  const [isSaving, setIsSaving] = useState(false);
  const { settings, fault } = settingsOf(form, model);
  const expected = { etag: base };
  const { trial, again } = useTrial(model, settings === undefined ? undefined : { settings }, expected);
  const set = (changed: Partial<SettingsForm>) => {
    setForm({ ...form, ...changed });
    setError(undefined);
  };
  const save = async () => {
    setIsSaving(true);
    setError(undefined);
    try {
      await writeModel(model, { settings }, expected);
      onChanged();
    } catch (failure) {
      setError(failure);
    }
    setIsSaving(false);
  };
  const goOn = async () => {
    try {
      setBase((await readModel(model, new AbortController().signal)).etag);
      setError(undefined);
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <div class="columns editing">
      <section class="card" aria-labelledby="settings">
        <h2 id="settings">{t.parts.settings}</h2>
        <div class="stack">
          <Field
            label={t.description}
            isWide
            value={form.description}
            onInput={(description) => set({ description })}
          />
          <Choice
            label={t.status}
            value={form.status}
            choices={(['draft', 'published', 'deprecated'] as const)
              .filter((one) => one !== 'draft' || model.status === 'draft')
              .map((one) => [one, `${t.statuses[one]}: ${t.statusNotes[one]}`] as const)}
            onChoose={(status) => set({ status })}
          />
          <Field
            label={t.sunset}
            hint={t.sunsetHint}
            value={form.sunset}
            onInput={(sunset) => set({ sunset })}
          />
          <Choice
            label={t.compatibility}
            value={form.compatibility}
            choices={[
              ['', t.asItIs(model.compatibility)] as const,
              ['domain', t.ofDomain] as const,
              ...COMPATIBILITIES.map((one) => [one, `${one}: ${t.compatibilities[one]}`] as const),
            ]}
            onChoose={(compatibility) => set({ compatibility })}
          />
          <Field
            label={t.contextBase}
            hint={t.contextBaseHint}
            isWide
            value={form.contextBase}
            onInput={(contextBase) => set({ contextBase })}
          />
          <JsonArea
            label={t.contexts.own}
            hint={t.contexts.ownHint}
            value={form.context}
            onInput={(context) => set({ context })}
          />
        </div>
      </section>
      <SavePanel
        trial={trial}
        wait={fault === undefined ? (settings === undefined ? t.unchanged : undefined) : t.notJson(fault)}
        isSaving={isSaving}
        error={error}
        onSave={() => void save()}
        onAgain={again}
        onOvertaken={() => void goOn()}
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
