import { type JsonObject, sameJson } from '../../shared/json/json.js';
import type { ChangeReport } from '../json-schema/change-report.js';
import { reportChanges } from '../json-schema/schema-work.js';
import { AlreadyExistsError, PreconditionFailedError, requireStorable } from '../store/errors.js';
import type {
  Model,
  ModelAt,
  ModelKey,
  ModelSettings,
  ModelTexts,
  NewModelVersion,
} from '../store/records.js';
import type { SchemaStore } from '../store/store.js';
import { ifThere, requireMatch, retrying } from './concurrency.js';
import { rereading } from './contents.js';
import { IncompatibleChangeError, OvertakenError, requireName } from './errors.js';
import { isTooMuch, type ModelDescriptions } from './model-documents.js';
import type { AcceptedSchema, SchemaIntake, ServiceWorkers } from './schema-intake.js';
import type { ModelService } from './service.js';
import {
  type ChangeKind,
  detailsOf,
  type ModelChange,
  type ModelDetails,
  type ModelUpdate,
  type NewModel,
  storedMetadata,
} from './shapes.js';

interface Parts {
  readonly store: SchemaStore;
  readonly workers: ServiceWorkers;
  readonly intake: SchemaIntake;
  readonly descriptions: ModelDescriptions;
}

const UNCHANGED: ChangeReport = { overall: 'compatible', differences: [] };

type UpdateOptions = Parameters<ModelService['update']>[2];

/** Creates and updates models; see ModelService. */
export class ModelWriter {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async create(domain: string, { name, schema, ...given }: NewModel): Promise<ModelDetails> {
    const { store, intake, descriptions } = this.#parts;
    const key = { domain, name: requireName(name) };
    const { description, contextBase, compatibility = 'none' } = given;
    requireStorable({ description });
    if ((await ifThere('model', store.models.get(key))) !== undefined)
      throw new AlreadyExistsError({ kind: 'model', ...key });
    return retrying(async () => {
      const accepted = await intake.accept(name, schema, contextBase);
      await accepted.keepReferences();
      const settings = { description, contextBase, compatibility };
      const at = await store.models.create(key, settings, newVersion(accepted, settings));
      await descriptions.keep(at.version, accepted.description);
      return detailsOf(at, accepted.schema);
    });
  }

  async update(key: ModelKey, change: ModelChange, options: UpdateOptions = {}): Promise<ModelUpdate> {
    return retrying(() => rereading(() => this.#tryUpdate(key, change, options)));
  }

  async #tryUpdate(
    key: ModelKey,
    change: ModelChange,
    { ifMatch, dryRun = false }: NonNullable<UpdateOptions>,
  ): Promise<ModelUpdate> {
    const { store, intake, descriptions } = this.#parts;
    const before = await store.models.texts(key);
    const { model } = before;
    requireMatch({ kind: 'model', ...key }, model.etag, ifMatch);
    const settings = changedSettings(model, change);
    requireStorable({ description: settings.description });
    const accepted = await intake.accept(key.name, change.schema, settings.contextBase);
    const isNewVersion = !isSameVersion(before, accepted);
    const report = isNewVersion ? await this.#report(before, accepted) : UNCHANGED;
    if (settings.compatibility === 'backward' && report.overall !== 'compatible')
      throw new IncompatibleChangeError(report);
    const update = {
      outcome: isNewVersion ? 'version' : isSame(model, settings) ? 'unchanged' : 'settings',
      dryRun,
      number: model.currentVersion + (isNewVersion ? 1 : 0),
      change: report,
      warnings: accepted.warnings,
    } as const;
    if (dryRun) return { ...update, model: detailsOf(before, JSON.parse(before.schema) as JsonObject) };
    if (isNewVersion) await accepted.keepReferences();
    const version = isNewVersion ? newVersion(accepted, settings, report.overall) : undefined;
    const at = await this.#write(model, settings, version);
    // What it is compared with next is then at hand.
    if (isNewVersion) await descriptions.keep(at.version, accepted.description);
    const text = isNewVersion ? accepted.text : before.schema;
    return { ...update, model: detailsOf(at, JSON.parse(text) as JsonObject) };
  }

  async #report(before: ModelTexts, { description }: AcceptedSchema): Promise<ChangeReport> {
    const { descriptions, workers } = this.#parts;
    const old = await descriptions.of(before.version);
    return changesBetween(old.bundled, description.bundled, workers);
  }

  /** Writes only over the state that the update was checked against; if that has changed, it starts over. */
  async #write(
    { domain, name, etag }: Model,
    settings: ModelSettings,
    version: NewModelVersion | undefined,
  ): Promise<ModelAt> {
    try {
      return await this.#parts.store.models.update({ domain, name }, { settings, version }, [etag]);
    } catch (error) {
      if (!(error instanceof PreconditionFailedError)) throw error;
      throw new OvertakenError({ cause: error });
    }
  }
}

function newVersion(
  accepted: AcceptedSchema,
  { description }: ModelSettings,
  change?: ChangeKind,
): NewModelVersion {
  const { text, context, dialect, warnings, references } = accepted;
  return {
    schema: text,
    context,
    description,
    metadata: storedMetadata({ dialect, warnings, ...(change === undefined ? {} : { change }) }),
    references,
    contexts: new Set(),
  };
}

/** What is left out stays; null takes it away. */
function changedSettings(model: Model, change: ModelChange): ModelSettings {
  const { description, contextBase, compatibility = model.compatibility } = change;
  return {
    description: description === undefined ? model.description : (description ?? undefined),
    contextBase: contextBase === undefined ? model.contextBase : (contextBase ?? undefined),
    compatibility,
  };
}

function isSame(model: Model, settings: ModelSettings): boolean {
  return (
    model.description === settings.description &&
    model.contextBase === settings.contextBase &&
    model.compatibility === settings.compatibility
  );
}

/** Whether a version made from the schema would say what the current one says. */
function isSameVersion({ version, schema, context }: ModelTexts, accepted: AcceptedSchema): boolean {
  const { references } = accepted;
  return (
    context === accepted.context &&
    version.references.every(({ uri, sha256 }) => references.get(uri) === sha256) &&
    sameJson(JSON.parse(schema) as JsonObject, accepted.schema)
  );
}

/**
 * What changes between two schemas. If the comparison takes too much time or depth, the change counts as narrowing. It is
 * a task of its own: its deadline must not refuse the schema.
 *
 * @param before text of the old schema, self-contained; `after` likewise
 * @throws WorkersBusyError, TaskFailedError
 */
async function changesBetween(before: string, after: string, workers: ServiceWorkers): Promise<ChangeReport> {
  if (before === after) return UNCHANGED;
  try {
    return await reportChanges({ before, after }, workers);
  } catch (error) {
    if (!isTooMuch(error)) throw error;
    const detail = 'the schemas are too complex to compare';
    return { overall: 'narrowing', differences: [{ pointer: '', kind: 'narrowing', detail }] };
  }
}
