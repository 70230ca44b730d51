import type { Readable } from 'node:stream';
import type { Clock } from '../../shared/clock.js';
import { isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { isResourceName } from '../../shared/resource-name.js';
import { retryWhileBusy } from '../../shared/workers/errors.js';
import type { Domain, ModelKey, ModelTexts, ModelVersion } from '../../store/index.js';
import {
  allItems,
  undefinedIfNotFound,
  type NamedContext,
  namedContext,
  referenceFileName,
  type SchemaService,
  type ServedDocument,
} from '../models/index.js';
import { contextNamesIn } from './context-names.js';
import { packTarGz, type PackedFile } from './pack.js';
import { storableUri } from './urls.js';
import { domainSettingsOf, settingsOf } from './settings.js';

/**
 * Exports one domain or everything: `domains/{domain}/{model}/` with `schema.json`, `meta.json`, `context.jsonld`,
 * earlier schemas in `versions/` and `examples/`; `settings/{domain}.json`; `references/` with `urls.json`, which maps
 * each URL to its file; and custom `contexts/`, with the earlier versions of those to which something refers by
 * version. A schema is exported self-contained if one of the documents it was created with has changed. For one domain,
 * the export includes the documents that its models and their earlier versions were created with, and the custom
 * contexts that they name, directly or indirectly.
 *
 * @throws NotFoundError if the domain does not exist
 */
export async function exportAll(
  { schemas, clock }: { readonly schemas: SchemaService; readonly clock: Clock },
  domain: string | undefined,
  baseUrl: string,
): Promise<Readable> {
  const only = domain === undefined ? undefined : [await schemas.store.domains.get(domain)];
  const left = new AbortController();
  // Once the answer has begun, it can no longer report that the workers are busy.
  const whenFree: WhenFree = (task) => retryWhileBusy(task, clock, left.signal);
  const archive = packTarGz(filesOf(schemas, only, baseUrl, whenFree));
  archive.once('close', () => left.abort());
  return archive;
}

/**
 * Runs a task when workers are free.
 *
 * @throws what the task throws; another error if the reader of the export has disconnected
 */
type WhenFree = <Result>(task: () => Promise<Result>) => Promise<Result>;

async function* filesOf(
  schemas: SchemaService,
  only: readonly Domain[] | undefined,
  baseUrl: string,
  whenFree: WhenFree,
): AsyncGenerator<PackedFile> {
  const { references, contexts, documents } = schemas;
  const { domains, models } = schemas.store;
  const hashes = new Map<string, string>();
  for await (const { uri, content } of allItems((page) => schemas.store.references.list(page)))
    hashes.set(uri, content.sha256);
  const named = new Set<string>();
  const contextNames = new Set<string>();
  // Documents are exported in their current state; schemas that were created with another state are bundled with it.
  const schemaOf = async (key: ModelKey, { number: version, references: used }: ModelVersion) => {
    const isSame = used.every(({ uri, sha256 }) => hashes.get(uri) === sha256);
    if (!isSame) return whenFree(() => documents.of(key, 'bundled', { baseUrl, version }));
    for (const { uri } of used) named.add(uri);
    return documents.of(key, 'schema', { baseUrl, version });
  };
  for await (const domain of only ?? allItems((page) => domains.list(page))) {
    let hasModels = false;
    for await (const { name } of allItems((page) => models.list(domain.name, page))) {
      hasModels = true;
      const model = await models.texts({ domain: domain.name, name });
      for (const { uri } of model.version.references) named.add(uri);
      const { ownContext } = model;
      const own = ownContext === undefined ? undefined : (parseJson(ownContext) as JsonValue);
      for (const context of contextNamesIn(own)) contextNames.add(context);
      yield* filesOfModel(schemas, model, schemaOf, baseUrl);
    }
    const settings = domainSettingsOf(domain, hasModels);
    if (settings !== undefined) yield { path: `settings/${domain.name}.json`, content: json(settings) };
  }
  if (only === undefined) {
    for (const uri of hashes.keys()) contextNames.add(uri);
    for await (const { name, kind } of allItems((page) => contexts.list(page)))
      if (kind === 'custom') contextNames.add(name);
  }
  const reached = await reachedFrom(contextNames, schemas);
  const urls: Record<string, string> = {};
  for (const uri of hashes.keys()) {
    if (only !== undefined && !named.has(uri) && !reached.references.has(uri)) continue;
    const { bytes } = await references.get(uri);
    const file = referenceFileName(uri);
    urls[uri] = file;
    yield { path: `references/${file}`, content: bytes };
  }
  if (Object.keys(urls).length > 0) yield { path: 'references/urls.json', content: json(urls) };
  for await (const { name, kind } of allItems((page) => contexts.list(page))) {
    if (kind === 'custom' && (only === undefined || reached.contexts.has(name))) {
      const { bytes } = await contexts.document(name);
      yield { path: `contexts/${name}.jsonld`, content: bytes };
    }
    for (const number of numbersIn(reached.versions.get(name))) {
      const { bytes } = await contexts.document(name, number);
      yield { path: `contexts/${name}.versions/${number}.jsonld`, content: bytes };
    }
  }
}

/** What some names of contexts lead to, directly or through others. */
interface Reached {
  /** Names of custom contexts. */
  readonly contexts: Set<string>;
  /** URIs of shared documents. */
  readonly references: Set<string>;
  /**
   * The versions of a context to export in addition to the current one, by name. For a custom context, all earlier
   * versions if any version is named, so that they get the same numbers again; for a generated context, the named
   * versions, to check whether an import generates the same.
   */
  readonly versions: Map<string, Set<number>>;
}

async function reachedFrom(names: Iterable<string>, schemas: SchemaService): Promise<Reached> {
  const { references } = schemas;
  const reached: Reached = { contexts: new Set(), references: new Set(), versions: new Map() };
  const seen = new Set(names);
  // Names added during the loop are visited as well.
  for (const name of seen) {
    const own = isResourceName(name) ? { name, version: undefined } : namedContext(name);
    const found = own === undefined ? undefined : await namesOfContext(own, reached, schemas);
    for (const one of found ?? []) seen.add(one);
    const uri = storableUri(name);
    if (found !== undefined || uri === undefined || reached.references.has(uri)) continue;
    // If nothing is stored under the URI itself, its other spellings count.
    for (const stored of [uri, ...(await references.spellings(uri))]) {
      const document = await undefinedIfNotFound('reference', references.get(stored));
      if (document === undefined) continue;
      reached.references.add(stored);
      for (const one of namesIn(document.bytes)) {
        const url = URL.parse(one, uri);
        if (url !== null) seen.add(url.href);
      }
      if (stored === uri) break;
    }
  }
  return reached;
}

/** Notes a context and returns the names in it; undefined if there is no such context. */
async function namesOfContext(
  { name, version }: NamedContext,
  reached: Reached,
  { contexts }: SchemaService,
): Promise<readonly string[] | undefined> {
  const context = await undefinedIfNotFound('context', contexts.document(name, version));
  if (context === undefined) return undefined;
  const versions = reached.versions.get(name) ?? new Set();
  if (context.kind === 'generated' && version !== undefined)
    reached.versions.set(name, versions.add(version));
  if (context.kind !== 'custom') return [];
  reached.contexts.add(name);
  const names = [...namesIn((await contexts.document(name)).bytes)];
  if (version === undefined || reached.versions.has(name)) return names;
  reached.versions.set(name, versions);
  for (let number = 1; ; number += 1) {
    const next = await undefinedIfNotFound('context', contexts.document(name, number + 1));
    // The last version is the current one.
    if (next === undefined) return names;
    names.push(...namesIn((await contexts.document(name, number)).bytes));
    versions.add(number);
  }
}

function numbersIn(numbers: ReadonlySet<number> = new Set()): readonly number[] {
  return [...numbers].sort((one, other) => one - other);
}

function namesIn(bytes: Buffer): readonly string[] {
  if (!bytes.includes('"@context"')) return [];
  const document = parseJson(bytes.toString()) as JsonValue;
  return isObject(document) ? contextNamesIn(member(document, '@context')) : [];
}

async function* filesOfModel(
  { store, documents, files }: SchemaService,
  stored: ModelTexts,
  schemaOf: (key: ModelKey, version: ModelVersion) => Promise<ServedDocument>,
  baseUrl: string,
): AsyncGenerator<PackedFile> {
  const { domain, name } = stored.model;
  const key = { domain, name };
  const folder = `domains/${domain}/${name}`;
  const { bytes: schema, sha256 } = await schemaOf(key, stored.version);
  yield { path: `${folder}/schema.json`, content: schema };
  yield { path: `${folder}/meta.json`, content: json(settingsOf(stored)) };
  const { bytes: context } = await documents.of(key, 'context', { baseUrl });
  yield { path: `${folder}/context.jsonld`, content: context };
  let number = 0;
  let last: string | undefined;
  const earlier: Buffer[] = [];
  for await (const version of allItems((page) => store.models.versions(key, page))) {
    if (version.number >= stored.version.number) continue;
    const made = await schemaOf(key, version);
    // Versions with the same schema differ only in what an import generates again.
    if (made.sha256 !== last) earlier.push(made.bytes);
    last = made.sha256;
  }
  if (last === sha256) earlier.pop();
  for (const content of earlier) yield { path: `${folder}/versions/${(number += 1)}.json`, content };
  for await (const example of allItems((page) => store.examples.list(key, page))) {
    const { bytes } = await files.example(key, example.name);
    yield { path: `${folder}/examples/${example.name}`, content: bytes };
  }
}

function json(value: JsonObject | Readonly<Record<string, JsonValue>>): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
