import type { Compatibility, Model, ModelSettings } from './models-api.js';

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
