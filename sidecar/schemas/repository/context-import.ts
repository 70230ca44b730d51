import { type JsonValue, sameJson } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { PreconditionFailedError } from '../../store/index.js';
import { ifThere, type NamedContext, type SchemaService } from '../models/index.js';
import type { ChangedContexts } from './changed-contexts.js';
import type { ImportPlan, PlannedContext, PlannedDocument } from './import-plan.js';
import { contextIn } from './context-names.js';
import { refusalOf } from './refusals.js';
import type { ImportedFile } from './shapes.js';

/**
 * Stores a shared document under a URL. One that the import may not replace is left as it is, since the URL may be that of a file
 * of another repository.
 *
 * @throws what the service throws of a document that it refuses
 */
export async function storeDocument(
  { url, mayReplace }: PlannedDocument,
  text: string,
  references: Pick<SchemaService['references'], 'get' | 'put' | 'spellings'>,
): Promise<Pick<ImportedFile, 'status' | 'reason'>> {
  const document = parseJson(text) as JsonValue;
  if (mayReplace) {
    const { outcome } = await references.put(url, document);
    return { status: outcome === 'replaced' ? 'updated' : outcome };
  }
  const isSame = async (uri: string) => {
    const here = await ifThere('reference', references.get(uri));
    return here === undefined ? undefined : sameJson(parseJson(here.bytes.toString()), document);
  };
  const isSameHere = await isSame(url);
  if (isSameHere === undefined) {
    // Under another URL of the same file, it is that document that counts here.
    for (const other of await references.spellings(url))
      if ((await isSame(other)) === false)
        return { status: 'refused', reason: reasonFor(`${other}, another URL of this file`) };
    try {
      await references.put(url, document, 'absent');
      return { status: 'created' };
    } catch (error) {
      // Another client was first.
      if (!(error instanceof PreconditionFailedError)) throw error;
      return { status: 'refused', reason: reasonFor('this URL') };
    }
  }
  return isSameHere ? { status: 'unchanged' } : { status: 'refused', reason: reasonFor('this URL') };
}

/** @param place where another document is stored */
function reasonFor(place: string): string {
  return (
    `Another document is stored under ${place}, and nothing but the file itself ` +
    'says that the URL is its own. To replace that document, store this one by ' +
    'PUT /api/v2/references?uri=…&dependents=true, with dryRun=true first.'
  );
}

interface ContextImportParts {
  readonly contexts: SchemaService['contexts'];
  readonly changed: ChangedContexts;
  /** Of an export. */
  readonly versions: ImportPlan['contextVersions'];
  readonly baseUrl: string;
  /** The text of a file. */
  readonly textOf: (path: string) => string;
}

/** Stores the contexts of an import, each with the versions that others name. */
export class ContextImport {
  readonly #parts: ContextImportParts;
  /** Names of those that were accepted, by their files. */
  readonly #names = new Map<string, string>();
  /** Names of those that did not exist before the import. */
  readonly #new = new Set<string>();
  #writes = 0;

  constructor(parts: ContextImportParts) {
    this.#parts = parts;
  }

  /** How many versions were written so far. */
  get writes(): number {
    return this.#writes;
  }

  /** The name of the context made from a file; undefined if it was refused. */
  nameOf(path: string | undefined): string | undefined {
    return path === undefined ? undefined : this.#names.get(path);
  }

  /**
   * Stores a context, after the earlier versions that an export has of it.
   *
   * @param pins the contexts that it names by a version
   * @throws what the service throws of a context that it refuses
   */
  async store(
    { path, name, base }: PlannedContext,
    pins: readonly NamedContext[],
  ): Promise<Pick<ImportedFile, 'status' | 'reason'>> {
    if (!(await this.#isThere(name))) this.#new.add(name);
    const value = contextIn(this.#parts.textOf(path), base);
    const fault = (await this.otherPin(pins)) ?? (await this.#storeEarlier(name, value));
    if (fault !== undefined) return { status: 'refused', reason: fault };
    const isNewVersion = (await this.#put(name, value)) !== undefined;
    this.#names.set(path, name);
    return { status: this.#new.has(name) ? 'created' : isNewVersion ? 'updated' : 'unchanged' };
  }

  /** A sentence if one of the pinned versions of generated contexts differs here; undefined otherwise. */
  async otherPin(pins: readonly NamedContext[]): Promise<string | undefined> {
    const { contexts, versions, textOf } = this.#parts;
    for (const { name, version } of pins) {
      const file = versions.get(name)?.find(({ number }) => number === version);
      if (file === undefined || !name.includes('~')) continue;
      const here = await ifThere('context', contexts.document(name, version));
      if (here !== undefined && !sameJson(contextIn(here.bytes.toString()), contextIn(textOf(file.path))))
        return (
          `It names version ${version} of the context ${name}, which ` +
          'is different here, so its terms would mean something else.'
        );
    }
    return undefined;
  }

  /**
   * Stores the earlier versions that an export has of a context, under the numbers by which others name them.
   *
   * @param current the context itself, whose number follows
   * @returns why the context is refused, as a sentence
   */
  async #storeEarlier(name: string, current: JsonValue): Promise<string | undefined> {
    const { contexts, versions, textOf } = this.#parts;
    const files = versions.get(name) ?? [];
    if (files.length === 0) return undefined;
    const earlier = files.map(({ path, number }) => ({ path, number, value: contextIn(textOf(path)) }));
    for (const [index, { number, path, value }] of [
      ...earlier,
      { number: files.length + 1, path: undefined, value: current },
    ].entries()) {
      if (number !== index + 1)
        return `Its version ${index + 1} is missing, so that others would have other numbers.`;
      const here = await ifThere('context', contexts.document(name, number));
      if (here !== undefined) {
        if (sameJson(contextIn(here.bytes.toString()), value)) continue;
        return `Its version ${number} is different here, and contexts name it by its number.`;
      }
      // The current version is written like any other context.
      if (path === undefined) return undefined;
      try {
        if ((await this.#put(name, value)) !== number)
          return `Its version ${number} is that before it, so that others would have other numbers.`;
      } catch (error) {
        return `Its version ${number} (${path}) is refused. ${refusalOf(error, undefined, '').reason}`;
      }
    }
    return undefined;
  }

  /** @returns the number of the new version; undefined where nothing has changed */
  async #put(name: string, value: JsonValue): Promise<number | undefined> {
    const { contexts, changed, baseUrl } = this.#parts;
    const isUpdate = await this.#isThere(name);
    const { isNewVersion, context } = await changed.during(name, () =>
      isUpdate ? contexts.update(name, value, { baseUrl }) : contexts.create(name, value, { baseUrl }),
    );
    if (!isNewVersion) return undefined;
    this.#writes += 1;
    return context.currentVersion;
  }

  async #isThere(name: string): Promise<boolean> {
    return (await ifThere('context', this.#parts.contexts.document(name))) !== undefined;
  }
}
