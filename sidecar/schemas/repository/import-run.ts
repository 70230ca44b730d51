import { yieldToEventLoop } from '../../shared/event-loop.js';
import type { JsonValue } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { type Repository, byPath } from './collector.js';
import type {
  ImportPlan,
  PlannedContext,
  PlannedDocument,
  PlannedDomainSettings,
  PlannedModel,
} from './import-plan.js';
import { generatedContextName, type ModelKey } from '../../store/index.js';
import {
  undefinedIfNotFound,
  type ModelChange,
  type ModelOutcome,
  type NamedContext,
  type SchemaService,
  undefinedIfGone,
  type Workbench,
} from '../models/index.js';
import { ChangedContexts, nameOf } from './changed-contexts.js';
import { changeByContexts, updateDependents } from './dependents.js';
import { ContextImport, storeDocument } from './context-import.js';
import { checkExamples, keptExamples, type SlowExamples } from './examples.js';
import { type ImportStep, importSteps } from './import-order.js';
import { domainSettingsIn, modelChangeOf, settingsFault } from './settings.js';
import { changeOf, refusalOf, withChange } from './refusals.js';
import type { ImportedFile, ImportOptions, ImportReport, ImportStatus } from './shapes.js';
import { textOf } from './source.js';

export interface ImportParts {
  /** The schema service; in a dry run, a copy of it. */
  readonly schemas: SchemaService;
  readonly workbench: Pick<Workbench, 'validateAgainst'>;
}

/**
 * Earlier versions in an export are accepted whatever compatibility the model, or an existing domain, requires of new
 * ones.
 */
const NO_COMPATIBILITY = { compatibility: 'none' } as const;

/** The result for a model, and the number of context changes by then. */
interface StoredModel {
  readonly key: ModelKey;
  readonly entry: ImportedFile;
  readonly count: number;
}

/**
 * Stores what was found in a repository: domains, shared documents, contexts, and models in this order, each in a
 * separate transaction. Contexts and models come before those that name them. Existing data that is equal is left
 * unchanged, so the next import completes one that was interrupted.
 */
export class ImportRun {
  readonly #parts: ImportParts;
  readonly #options: ImportOptions;
  readonly #texts: ReadonlyMap<string, Uint8Array>;
  readonly #files: ImportedFile[] = [];
  /** URLs of documents whose stored content now equals that in the repository. */
  readonly #stored: string[] = [];
  readonly #plan: ImportPlan;
  readonly #contexts: ContextImport;
  readonly #changed: ChangedContexts;
  readonly #slowExamples: SlowExamples = { count: 0 };
  readonly #models = new Map<string, StoredModel>();
  /** Number of contexts and models that were written or were already up to date. */
  #accepted = 0;
  /** Domains that cannot be created, with the reasons. */
  readonly #refusedDomains = new Map<string, string>();

  constructor(parts: ImportParts, options: ImportOptions, { files }: Repository, plan: ImportPlan) {
    this.#parts = parts;
    this.#plan = plan;
    this.#options = options;
    this.#texts = new Map(files.map(({ path, bytes }) => [path, bytes]));
    const { contexts } = parts.schemas;
    this.#changed = new ChangedContexts(contexts);
    this.#contexts = new ContextImport({
      contexts,
      changed: this.#changed,
      versions: plan.contextVersions,
      baseUrl: options.baseUrl,
      textOf: (path) => this.#text(path),
    });
  }

  /**
   * Runs the import.
   *
   * @param refused files that were refused earlier
   * @param ignored number of files that were not read
   */
  async run(refused: readonly { path: string; reason: string }[], ignored: number): Promise<ImportReport> {
    const { schemas } = this.#parts;
    const plan = this.#plan;
    this.#files.push(
      ...[...refused, ...plan.refused].map((file) => ({ ...file, status: 'refused' as const })),
    );
    for (const name of plan.domains) await this.#domain(name, plan.domainSettings);
    for (const document of plan.documents) await this.#inTurn(() => this.#document(document));
    await this.#all(importSteps(plan, (path) => this.#text(path)));
    const dependents = await updateDependents(this.#stored, schemas, {
      ...this.#options,
      except: new Set(plan.models.map(nameOf)),
      changed: this.#changed,
    });
    for (const model of this.#models.values())
      await this.#inTurn(async () => {
        this.#files.push(await this.#withLaterChange(model));
      });
    const files = this.#files.sort(byPath);
    const count = (status: ImportStatus) => files.filter((file) => file.status === status).length;
    return {
      summary: {
        dryRun: this.#options.dryRun,
        domains: plan.domains.filter((name) => !this.#refusedDomains.has(name)),
        created: count('created'),
        updated: count('updated'),
        unchanged: count('unchanged'),
        refused: count('refused'),
        ignored: ignored + plan.ignored,
        models: [...this.#models.values()].filter(({ entry }) => entry.status !== 'refused').length,
        examples: {
          valid: files.reduce((sum, { examples }) => sum + (examples?.valid ?? 0), 0),
          invalid: files.reduce((sum, { examples }) => sum + invalidFiles(examples), 0),
          unchecked: files.reduce((sum, { examples }) => sum + (examples?.unchecked?.length ?? 0), 0),
          kept: files.reduce((sum, { examples }) => sum + (examples?.kept ?? 0), 0),
          leftOut: files.reduce((sum, { examples }) => sum + (examples?.leftOut?.length ?? 0), 0),
        },
      },
      files,
      dependents,
    };
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    this.#options.signal?.throwIfAborted();
    await yieldToEventLoop();
    await work();
  }

  async #domain(name: string, all: readonly PlannedDomainSettings[]): Promise<void> {
    const { store, domains } = this.#parts.schemas;
    const isThere = async () => (await undefinedIfNotFound('domain', store.domains.get(name))) !== undefined;
    if (await isThere()) return;
    const path = all.find(({ domain }) => domain === name)?.path;
    const read = path === undefined ? { settings: {} } : domainSettingsIn(this.#text(path));
    try {
      if ('fault' in read) this.#refusedDomains.set(name, read.fault);
      else await domains.create({ name, ...read.settings });
    } catch (error) {
      // Another client created the domain first, or a context has the name.
      if (await isThere()) return;
      this.#refusedDomains.set(name, refusalOf(error, undefined, '').reason);
    }
    const reason = this.#refusedDomains.get(name);
    if (path !== undefined && reason !== undefined) this.#files.push({ path, status: 'refused', reason });
  }

  async #document(document: PlannedDocument): Promise<void> {
    const { path, url } = document;
    const text = this.#text(path);
    const entry = await this.#entryOf({ path, url }, text, '', () =>
      storeDocument(document, text, this.#parts.schemas.references),
    );
    if (entry.status !== 'refused') this.#stored.push(url);
    this.#files.push(entry);
  }

  /** Increases with each accepted context and model, and with each version of a context. */
  get #progress(): number {
    return this.#accepted + this.#contexts.writes;
  }

  /**
   * Stores contexts and models. No single order suits all versions of contexts that name each other. Therefore a
   * refused context is tried again as long as others are accepted, and the models that need it wait.
   */
  async #all(steps: readonly ImportStep[]): Promise<void> {
    let left = steps;
    for (;;) {
      const progress = this.#progress;
      const waiting = new Map<ImportStep, ImportedFile | undefined>();
      for (const step of left)
        await this.#inTurn(async () => {
          if (step.kind === 'context') {
            const entry = await this.#context(step.context, step.pins);
            if (entry.status === 'refused') waiting.set(step, entry);
            else this.#files.push(entry);
          } else if (step.needs.some((one) => waiting.has(one))) waiting.set(step, undefined);
          else await this.#model(step.model, step.pins);
        });
      if (waiting.size > 0 && this.#progress !== progress) {
        left = [...waiting.keys()];
        continue;
      }
      for (const [step, entry] of waiting)
        if (entry !== undefined) this.#files.push(entry);
        else if (step.kind === 'model') {
          const refused = step.needs.find((one) => waiting.get(one) !== undefined);
          const path = refused?.kind === 'context' ? refused.context.path : undefined;
          await this.#inTurn(() => this.#model(step.model, step.pins, path));
        }
      return;
    }
  }

  async #context(context: PlannedContext, pins: readonly NamedContext[]): Promise<ImportedFile> {
    const { path, name } = context;
    const entry = await this.#entryOf({ path, context: name }, this.#text(path), '', () =>
      this.#contexts.store(context, pins),
    );
    if (entry.status !== 'refused') this.#accepted += 1;
    return entry;
  }

  /**
   * Stores a model with its examples.
   *
   * @param refusedContext path of a context that the model names and that was refused
   */
  async #model(model: PlannedModel, pins: readonly NamedContext[], refusedContext?: string): Promise<void> {
    const { path, domain, name } = model;
    const { schemas, workbench } = this.#parts;
    const { dryRun, baseUrl, caller, signal } = this.#options;
    const text = this.#text(path);
    const key = { domain, name };
    const contextsBefore = this.#changed.before(key);
    const entry = await this.#entryOf({ path, model: nameOf(key) }, text, '/schema', async () => {
      const noDomain = this.#refusedDomains.get(domain);
      if (noDomain !== undefined)
        return { status: 'refused', reason: `Its domain ${domain} cannot be created. ${noDomain}` };
      const context = this.#contexts.nameOf(model.context);
      const missing = refusedContext ?? (context === undefined ? model.context : undefined);
      if (missing !== undefined)
        return {
          status: 'refused',
          reason: `Its context ${missing} is refused, and without that context its terms would mean something else.`,
        };
      const settings = model.settings === undefined ? undefined : this.#text(model.settings);
      const fault = settings === undefined ? undefined : settingsFault(settings);
      if (fault !== undefined) return { status: 'refused', reason: fault };
      const other = await this.#contexts.otherPin(pins);
      if (other !== undefined) return { status: 'refused', reason: other };
      const before = await undefinedIfGone(schemas.store.models.get(key));
      const change = modelChangeOf({ schema: text, id: model.id, settings, context }, before !== undefined);
      const files = model.examples.map((example) => ({ ...example, text: this.#text(example.path) }));
      const { kept, leftOut } = keptExamples(files);
      const hasHistory = before === undefined && (await this.#earlierVersions(model, change));
      const given = { ...change, examples: kept, ...(hasHistory ? NO_COMPATIBILITY : {}) };
      const put = await this.#changed.during(generatedContextName(key), () =>
        schemas.models.put(key, given, { dryRun, baseUrl, caller, contextsBefore }),
      );
      if (hasHistory && !dryRun)
        await schemas.models.put(key, { compatibility: change.compatibility ?? null }, { baseUrl });
      const schema = await (dryRun
        ? schemas.schemas.ofNew(key, change.schema ?? null)
        : schemas.schemas.of(key, undefined));
      const checked = await checkExamples(
        files,
        { schema, key },
        { workbench, signal, slow: this.#slowExamples },
      );
      const examples = { ...checked, kept: kept?.size ?? 0, ...(leftOut.length === 0 ? {} : { leftOut }) };
      return {
        // An exported model with a history is created by its first version.
        status: before === undefined ? 'created' : statusOf(put.outcome),
        ...(before === undefined || put.change.differences.length === 0 ? {} : changeOf(put.change)),
        ...(files.length === 0 ? {} : { examples }),
      };
    });
    this.#accepted += 1;
    const count = this.#changed.count;
    // A refused model keeps its version but still follows its contexts.
    const refused = () => changeByContexts(key, { before: contextsBefore, baseUrl }, schemas.comparison);
    const whole = entry.status === 'refused' ? withChange(entry, await refused()) : entry;
    this.#models.set(nameOf(key), { key, entry: whole, count });
  }

  /** Returns the result for a model, with the effect of contexts that changed later. */
  async #withLaterChange({ key, entry, count }: StoredModel): Promise<ImportedFile> {
    const before = this.#changed.before(key, count);
    const { baseUrl } = this.#options;
    return withChange(
      entry,
      await changeByContexts(key, { before, baseUrl }, this.#parts.schemas.comparison),
    );
  }

  /**
   * Stores the history of an exported model, before its current schema. Versions that can no longer be stored are
   * reported.
   *
   * @returns whether there is a history
   */
  async #earlierVersions({ versions, domain, name }: PlannedModel, change: ModelChange): Promise<boolean> {
    const { models } = this.#parts.schemas;
    for (const path of versions) {
      const text = this.#text(path);
      try {
        const { description, contextBase, context } = change;
        const schema = parseJson(text) as JsonValue;
        const earlier = { description, contextBase, context, schema, ...NO_COMPATIBILITY };
        const { dryRun, baseUrl, caller } = this.#options;
        await models.put({ domain, name }, earlier, { dryRun, baseUrl, caller });
      } catch (error) {
        this.#files.push({ path, ...refusalOf(error, text, '/schema') });
      }
    }
    return versions.length > 0;
  }

  /** Returns the result for a file, or why it is refused. */
  async #entryOf(
    named: Pick<ImportedFile, 'path' | 'url' | 'model' | 'context'>,
    text: string,
    base: string,
    store: () => Promise<ImportStatus | Omit<ImportedFile, 'path' | 'url' | 'model' | 'context'>>,
  ): Promise<ImportedFile> {
    try {
      const stored = await store();
      return { ...named, ...(typeof stored === 'string' ? { status: stored } : stored) };
    } catch (error) {
      this.#options.signal?.throwIfAborted();
      return { ...named, ...refusalOf(error, text, base) };
    }
  }

  #text(path: string): string {
    const bytes = this.#texts.get(path);
    if (bytes === undefined) throw new Error(`${path} was planned, but not read.`);
    return textOf(bytes);
  }
}

function statusOf(outcome: ModelOutcome): 'created' | 'updated' | 'unchanged' {
  return outcome === 'created' || outcome === 'unchanged' ? outcome : 'updated';
}

function invalidFiles(examples: ImportedFile['examples']): number {
  return new Set(examples?.invalid.map(({ path }) => path)).size;
}
