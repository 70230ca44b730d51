import type { Readable } from 'node:stream';
import { isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { isResourceName } from '../../shared/resource-name.js';
import type { Domain, ModelDetails, Page, Paged, SchemaService } from '../service/service.js';
import { referenceFileName } from '../service/model-files.js';
import { ifThere } from '../service/concurrency.js';
import { namedContext } from '../service/context-urls.js';
import { contextNamesIn } from '../repository/context-names.js';
import { packTarGz, type PackedFile } from '../repository/pack.js';
import { storableUri } from '../repository/urls.js';
import { settingsOf } from './settings.js';

/** Entries that are listed at a time. */
const PAGE = 100;

/**
 * Everything of one domain or of all: `domains/{domain}/{model}/` with `schema.json`, `meta.json`, `context.jsonld` and earlier
 * schemas in `versions/`; `references/` with `urls.json`, which has the file of each URL; and custom `contexts/`. With one
 * domain, the documents that its models were made with, and the custom contexts that they name, with what these name.
 *
 * @throws NotFoundError when there is no such domain
 */
export async function exportAll(
  schemas: SchemaService,
  domain: string | undefined,
  baseUrl: string,
): Promise<Readable> {
  const only = domain === undefined ? undefined : [await schemas.domains.get(domain)];
  return packTarGz(filesOf(schemas, only, baseUrl));
}

async function* filesOf(
  schemas: SchemaService,
  only: readonly Domain[] | undefined,
  baseUrl: string,
): AsyncGenerator<PackedFile> {
  const { domains, models, references, contexts } = schemas;
  const named = new Set<string>();
  const contextNames = new Set<string>();
  for await (const { name: domain } of only ?? each((page) => domains.list(page))) {
    for await (const { name } of each((page) => models.list(domain, page))) {
      const model = await models.get({ domain, name });
      for (const uri of model.version.references) named.add(uri);
      for (const context of contextNamesIn(model.context)) contextNames.add(context);
      yield* filesOfModel(schemas, model, baseUrl);
    }
  }
  const reached = only === undefined ? undefined : await reachedFrom(contextNames, schemas);
  const urls: Record<string, string> = {};
  for await (const { uri } of each((page) => references.list(page))) {
    if (reached !== undefined && !named.has(uri) && !reached.references.has(uri)) continue;
    const { bytes } = await references.get(uri);
    const file = referenceFileName(uri);
    urls[uri] = file;
    yield { path: `references/${file}`, content: bytes };
  }
  if (Object.keys(urls).length > 0) yield { path: 'references/urls.json', content: json(urls) };
  for await (const { name, kind } of each((page) => contexts.list(page))) {
    if (kind !== 'custom' || reached?.contexts.has(name) === false) continue;
    const { bytes } = await contexts.document(name);
    yield { path: `contexts/${name}.jsonld`, content: bytes };
  }
}

/** The custom contexts and shared documents that some names of contexts lead to, directly and through each other. */
async function reachedFrom(
  names: Iterable<string>,
  { contexts, references }: SchemaService,
): Promise<{ readonly contexts: ReadonlySet<string>; readonly references: ReadonlySet<string> }> {
  const reached = { contexts: new Set<string>(), references: new Set<string>() };
  const seen = new Set(names);
  // What is added while the loop runs is visited, too.
  for (const name of seen) {
    const own = isResourceName(name) ? name : namedContext(name)?.name;
    const context = own === undefined ? undefined : await ifThere('context', contexts.document(own));
    if (own !== undefined && context?.kind === 'custom') {
      reached.contexts.add(own);
      for (const one of namesIn(context.bytes)) seen.add(one);
    }
    const uri = storableUri(name);
    if (context !== undefined || uri === undefined || reached.references.has(uri)) continue;
    const document = await ifThere('reference', references.get(uri));
    if (document === undefined) continue;
    reached.references.add(uri);
    for (const one of namesIn(document.bytes)) if (URL.canParse(one, uri)) seen.add(new URL(one, uri).href);
  }
  return reached;
}

function namesIn(bytes: Buffer): readonly string[] {
  const document = JSON.parse(bytes.toString()) as JsonValue;
  return isObject(document) ? contextNamesIn(member(document, '@context')) : [];
}

async function* filesOfModel(
  { models }: SchemaService,
  model: ModelDetails,
  baseUrl: string,
): AsyncGenerator<PackedFile> {
  const key = { domain: model.domain, name: model.name };
  const folder = `domains/${model.domain}/${model.name}`;
  const { bytes: schema, sha256 } = await models.document(key, 'schema', { baseUrl });
  yield { path: `${folder}/schema.json`, content: schema };
  yield { path: `${folder}/meta.json`, content: json(settingsOf(model)) };
  const { bytes: context } = await models.document(key, 'context', { baseUrl });
  yield { path: `${folder}/context.jsonld`, content: context };
  let number = 0;
  let last: string | undefined;
  const earlier: Buffer[] = [];
  for await (const version of each((page) => models.versions(key, page))) {
    // Versions of the same schema differ only in what an import generates again.
    if (version.number >= model.version.number || version.sha256 === last) continue;
    last = version.sha256;
    earlier.push((await models.document(key, 'schema', { baseUrl, version: version.number })).bytes);
  }
  if (last === sha256) earlier.pop();
  for (const content of earlier) yield { path: `${folder}/versions/${(number += 1)}.json`, content };
}

/** All items of a list, page by page. */
async function* each<Item>(list: (page: Page) => Promise<Paged<Item>>): AsyncGenerator<Item> {
  for (let offset = 0, total = 1; offset < total; offset += PAGE) {
    const page = await list({ limit: PAGE, offset });
    total = page.total;
    yield* page.items;
  }
}

function json(value: JsonObject | Readonly<Record<string, JsonValue>>): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
