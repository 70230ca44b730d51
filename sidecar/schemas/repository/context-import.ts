import { type JsonValue, jsonEquals } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { PreconditionFailedError } from '../../store/index.js';
import { undefinedIfNotFound, type NamedContext, type SchemaService } from '../models/index.js';
import type { ChangedContexts } from './changed-contexts.js';
import type { ImportPlan, PlannedContext, PlannedDocument } from './import-plan.js';
import { contextIn } from './context-names.js';
import { refusalOf } from './refusals.js';
import type { ImportedFile } from './shapes.js';

/**
 * Stores a shared document under a URL. If the import may not replace an existing document, that document stays,
 * because the URL may belong to a file of another repository.
 *
 * @throws the error with which the service refuses the document
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
    const here = await undefinedIfNotFound('reference', references.get(uri));
    return here === undefined ? undefined : jsonEquals(parseJson(here.bytes.toString()), document);
  };
  const isSameHere = await isSame(url);
  if (isSameHere === undefined) {
    // If the document is stored under another URL of the same file, it counts as the document of this URL.
    for (const other of await references.spellings(url))
      if ((await isSame(other)) === false)
        return { status: 'refused', reason: reasonFor(`${other}, another URL of this file`) };
    try {
      await references.put(url, document, 'absent');
      return { status: 'created' };
    } catch (error) {
      // Another client stored a document first.
      if (!(error instanceof PreconditionFailedError)) throw error;
      return { status: 'refused', reason: reasonFor('this URL') };
    }
  }
  return isSameHere ? { status: 'unchanged' } : { status: 'refused', reason: reasonFor('this URL') };
}

/** @param place the URL under which another document is stored */
function reasonFor(place: string): string {
  return (
    `Another document is stored under ${place}, and only the file itself says ` +
    'that the URL is its own. To replace that document, store this one with ' +
    'PUT /api/v2/references?uri=…&dependents=true, first with dryRun=true.'
  );
}

interface ContextImportParts {
  readonly contexts: SchemaService['contexts'];
  readonly changed: ChangedContexts;
  /** The versions in an export. */
  readonly versions: ImportPlan['contextVersions'];
  readonly baseUrl: string;
  /** Returns the text of a file. */
  readonly textOf: (path: string) => string;
}

/** Stores the contexts of an import, each with the versions that others refer to. */
export class ContextImport {
  /** Names of the accepted contexts, by file. */
  readonly #names = new Map<string, string>();
  /** Names of the contexts that did not exist before the import. */
  readonly #new = new Set<string>();
  #writes = 0;

  constructor(private readonly parts: ContextImportParts) {}

  /** Number of versions written so far. */
  get writes(): number {
    return this.#writes;
  }

  /** Returns the name of the context created from a file; undefined if it was refused. */
  nameOf(path: string | undefined): string | undefined {
    return path === undefined ? undefined : this.#names.get(path);
  }

  /**
   * Stores a context, after the earlier versions of it in an export.
   *
   * @param pins the contexts that it names by version
   * @throws the error with which the service refuses the context
   */
  async store(
    { path, name, base }: PlannedContext,
    pins: readonly NamedContext[],
  ): Promise<Pick<ImportedFile, 'status' | 'reason'>> {
    if (!(await this.#isThere(name))) this.#new.add(name);
    const value = contextIn(this.parts.textOf(path), base);
    const fault = (await this.otherPin(pins)) ?? (await this.#storeEarlier(name, value));
    if (fault !== undefined) return { status: 'refused', reason: fault };
    const isNewVersion = (await this.#put(name, value)) !== undefined;
    this.#names.set(path, name);
    return { status: this.#new.has(name) ? 'created' : isNewVersion ? 'updated' : 'unchanged' };
  }

  /** Returns a sentence if one of the pinned versions of generated contexts is different here; undefined otherwise. */
  async otherPin(pins: readonly NamedContext[]): Promise<string | undefined> {
    const { contexts, versions, textOf } = this.parts;
    for (const { name, version } of pins) {
      const file = versions.get(name)?.find(({ number }) => number === version);
      if (file === undefined || !name.includes('~')) continue;
      const here = await undefinedIfNotFound('context', contexts.document(name, version));
      if (here !== undefined && !jsonEquals(contextIn(here.bytes.toString()), contextIn(textOf(file.path))))
        return (
          `It names version ${version} of the context ${name}, which ` +
          'is different here, so its terms would mean something else.'
        );
    }
    return undefined;
  }

  /**
   * Stores the earlier versions of a context in an export, under the numbers by which others refer to them.
   *
   * @param current the context itself, which gets the next number
   * @returns why the context is refused, as a sentence
   */
  async #storeEarlier(name: string, current: JsonValue): Promise<string | undefined> {
    const { contexts, versions, textOf } = this.parts;
    const files = versions.get(name) ?? [];
    if (files.length === 0) return undefined;
    const earlier = files.map(({ path, number }) => ({ path, number, value: contextIn(textOf(path)) }));
    for (const [index, { number, path, value }] of [
      ...earlier,
      { number: files.length + 1, path: undefined, value: current },
    ].entries()) {
      if (number !== index + 1)
        return `Its version ${index + 1} is missing, so that others would get different numbers.`;
      const here = await undefinedIfNotFound('context', contexts.document(name, number));
      if (here !== undefined) {
        if (jsonEquals(contextIn(here.bytes.toString()), value)) continue;
        return `Its version ${number} is different here, and contexts refer to it by its number.`;
      }
      // The current version is written like any other context.
      if (path === undefined) return undefined;
      try {
        if ((await this.#put(name, value)) !== number)
          return `Its version ${number} is the same as the one before it, so that others would get different numbers.`;
      } catch (error) {
        return `Its version ${number} (${path}) is refused. ${refusalOf(error, undefined, '').reason}`;
      }
    }
    return undefined;
  }

  /** Creates or updates a context. @returns the number of the new version; undefined if nothing has changed */
  async #put(name: string, value: JsonValue): Promise<number | undefined> {
    const { contexts, changed, baseUrl } = this.parts;
    const isUpdate = await this.#isThere(name);
    const { isNewVersion, context } = await changed.during(name, () =>
      isUpdate ? contexts.update(name, value, { baseUrl }) : contexts.create(name, value, { baseUrl }),
    );
    if (!isNewVersion) return undefined;
    this.#writes += 1;
    return context.currentVersion;
  }

  async #isThere(name: string): Promise<boolean> {
    return (await undefinedIfNotFound('context', this.parts.contexts.document(name))) !== undefined;
  }
}
