import { nextTurn } from '../../shared/next-turn.js';
import type { JsonValue } from '../../shared/json/json.js';
import type { Repository } from '../repository/collector.js';
import { byPath } from '../repository/collector.js';
import type { ImportPlan, PlannedContext, PlannedDocument, PlannedModel } from '../repository/discover.js';
import { NotFoundError } from '../store/errors.js';
import { resultOf } from '../service/shapes.js';
import type { ModelChange, SchemaService } from '../service/service.js';
import type { Workbench } from '../workbench/workbench.js';
import { changeByContexts, nameOf, updateDependents } from './dependents.js';
import { checkExamples } from './examples.js';
import { contextIn, modelChangeOf } from './model-change.js';
import { settingsFault } from './settings.js';
import { changeOf, refusalOf, withChange } from './refusals.js';
import type { ImportedFile, ImportOptions, ImportReport, ImportStatus } from './shapes.js';
import { textOf } from './source.js';

export interface ImportParts {
  /** A trial of the service, in a dry run. */
  readonly schemas: SchemaService;
  readonly workbench: Pick<Workbench, 'validateAgainst'>;
}

/** A version of an export is accepted whatever compatibility the model, or an existing domain, asks of new ones. */
const UNASKED = { compatibility: 'none' } as const;

/**
 * Stores what was found in a repository: domains, shared documents, contexts, and models in this order, each in a transaction of
 * its own. Whatever is stored already is left as it is; so a run that was ended in the middle is completed by the next one.
 */
export class ImportRun {
  readonly #parts: ImportParts;
  readonly #options: ImportOptions;
  readonly #texts: ReadonlyMap<string, Uint8Array>;
  readonly #files: ImportedFile[] = [];
  /** URLs of documents that are stored as they are here. */
  readonly #stored: string[] = [];
  /** Names of the contexts that were accepted, by their files. */
  readonly #contexts = new Map<string, string>();
  /** Versions of the contexts that were updated, by name, from before that. */
  readonly #contextsBefore = new Map<string, number>();
  /** Domains that cannot be made, and why. */
  readonly #refusedDomains = new Map<string, string>();

  constructor(parts: ImportParts, options: ImportOptions, { files }: Repository) {
    this.#parts = parts;
    this.#options = options;
    this.#texts = new Map(files.map(({ path, bytes }) => [path, bytes]));
  }

  /** @param ignored files that were not looked into */
  async run(
    plan: ImportPlan,
    refused: readonly { path: string; reason: string }[],
    ignored: number,
  ): Promise<ImportReport> {
    const { schemas } = this.#parts;
    this.#files.push(
      ...[...refused, ...plan.refused].map((file) => ({ ...file, status: 'refused' as const })),
    );
    for (const name of plan.domains) await this.#domain(name);
    for (const document of plan.documents) await this.#inTurn(() => this.#document(document));
    await this.#allContexts(plan.contexts);
    for (const model of plan.models) await this.#inTurn(() => this.#model(model));
    const dependents = await updateDependents(this.#stored, schemas, {
      ...this.#options,
      except: new Set(plan.models.map(nameOf)),
      contextsBefore: this.#updatedContexts(),
    });
    const files = this.#files.sort(byPath);
    const count = (status: ImportStatus) => files.filter((file) => file.status === status).length;
    return {
      summary: {
        dryRun: this.#options.dryRun,
        domains: plan.domains,
        created: count('created'),
        updated: count('updated'),
        unchanged: count('unchanged'),
        refused: count('refused'),
        ignored: ignored + plan.ignored,
        models: plan.models.length,
        examples: {
          valid: files.reduce((sum, { examples }) => sum + (examples?.valid ?? 0), 0),
          invalid: files.reduce((sum, { examples }) => sum + invalidFiles(examples), 0),
        },
      },
      files,
      dependents,
    };
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    this.#options.signal?.throwIfAborted();
    await nextTurn();
    await work();
  }

  async #domain(name: string): Promise<void> {
    const { domains } = this.#parts.schemas;
    if (await isThere(domains.get(name))) return;
    try {
      await domains.create({ name });
    } catch (error) {
      // Another client was first; or a context has the name.
      if (await isThere(domains.get(name))) return;
      this.#refusedDomains.set(name, refusalOf(error, undefined, '').reason);
    }
  }

  async #document({ path, url }: PlannedDocument): Promise<void> {
    const { references } = this.#parts.schemas;
    const text = this.#text(path);
    const entry = await this.#entryOf({ path, url }, text, '', async () => {
      const { outcome } = await references.put(url, JSON.parse(text) as JsonValue);
      this.#stored.push(url);
      return outcome === 'replaced' ? 'updated' : outcome;
    });
    this.#files.push(entry);
  }

  /** A context may name another one that comes later, so what is refused is tried again as long as others are accepted. */
  async #allContexts(contexts: readonly PlannedContext[]): Promise<void> {
    let left = contexts;
    for (;;) {
      const refused: { readonly context: PlannedContext; readonly entry: ImportedFile }[] = [];
      for (const context of left)
        await this.#inTurn(async () => {
          const entry = await this.#context(context);
          if (entry.status === 'refused') refused.push({ context, entry });
          else this.#files.push(entry);
        });
      if (refused.length === 0 || refused.length === left.length) {
        this.#files.push(...refused.map(({ entry }) => entry));
        return;
      }
      left = refused.map(({ context }) => context);
    }
  }

  async #context({ path, name, base }: PlannedContext): Promise<ImportedFile> {
    const { contexts } = this.#parts.schemas;
    const { baseUrl } = this.#options;
    const text = this.#text(path);
    return this.#entryOf({ path, context: name }, text, '', async () => {
      const context = contextIn(text, base);
      const options = { baseUrl, pointer: '/@context' };
      const isUpdate = await isThere(contexts.document(name));
      const { isNewVersion, context: stored } = await (isUpdate
        ? contexts.update(name, context, options)
        : contexts.create(name, context, options));
      this.#contexts.set(path, name);
      if (isUpdate && isNewVersion) this.#contextsBefore.set(name, stored.currentVersion - 1);
      return isUpdate ? (isNewVersion ? 'updated' : 'unchanged') : 'created';
    });
  }

  async #model(model: PlannedModel): Promise<void> {
    const { path, domain, name } = model;
    const { schemas, workbench } = this.#parts;
    const { dryRun, baseUrl, signal } = this.#options;
    const text = this.#text(path);
    const key = { domain, name };
    const contextsBefore = this.#updatedContexts();
    const entry = await this.#entryOf({ path, model: nameOf(key) }, text, '/schema', async () => {
      const noDomain = this.#refusedDomains.get(domain);
      if (noDomain !== undefined)
        return { status: 'refused', reason: `Its domain ${domain} cannot be created. ${noDomain}` };
      const context = model.context === undefined ? undefined : this.#contexts.get(model.context);
      if (model.context !== undefined && context === undefined)
        return {
          status: 'refused',
          reason: `Its context ${model.context} is refused, and without it its terms would have other IRIs.`,
        };
      const fault = model.settings === undefined ? undefined : settingsFault(this.#text(model.settings));
      if (fault !== undefined) return { status: 'refused', reason: fault };
      const before = await schemas.models.get(key).catch(absent);
      const change = this.#changeOf(model, text, context, before !== undefined);
      const hasHistory = before === undefined && !dryRun && (await this.#earlierVersions(model, change));
      const given = hasHistory ? { ...change, ...UNASKED } : change;
      const put = await schemas.models.put(key, given, { dryRun, baseUrl, contextsBefore });
      if (hasHistory)
        await schemas.models.put(key, { compatibility: change.compatibility ?? null }, { baseUrl });
      const schema = await (dryRun
        ? schemas.models.schemaOf(key, change.schema ?? null)
        : schemas.models.schema(key, undefined));
      const files = model.examples.map((example) => ({ path: example, text: this.#text(example) }));
      const examples = await checkExamples(files, { schema, key }, { workbench, signal });
      return {
        // An exported model with a history is created by the first of its versions.
        status: before === undefined ? 'created' : resultOf(put),
        ...(before === undefined || put.change.differences.length === 0 ? {} : changeOf(put.change)),
        ...(files.length === 0 ? {} : { examples }),
      };
    });
    // What is refused keeps its version, and follows its contexts nevertheless.
    this.#files.push(
      entry.status === 'refused'
        ? withChange(entry, await changeByContexts(key, { contextsBefore, baseUrl }, schemas.models))
        : entry,
    );
  }

  #updatedContexts(): ReadonlyMap<string, number> | undefined {
    return this.#contextsBefore.size === 0 ? undefined : this.#contextsBefore;
  }

  #changeOf(
    model: PlannedModel,
    text: string,
    context: string | undefined,
    isThereAlready: boolean,
  ): ModelChange {
    const settings = model.settings === undefined ? undefined : this.#text(model.settings);
    return modelChangeOf({ schema: text, id: model.id, settings, context }, isThereAlready);
  }

  /**
   * The history of an exported model, before its current schema. What cannot be stored any more is reported.
   *
   * @returns whether there is one
   */
  async #earlierVersions({ versions, domain, name }: PlannedModel, change: ModelChange): Promise<boolean> {
    const { models } = this.#parts.schemas;
    for (const path of versions) {
      const text = this.#text(path);
      try {
        const { description, contextBase, context } = change;
        const schema = JSON.parse(text) as JsonValue;
        const earlier = { description, contextBase, context, schema, ...UNASKED };
        await models.put({ domain, name }, earlier, { baseUrl: this.#options.baseUrl });
      } catch (error) {
        this.#files.push({ path, ...refusalOf(error, text, '/schema') });
      }
    }
    return versions.length > 0;
  }

  /** What became of a file, or why it is refused. */
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

function invalidFiles(examples: ImportedFile['examples']): number {
  return new Set(examples?.invalid.map(({ path }) => path)).size;
}

/** For a read of what may not be there. */
function absent(error: unknown): undefined {
  if (!(error instanceof NotFoundError)) throw error;
}

async function isThere(reading: Promise<unknown>): Promise<boolean> {
  return (await reading.then(() => true, absent)) === true;
}
