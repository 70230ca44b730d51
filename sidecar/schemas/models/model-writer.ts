import { hash } from 'node:crypto';
import type { Clock } from '../../shared/clock.js';
import { type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import {
  AlreadyExistsError,
  type Compatibility,
  type Expected,
  MAX_EXAMPLES,
  type Model,
  type ModelAt,
  type ModelKey,
  type ModelSettings,
  type ModelTexts,
  type NewExamples,
  type NewModelVersion,
  requireExpected,
  requireStorable,
  type SchemaStore,
} from '../../store/index.js';
import type { ChangeKind, ChangeReport } from '../json-schema/differences.js';
import { undefinedIfNotFound, writeIfUnchanged, WriteQueue } from './concurrency.js';
import { InvalidBodyError } from '../../shared/errors.js';
import { IncompatibleChangeError, ConcurrentUpdateError, requireName } from './errors.js';
import {
  type ComparedVersions,
  type CompareOptions,
  swapVersions,
  type ModelComparison,
  UNCHANGED,
} from './model-comparison.js';
import type { ModelDescriptions } from './model-descriptions.js';
import {
  isSame,
  metadataOf,
  type ModelChange,
  type ModelWarning,
  settingsAfter,
  storedMetadata,
} from './model-settings.js';
import { keepFetched } from './references.js';
import {
  type AcceptedSchema,
  hasSameDocuments,
  type SchemaChecker,
  type VersionInput,
} from './schema-checker.js';
import type { DryRunStore } from './dry-run-store.js';

/** The body that creates a model. */
export interface NewModel extends ModelChange {
  readonly name: string;
}

/** How the client reaches this service, who writes, and whether it is a dry run. */
export interface ModelWriteOptions {
  /** Whether to check everything, with the same refusals, but write nothing. */
  readonly dryRun?: boolean | undefined;
  /**
   * The URL under which the client reaches this service, without a trailing slash. URLs below it belong to the service.
   */
  readonly baseUrl?: string | undefined;
  /** The caller, stored with a new version. */
  readonly caller?: string | undefined;
  /**
   * Earlier texts, by name, of contexts of this service that were changed together with the model; the report compares
   * with these. They do not affect whether the model's compatibility allows the change.
   */
  readonly contextsBefore?: ReadonlyMap<string, string> | undefined;
}

/** The state that a PUT expects of the model. */
export interface ModelPutOptions extends ModelWriteOptions {
  /** `absent` for `If-None-Match: *`, `present` for `If-Match: *`, or the ETags of `If-Match`. */
  readonly expected?: Expected;
}

/**
 * The effect of a write:
 *
 * - `created`: a new model
 * - `version`: a new version
 * - `replaced`: the version of a draft was replaced
 * - `settings`: the settings or the examples changed, without a new version
 * - `unchanged`: nothing differs
 */
export type ModelOutcome = 'created' | 'version' | 'replaced' | 'settings' | 'unchanged';

/** The result of a write, or the expected result for a dry run. */
export interface ModelWrite {
  readonly outcome: ModelOutcome;
  /** Number of the version that the schema has, or would have. */
  readonly number: number;
  /** Changes from the previous version to this one; pointers lead into the bundled schema. */
  readonly change: ChangeReport;
  readonly warnings: readonly ModelWarning[];
  /** The current state. After a dry run it is unchanged, and undefined if the model does not exist. */
  readonly model: ModelTexts | undefined;
}

interface Parts {
  readonly store: SchemaStore;
  readonly schemaChecker: SchemaChecker;
  readonly descriptions: ModelDescriptions;
  readonly comparison: ModelComparison;
  readonly clock: Pick<Clock, 'now'>;
  /** Keeps the contexts that dry runs would have created. */
  readonly dryRunStore: Pick<DryRunStore, 'keepGenerated'> | undefined;
}

interface WriteRequirements extends Pick<VersionInput, 'baseUrl' | 'time'> {
  /** The compatibility required of a new version. */
  readonly compatibility: Compatibility;
}

/** Creates and updates models. */
export class ModelWriter {
  readonly #parts: Parts;
  readonly #queue = new WriteQueue();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Checks a schema and creates a model from it. The documents in its `$ref`s are taken from the store, or otherwise
   * fetched from allowed origins and stored.
   *
   * @throws NotFoundError if the domain does not exist, AlreadyExistsError, InvalidBodyError, SchemaRefusedError,
   * ContextInvalidError, UnstorableTextError, ConcurrentUpdateError
   */
  async create(
    domain: string,
    { name, ...change }: NewModel,
    options: ModelWriteOptions = {},
  ): Promise<ModelWrite> {
    const key = { domain, name: requireName(name) };
    return this.#queue.run(`${domain}/${key.name}`, async () => {
      if ((await undefinedIfNotFound('model', this.#parts.store.models.get(key))) !== undefined)
        throw new AlreadyExistsError({ kind: 'model', ...key });
      return this.#create(key, change, options);
    });
  }

  /**
   * Updates a model, or creates it. An update creates a new version, unless the schema, the documents it refers to and
   * its context are unchanged; for a draft, the new version replaces the old one. If neither schema nor context are
   * given, only the settings change.
   *
   * @throws as create, and InvalidBodyError if a model that does not exist has no schema; PreconditionFailedError,
   * PublishedError; IncompatibleChangeError if the model's compatibility does not allow the change
   */
  put(
    key: ModelKey,
    change: ModelChange,
    { expected, ...options }: ModelPutOptions = {},
  ): Promise<ModelWrite> {
    return this.#queue.run(`${key.domain}/${key.name}`, async () => {
      const before = await undefinedIfNotFound('model', this.#parts.store.models.texts(key));
      // Checked before any work; the write then depends on the same state.
      requireExpected({ kind: 'model', ...key }, before?.model.etag, expected);
      if (before !== undefined) return this.#update(before, change, options);
      try {
        return await this.#create(key, change, options);
      } catch (error) {
        // Another client created the model in the meantime, so the next attempt updates it.
        const hasCome = error instanceof AlreadyExistsError && error.resource.kind === 'model';
        throw hasCome ? new ConcurrentUpdateError({ cause: error }) : error;
      }
    });
  }

  async #create(
    key: ModelKey,
    change: ModelChange,
    { dryRun = false, baseUrl = '', caller }: ModelWriteOptions,
  ): Promise<ModelWrite> {
    const { store, schemaChecker, descriptions, clock, dryRunStore } = this.#parts;
    requireName(key.name);
    const { schema } = change;
    if (schema === undefined) throw schemaMissing(key);
    const settings = settingsAfter(undefined, undefined, change, clock.now());
    requireStorable({ description: settings.description });
    const accepted = await schemaChecker.accept(
      key,
      inputOf(schema, settings, { baseUrl, time: { usedMs: 0 } }),
    );
    const created = {
      outcome: 'created',
      number: 1,
      change: UNCHANGED,
      warnings: accepted.metadata.warnings,
    } as const;
    if (dryRun) {
      dryRunStore?.keepGenerated(key, accepted.version.context, undefined);
      return { ...created, model: undefined };
    }
    await keepFetched(store, accepted.fetched);
    const version = newVersion(accepted, settings, { caller });
    const at = await store.models.create(key, settings, version, change.examples);
    descriptions.keep(at.version, accepted.description);
    return { ...created, model: storedModel(at, accepted, settings) };
  }

  async #update(before: ModelTexts, change: ModelChange, options: ModelWriteOptions): Promise<ModelWrite> {
    const { store, descriptions, comparison, clock, dryRunStore } = this.#parts;
    const { model, ownContext } = before;
    const { dryRun = false, baseUrl = '', caller, contextsBefore } = options;
    const settings = settingsAfter(model, ownContext, change, clock.now());
    requireStorable({ description: settings.description });
    const compatibility = await this.#compatibilityOf(model, settings);
    const requirements = { baseUrl, compatibility, time: { usedMs: 0 } };
    const accepted = await this.#acceptChange(before, change, settings, requirements);
    const isNewVersion = accepted !== undefined && !isSameVersion(before, accepted);
    const report = isNewVersion ? await this.#report(before, accepted, requirements) : UNCHANGED;
    const reported =
      contextsBefore === undefined
        ? report
        : await comparison.between(
            await this.#compared(before, isNewVersion ? accepted : undefined, {
              baseUrl,
              contextsBefore,
              time: requirements.time,
            }),
          );
    const isDraft = model.status === 'draft';
    const { examples } = change;
    const isUnchanged = isSame(model, ownContext, settings) && (await this.#hasExamples(model, examples));
    const unversioned = isUnchanged ? 'unchanged' : 'settings';
    const update = {
      outcome: isNewVersion ? (isDraft ? 'replaced' : 'version') : unversioned,
      number: model.currentVersion + (isNewVersion && !isDraft ? 1 : 0),
      change: reported,
      warnings: (accepted?.metadata ?? metadataOf(before.version)).warnings,
    } as const;
    if (dryRun) {
      if (isNewVersion) dryRunStore?.keepGenerated(model, accepted.version.context, update.number);
      return { ...update, model: before };
    }
    if (!isNewVersion) {
      const at = await this.#write(model, { settings, examples });
      return { ...update, model: { ...before, ...at, ownContext: settings.ownContext } };
    }
    await keepFetched(store, accepted.fetched);
    const overall = isDraft ? undefined : report.overall;
    const version = newVersion(accepted, settings, { change: overall, caller });
    const at = await this.#write(model, { settings, version, replaces: isDraft, examples });
    // The next update compares with this description.
    descriptions.keep(at.version, accepted.description);
    return { ...update, model: storedModel(at, accepted, settings) };
  }

  /** Returns the compatibility required of new versions of a model; `none` for a draft. */
  async #compatibilityOf(model: Model, { compatibility }: ModelSettings): Promise<Compatibility> {
    if (model.status === 'draft') return 'none';
    if (compatibility !== undefined) return compatibility;
    // A model without a compatibility of its own has that of its domain.
    if (model.ownCompatibility === undefined) return model.compatibility;
    return (await this.#parts.store.domains.get(model.domain)).compatibility;
  }

  /** Checks the changed schema or context; undefined if the change affects neither. */
  async #acceptChange(
    before: ModelTexts,
    change: ModelChange,
    settings: ModelSettings,
    { baseUrl, time }: WriteRequirements,
  ): Promise<AcceptedSchema | undefined> {
    const { contextBase, context } = change;
    if ([change.schema, contextBase, context].every((given) => given === undefined)) return undefined;
    const given = change.schema === undefined ? (parseJson(before.schema) as JsonObject) : change.schema;
    return this.#parts.schemaChecker.accept(
      before.model,
      inputOf(given, settings, { baseUrl, time }),
      before,
    );
  }

  /**
   * Reports the changes of a new version.
   *
   * @throws IncompatibleChangeError
   */
  async #report(
    before: ModelTexts,
    accepted: AcceptedSchema,
    { compatibility, ...options }: WriteRequirements,
  ): Promise<ChangeReport> {
    const { comparison } = this.#parts;
    const versions = await this.#compared(before, accepted, options);
    const report = await comparison.between(versions);
    if ((compatibility === 'backward' || compatibility === 'full') && report.overall !== 'compatible')
      throw new IncompatibleChangeError(report, 'backward');
    if (!isForward(compatibility)) return report;
    const reverse = await comparison.between(swapVersions(versions));
    if (reverse.overall !== 'compatible') throw new IncompatibleChangeError(reverse, 'forward');
    return report;
  }

  async #compared(
    before: ModelTexts,
    accepted: AcceptedSchema | undefined,
    options: CompareOptions,
  ): Promise<ComparedVersions> {
    const { bundled } = await this.#parts.descriptions.of(before.version);
    const old = { bundled, context: before.context };
    const fresh =
      accepted === undefined
        ? old
        : { bundled: accepted.description.bundled, context: accepted.version.context };
    return this.#parts.comparison.versions(before.model.name, old, fresh, options);
  }

  /** Whether a model has exactly these examples; true if none are given. */
  async #hasExamples(model: Model, examples: NewExamples | undefined): Promise<boolean> {
    if (examples === undefined) return true;
    const { items } = await this.#parts.store.examples.list(model, { limit: MAX_EXAMPLES, offset: 0 });
    const stored = new Map(items.map(({ name, content }) => [name, content.sha256]));
    return (
      stored.size === examples.size &&
      [...examples].every(([name, { text }]) => stored.get(name) === hash('sha256', text))
    );
  }

  /**
   * Writes only over the state that the update was checked against.
   *
   * @throws ConcurrentUpdateError if that state has changed
   */
  async #write(
    { domain, name, etag }: Model,
    update: Parameters<SchemaStore['models']['update']>[1],
  ): Promise<ModelAt> {
    return writeIfUnchanged(() => this.#parts.store.models.update({ domain, name }, update, [etag]));
  }
}

function inputOf(
  schema: JsonValue,
  { contextBase, ownContext }: ModelSettings,
  options: Pick<VersionInput, 'baseUrl' | 'time'>,
): VersionInput {
  const context = ownContext === undefined ? undefined : (parseJson(ownContext) as JsonValue);
  return { schema, contextBase, context, ...options };
}

function newVersion(
  { version, metadata }: AcceptedSchema,
  { description }: ModelSettings,
  { change, caller }: { readonly change?: ChangeKind | undefined; readonly caller?: string | undefined },
): NewModelVersion {
  return {
    ...version,
    description,
    metadata: storedMetadata({
      ...metadata,
      ...(change === undefined ? {} : { change }),
      ...(caller === undefined ? {} : { caller }),
    }),
  };
}

function storedModel(
  at: ModelAt,
  { version: { schema, context } }: AcceptedSchema,
  { ownContext }: ModelSettings,
): ModelTexts {
  return { ...at, schema, context, ownContext };
}

/** Whether a new version would equal the current one. */
function isSameVersion({ version, context }: ModelTexts, accepted: AcceptedSchema): boolean {
  return (
    accepted.hasSameSchema &&
    context === accepted.version.context &&
    hasSameDocuments(version, accepted.version.references)
  );
}

function isForward(asked: Compatibility): boolean {
  return asked === 'forward' || asked === 'full';
}

/** The error for an update of a model that does not exist, without a schema to create it from. */
function schemaMissing({ domain, name }: ModelKey): InvalidBodyError {
  const detail = 'is missing: it is needed to create the model';
  const model = `model ${JSON.stringify(name)} in domain ${JSON.stringify(domain)}`;
  return new InvalidBodyError(`There is no ${model}. The schema ${detail}.`, '/schema', detail);
}
