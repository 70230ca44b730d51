import { Card } from '../parts/card.js';
import { bindForm, Select, Field, TextArea } from '../parts/fields.js';
import { useAction } from '../shared/hooks.js';
import { useDraft } from '../shared/drafts.js';
import { text } from '../strings.js';
import { writeModel } from './model-write.js';
import {
  COMPATIBILITY_CHOICES,
  readModel,
  type Model,
  type ModelPartProps,
  type ModelKey,
  type ModelSettings,
  type Compatibility,
} from './models-api.js';
import { SavePanel } from './save-panel.js';
import { Unsaved } from '../parts/page.js';
import { useDryRun } from './use-dry-run.js';

/** Returns the name of the draft of a model's settings. */
export function settingsDraft({ domain, name }: ModelKey): string {
  return `settings of ${domain}/${name}`;
}

/** The settings of a model, besides its schema. */
export function ModelSettingsForm({ read: { value: model, etag }, onChanged }: ModelPartProps) {
  const t = text.models;
  // Only changed members are sent, so that changes of other users to the other members are kept.
  const draft = useDraft<SettingsForm & { readonly base: string }>(settingsDraft(model), () => ({
    ...formOfModel(model),
    base: etag,
  }));
  const { base, ...form } = draft.form;
  const { isBusy, error, run, clear } = useAction();
  const { settings, syntaxError } = settingsOf(form, model);
  const expected = { etag: base };
  const { dryRun, retry } = useDryRun(model, settings === undefined ? undefined : { settings }, expected);
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
          <Field {...bind('description')} label={text.labels.description} isWide />
          <Select
            {...bind('status')}
            label={t.status}
            choices={(['draft', 'published', 'deprecated'] as const)
              .filter((one) => one !== 'draft' || model.status === 'draft')
              .map((one) => [one, `${one}: ${t.statusNotes[one]}`] as const)}
          />
          <Field {...bind('sunset')} label={t.sunset} hint={t.sunsetHint} />
          <Select
            {...bind('compatibility')}
            label={t.compatibility}
            choices={[['', t.asItIs(model.compatibility)], ['domain', t.ofDomain], ...COMPATIBILITY_CHOICES]}
          />
          <Field {...bind('contextBase')} label={t.contextBase} hint={t.contextBaseHint} isWide />
          <TextArea {...bind('context')} label={t.contexts.own} hint={t.contexts.ownHint} rows={6} isWide />
        </div>
      </Card>
      <SavePanel
        dryRun={dryRun}
        blocked={
          syntaxError === undefined
            ? settings === undefined
              ? t.unchanged
              : undefined
            : t.notJson(syntaxError)
        }
        isSaving={isBusy}
        error={error}
        onSave={() => run(save)}
        onRetry={retry}
        onConflict={() => run(goOn)}
      />
    </div>
  );
}

function settingsOf(form: SettingsForm, model: Model): { settings?: ModelSettings; syntaxError?: string } {
  try {
    const settings = changedSettings(form, model);
    return settings === undefined ? {} : { settings };
  } catch (error) {
    return { syntaxError: error instanceof Error ? error.message : String(error) };
  }
}

/** The settings of a model as typed. */
export interface SettingsForm {
  readonly description: string;
  readonly contextBase: string;
  /** Empty for none; a name or URL; or JSON. */
  readonly context: string;
  /** Empty to leave it unchanged. `domain` for the default of the domain. */
  readonly compatibility: Compatibility | 'domain' | '';
  readonly status: Model['status'];
  readonly sunset: string;
}

export function formOfModel(model: Model): SettingsForm {
  const { description = '', contextBase = '', context, status, sunset = '' } = model;
  return { description, contextBase, context: textOfContext(context), compatibility: '', status, sunset };
}

function textOfContext(context: unknown): string {
  if (context === undefined) return '';
  return typeof context === 'string' ? context : JSON.stringify(context, null, 2);
}

/** Whether a context was typed as JSON rather than as a name or URL. */
function isJsonContext(typed: string): boolean {
  return /^\s*[[{"]/.test(typed);
}

/**
 * Returns the members that differ from those of the model; null for emptied ones. Undefined if nothing differs.
 *
 * @throws SyntaxError for a context that looks like JSON but is not valid
 */
export function changedSettings(form: SettingsForm, model: Model): ModelSettings | undefined {
  const before = formOfModel(model);
  const context = form.context.trim();
  const parsed = isJsonContext(context) ? (JSON.parse(context) as ModelSettings['context']) : undefined;
  const changed: ModelSettings = {
    ...(form.description === before.description ? {} : { description: orNull(form.description) }),
    ...(form.contextBase === before.contextBase ? {} : { contextBase: orNull(form.contextBase) }),
    ...(form.context === before.context ? {} : { context: parsed ?? orNull(context) }),
    ...(form.compatibility === ''
      ? {}
      : { compatibility: form.compatibility === 'domain' ? null : form.compatibility }),
    ...(form.status === before.status ? {} : { status: form.status }),
    ...(form.sunset === before.sunset ? {} : { sunset: orNull(form.sunset) }),
  };
  return Object.keys(changed).length === 0 ? undefined : changed;
}

function orNull(value: string): string | null {
  const given = value.trim();
  return given === '' ? null : given;
}
