import { fileKey } from '../../shared/code-hosts.js';
import { createHash } from 'node:crypto';
import type { Clock } from '../../shared/clock.js';
import { type JsonObject, type JsonValue, sameJson } from '../../shared/json/json.js';
import { InvalidBodyError } from '../../shared/errors.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import type { ChangeReport } from '../json-schema/differences.js';
import { AlreadyExistsError, PreconditionFailedError, requireStorable } from '../../store/errors.js';
import type {
  Compatibility,
  Model,
  ModelAt,
  ModelKey,
  ModelSettings,
  ModelTexts,
  NewModelVersion,
} from '../../store/records.js';
import type { IfMatch, SchemaStore } from '../../store/store.js';
import { hasAnotherEtag, ifThere, overtaking, requireMatch, retrying } from './concurrency.js';
import { rereading } from './contents.js';
import type { ContextSupply } from './context-supply.js';
import { IncompatibleChangeError, requireName } from './errors.js';
import {
  changesBetween,
  type ComparedVersions,
  comparedVersions,
  type CompareOptions,
  exchanged,
  UNCHANGED,
} from './model-changes.js';
import type { ModelDescriptions } from './model-documents.js';
import { termsOf } from './model-search.js';
import { isSame, settingsAfter } from './model-settings.js';
import type { AcceptedSchema, SchemaIntake, ServiceWorkers, VersionInput } from './schema-intake.js';
import type { ModelService } from './service.js';
import {
  type ChangeKind,
  detailsOf,
  type ModelChange,
  type ModelDetails,
  type ModelPut,
  type ModelSchema,
  type ModelUpdate,
  type ModelWriteOptions,
  type NewModel,
  storedMetadata,
} from './shapes.js';
import { Turns } from './turns.js';

interface Parts {
  readonly store: SchemaStore;
  readonly workers: ServiceWorkers;
  readonly intake: SchemaIntake;
  readonly descriptions: ModelDescriptions;
  readonly contextSupply: ContextSupply;
  readonly clock: Pick<Clock, 'now'>;
  /** Takes note of the context that a dry run would have made; its version is undefined for a new model. */
  readonly tried?: ((key: ModelKey, context: string, version: number | undefined) => void) | undefined;
}

export type PutOptions = NonNullable<Parameters<ModelService['put']>[2]>;
type UpdateOptions = NonNullable<Parameters<ModelService['update']>[2]>;

/** Creates and updates models; see ModelService. */
export class ModelWriter {
  readonly #parts: Parts;
  readonly #turns = new Turns();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async create(
    domain: string,
    { name, ...model }: NewModel,
    options: ModelWriteOptions = {},
  ): Promise<ModelDetails> {
    const key = { domain, name: requireName(name) };
    await this.#requireAbsent(key);
    return retrying(() => this.#create(key, model, options));
  }

  async dryCreate(
    domain: string,
    { name, ...model }: NewModel,
    options: ModelWriteOptions = {},
  ): Promise<ModelPut> {
    const key = { domain, name: requireName(name) };
    await this.#requireAbsent(key);
    return retrying(() => this.#dryCreate(key, model, options));
  }

  async update(key: ModelKey, change: ModelChange, options: UpdateOptions = {}): Promise<ModelUpdate> {
    return this.#inTurn(key, async () =>
      this.#update(await this.#parts.store.models.texts(key), change, options),
    );
  }

  async put(
    key: ModelKey,
    change: ModelChange,
    { expected, ...options }: PutOptions = {},
  ): Promise<ModelPut> {
    const { store } = this.#parts;
    const ifMatch = Array.isArray(expected) ? { ifMatch: expected as IfMatch } : {};
    return this.#inTurn(key, async () => {
      const before = await ifThere('model', store.models.texts(key));
      if ((expected === 'absent') === (before !== undefined) && expected !== undefined)
        throw new PreconditionFailedError({ kind: 'model', ...key }, before?.model.etag);
      if (before !== undefined) return this.#update(before, change, { ...options, ...ifMatch });
      if (options.dryRun === true) return this.#dryCreate(key, change, options);
      const { version, ...model } = await overtaking(hasComeMeanwhile, () =>
        this.#create(key, change, options),
      );
      return { ...CREATED, dryRun: false, warnings: model.warnings, model: { version, ...model } };
    });
  }

  #inTurn<Result>({ domain, name }: ModelKey, write: () => Promise<Result>): Promise<Result> {
    return this.#turns.take(`${domain}/${name}`, () => retrying(() => rereading(write)));
  }

  async schemaOf(key: ModelKey, schema: JsonValue): Promise<ModelSchema> {
    const { accepted, settings } = await this.#acceptNew(key, { schema }, {});
    const { bundled } = accepted.description;
    const { status = 'published', deprecatedAt, sunsetAt } = settings;
    // Workers keep what they compiled by it.
    const contentHash = createHash('sha256').update(bundled).digest('hex');
    const lifecycle = { status, deprecatedAt, sunsetAt };
    return { contentHash, lifecycle, text: () => Promise.resolve(bundled) };
  }

  async #requireAbsent(key: ModelKey): Promise<void> {
    if ((await ifThere('model', this.#parts.store.models.get(key))) !== undefined)
      throw new AlreadyExistsError({ kind: 'model', ...key });
  }

  async #create(key: ModelKey, change: ModelChange, options: ModelWriteOptions): Promise<ModelDetails> {
    const { store, descriptions } = this.#parts;
    const { settings, accepted } = await this.#acceptNew(key, change, options);
    await accepted.keepReferences();
    const at = await store.models.create(key, settings, newVersion(key.name, accepted, settings));
    await descriptions.keep(at.version, accepted.description);
    return detailsOf(at, accepted.schema, settings.ownContext);
  }

  async #dryCreate(key: ModelKey, change: ModelChange, options: ModelWriteOptions): Promise<ModelPut> {
    const { accepted } = await this.#acceptNew(key, change, options);
    this.#parts.tried?.(key, accepted.context, undefined);
    return { ...CREATED, dryRun: true, warnings: accepted.warnings, model: undefined };
  }

  async #acceptNew(key: ModelKey, change: ModelChange, { baseUrl = '' }: ModelWriteOptions) {
    const { intake, clock } = this.#parts;
    requireName(key.name);
    if (change.schema === undefined) throw schemaMissing(key);
    const settings = settingsAfter(undefined, undefined, change, clock.now());
    requireStorable({ description: settings.description });
    const { schema } = change;
    return { settings, accepted: await intake.accept(key, inputOf(schema, settings, baseUrl)) };
  }

  async #update(before: ModelTexts, change: ModelChange, options: UpdateOptions): Promise<ModelUpdate> {
    const { store, workers, descriptions, clock } = this.#parts;
    const { model, ownContext } = before;
    const { dryRun = false, ifMatch, baseUrl = '', contextsBefore } = options;
    requireMatch({ kind: 'model', domain: model.domain, name: model.name }, model.etag, ifMatch);
    const settings = settingsAfter(model, ownContext, change, clock.now());
    requireStorable({ description: settings.description });
    const accepted = await this.#acceptChange(before, change, settings, baseUrl);
    const isNewVersion = accepted !== undefined && !isSameVersion(before, accepted);
    const versions = isNewVersion ? await this.#compared(before, accepted, { baseUrl }) : undefined;
    const report = versions === undefined ? UNCHANGED : await changesBetween(versions, workers);
    const isDraft = model.status === 'draft';
    if (versions !== undefined && !isDraft) {
      const asked = settings.compatibility ?? (await store.domains.get(model.domain)).compatibility;
      await this.#requireCompatible(asked, versions, report);
    }
    const reported =
      contextsBefore === undefined
        ? report
        : await changesBetween(
            await this.#compared(before, isNewVersion ? accepted : undefined, { baseUrl, contextsBefore }),
            workers,
          );
    const schema = parseJson(before.schema) as JsonObject;
    const current = detailsOf(before, schema, ownContext);
    const update = {
      outcome: isNewVersion
        ? isDraft
          ? 'replaced'
          : 'version'
        : isSame(model, ownContext, settings)
          ? 'unchanged'
          : 'settings',
      dryRun,
      number: model.currentVersion + (isNewVersion && !isDraft ? 1 : 0),
      change: reported,
      warnings: accepted?.warnings ?? current.warnings,
    } as const;
    if (dryRun) {
      if (isNewVersion) this.#parts.tried?.(model, accepted.context, update.number);
      return { ...update, model: current };
    }
    if (!isNewVersion) {
      const at = await this.#write(model, { settings });
      return { ...update, model: detailsOf(at, schema, settings.ownContext) };
    }
    await accepted.keepReferences();
    const version = newVersion(model.name, accepted, settings, isDraft ? undefined : report.overall);
    const at = await this.#write(model, { settings, version, replaces: isDraft });
    // What it is compared with next is then at hand.
    await descriptions.keep(at.version, accepted.description);
    return { ...update, model: detailsOf(at, accepted.schema, settings.ownContext) };
  }

  /** Undefined where neither the schema nor anything of the context is to change. */
  async #acceptChange(
    { model, schema }: ModelTexts,
    change: ModelChange,
    settings: ModelSettings,
    baseUrl: string,
  ): Promise<AcceptedSchema | undefined> {
    const { contextBase, context } = change;
    if ([change.schema, contextBase, context].every((given) => given === undefined)) return undefined;
    const given = change.schema === undefined ? (parseJson(schema) as JsonObject) : change.schema;
    return this.#parts.intake.accept(model, inputOf(given, settings, baseUrl));
  }

  async #compared(
    before: ModelTexts,
    accepted: AcceptedSchema | undefined,
    options: Omit<CompareOptions, 'entityType'>,
  ): Promise<ComparedVersions> {
    const { bundled } = await this.#parts.descriptions.of(before.version);
    const old = { bundled, context: before.context };
    const fresh =
      accepted === undefined ? old : { bundled: accepted.description.bundled, context: accepted.context };
    return comparedVersions(old, fresh, { entityType: before.model.name, ...options }, this.#parts);
  }

  /** @throws IncompatibleChangeError */
  async #requireCompatible(
    asked: Compatibility,
    versions: ComparedVersions,
    report: ChangeReport,
  ): Promise<void> {
    if ((asked === 'backward' || asked === 'full') && report.overall !== 'compatible')
      throw new IncompatibleChangeError(report, 'backward');
    if (asked !== 'forward' && asked !== 'full') return;
    const reverse = await changesBetween(exchanged(versions), this.#parts.workers);
    if (reverse.overall !== 'compatible') throw new IncompatibleChangeError(reverse, 'forward');
  }

  /** Writes only over the state that the update was checked against; if that has changed, it starts over. */
  async #write(
    { domain, name, etag }: Model,
    update: Parameters<SchemaStore['models']['update']>[1],
  ): Promise<ModelAt> {
    const { models } = this.#parts.store;
    return overtaking(hasAnotherEtag, () => models.update({ domain, name }, update, [etag]));
  }
}

const CREATED = { outcome: 'created', number: 1, change: UNCHANGED } as const;

/** A model of that name has come meanwhile: what was to create it is to update it. */
function hasComeMeanwhile(error: unknown): boolean {
  return error instanceof AlreadyExistsError && error.thing.kind === 'model';
}

function inputOf(
  schema: JsonValue,
  { contextBase, ownContext }: ModelSettings,
  baseUrl: string,
): VersionInput {
  const context = ownContext === undefined ? undefined : (parseJson(ownContext) as JsonValue);
  return { schema, contextBase, context, baseUrl };
}

function newVersion(
  model: string,
  accepted: AcceptedSchema,
  { description }: ModelSettings,
  change?: ChangeKind,
): NewModelVersion {
  const { text, context, ownContext, dialect, warnings, references } = accepted;
  const ownTerms = ownContext?.ownTerms ?? [];
  return {
    schema: text,
    context,
    description,
    metadata: storedMetadata({
      ...{ dialect, warnings },
      ...(change === undefined ? {} : { change }),
      ...(ownTerms.length === 0 ? {} : { ownTerms }),
    }),
    references,
    contexts: ownContext?.contexts ?? new Set(),
    contextReferences: ownContext?.references ?? new Map(),
    terms: termsOf(model, accepted.description),
  };
}

/** Whether a version made from the schema would say what the current one says. */
function isSameVersion({ version, schema, context }: ModelTexts, accepted: AcceptedSchema): boolean {
  const found = new Set([...accepted.references].map(([uri, sha256]) => documentKey(uri, sha256)));
  return (
    context === accepted.context &&
    version.references.every(({ uri, sha256 }) => found.has(documentKey(uri, sha256))) &&
    sameJson(parseJson(schema), accepted.schema)
  );
}

/** The same for a document under all spellings of its URI: under which it was found makes no new version. */
function documentKey(uri: string, sha256: string): string {
  return `${sha256} ${fileKey(uri) ?? uri}`;
}

/** A model that is not there was to be updated, and there is nothing to create it from. */
function schemaMissing({ domain, name }: ModelKey): InvalidBodyError {
  const detail = 'is missing: it is needed to create the model';
  const model = `model ${JSON.stringify(name)} in domain ${JSON.stringify(domain)}`;
  return new InvalidBodyError(`There is no ${model}. The schema ${detail}.`, '/schema', detail);
}
