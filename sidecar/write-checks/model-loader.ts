import { hash } from 'node:crypto';
import { localName } from '../ngsi-ld/representation/names.js';
import {
  allItems,
  INTERNAL_BASE,
  mapInBatches,
  parseModelName,
  type SchemaService,
  undefinedIfGone,
} from '../schemas/models/index.js';
import { isSelfContained } from '../schemas/json-ld/context-form.js';
import { type ContextResult, type ContextResults, unusableContext } from '../schemas/json-ld/errors.js';
import { iriOf, withoutCore } from '../schemas/json-ld/term-meanings.js';
import type { WrittenType } from '../schemas/writes/policy-choice.js';
import type { SuppliedModel } from '../schemas/writes/protocol.js';
import type { JsonValue } from '../shared/json/json.js';
import type { Model } from '../store/index.js';

const MAX_TYPES = 100;

const MAX_MODELS_PER_NAME = 20;

/** Supplies workers with models and contexts: those that are stored, or that may be fetched. */
export class ModelLoader {
  readonly #schemas: SchemaService;
  readonly #typeNames: ContextTypeNames;
  readonly #place: OwnPlace;
  #ofTypes: { readonly stamp: string; readonly models: Map<string, Promise<readonly SuppliedModel[]>> } = {
    stamp: '',
    models: new Map(),
  };

  constructor(schemas: SchemaService, place: OwnPlace) {
    this.#schemas = schemas;
    this.#typeNames = new ContextTypeNames(schemas);
    this.#place = place;
  }

  /** The published models that may be for the types. The meanings of their names decide whether they are. */
  async modelsOfTypes(
    types: readonly WrittenType[],
    stamp: string,
  ): Promise<readonly (readonly [iri: string, models: readonly SuppliedModel[]])[]> {
    const found: (readonly [string, readonly SuppliedModel[]])[] = [];
    for (const { written, iri } of types)
      if (iri !== undefined) found.push([iri, await this.#modelsOfType(written, iri, stamp)]);
    return found;
  }

  /** All writes in progress ask for the same models at once whenever the stamp changes, so these are looked up once. */
  #modelsOfType(written: string, iri: string, stamp: string): Promise<readonly SuppliedModel[]> {
    if (this.#ofTypes.stamp !== stamp || this.#ofTypes.models.size >= MAX_TYPES)
      this.#ofTypes = { stamp, models: new Map() };
    const { models } = this.#ofTypes;
    // Clients may write types of megabytes.
    const key = hash('sha256', JSON.stringify([written, iri]));
    const known = models.get(key);
    if (known !== undefined) return known;
    const looked = this.#lookUp(written, iri, stamp);
    models.set(key, looked);
    looked.catch(() => models.delete(key));
    return looked;
  }

  async #lookUp(written: string, iri: string, stamp: string): Promise<readonly SuppliedModel[]> {
    const names = new Set([iri, localName(iri), written, localName(written)]);
    for (const name of await this.#typeNames.of(iri, stamp)) names.add(name);
    const models = new Map<string, Model>();
    for (const name of names) {
      const { items } = await this.#schemas.store.models.search(
        { type: name },
        { limit: MAX_MODELS_PER_NAME, offset: 0 },
      );
      for (const model of items)
        if (model.status !== 'draft') models.set(`${model.domain}/${model.name}`, model);
    }
    const supplied: SuppliedModel[] = [];
    for (const model of models.values()) supplied.push(...(await this.#load(model, undefined)));
    return supplied;
  }

  /** Models by `D/M` or `D/M@3`; undefined for models that do not exist. */
  async modelsNamed(
    names: readonly string[],
  ): Promise<readonly (readonly [name: string, model: SuppliedModel | undefined])[]> {
    const found: (readonly [string, SuppliedModel | undefined])[] = [];
    for (const name of names) {
      const named = parseModelName(name);
      const [model] = named === undefined ? [] : await this.#load(named, named.version);
      found.push([name, model]);
    }
    return found;
  }

  async #load(
    { domain, name }: Pick<Model, 'domain' | 'name'>,
    version: number | undefined,
  ): Promise<readonly SuppliedModel[]> {
    const stored = await undefinedIfGone(this.#schemas.store.models.texts({ domain, name }, version));
    if (stored === undefined) return [];
    const schema = this.#schemas.schemas.ofVersion(stored);
    this.#texts.set(schema.contentHash, schema.text);
    return [{ title: `${domain}/${name}`, name, key: schema.contentHash, context: stored.context }];
  }

  readonly #texts = new Map<string, () => Promise<string>>();

  /** The models supplied before, with their schemas. */
  async withSchemas(
    models: readonly SuppliedModel[],
  ): Promise<readonly (SuppliedModel & { readonly schema: string })[]> {
    const found: (SuppliedModel & { readonly schema: string })[] = [];
    for (const model of models) {
      const schema = await this.#texts.get(model.key)?.();
      if (schema !== undefined) found.push({ ...model, schema });
    }
    if (this.#texts.size > MAX_TEXTS) {
      this.#texts.clear();
      this.#ofTypes = { stamp: '', models: new Map() };
    }
    return found;
  }

  /** Contexts by URL. No header of a request decides which of them are stored here. */
  async contexts(urls: readonly string[]): Promise<ContextResults> {
    return Promise.all(urls.map(async (url) => [url, await this.#context(url)] as const));
  }

  /**
   * Anybody can publish a context under a URL that ends as those of this service do: a broker would use that one, and
   * write what was not judged.
   */
  async #context(url: string): Promise<ContextResult> {
    const { contextLoader } = this.#schemas;
    const { baseUrl, isOwnName } = this.#place;
    const host = HOST.exec(url)?.[1]?.toLowerCase();
    const isOwn = url.startsWith(`${INTERNAL_BASE}/`) || (host !== undefined && isOwnName(host));
    return contextLoader.ownContext(url, baseUrl) === undefined || isOwn
      ? contextLoader.load(url, baseUrl)
      : { failure: unusableContext(url, 'neither PUBLIC_URL nor ALLOWED_HOSTS names its host.') };
  }
}

/** How clients and brokers reach this service. */
export interface OwnPlace {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** Whether a host, lower-case and without a port, can only be this service. */
  readonly isOwnName: (host: string) => boolean;
}

/** The host of a URL that all parsers read in the same way: without credentials and backslashes. */
const HOST = /^https?:\/\/([\w.-]+|\[[\da-f:.]+\])(?::\d+)?\//i;

/** Maximum number of models whose schemas can be requested. */
const MAX_TEXTS = 5000;

/** Maximum number of models of which the own context is remembered, and of own contexts whose names are. */
const MAX_MODELS = 20_000;
const MAX_CONTEXTS = 2000;

type NamesByIri = ReadonlyMap<string, readonly string[]>;

/**
 * The names that models' own contexts have for an IRI. A generated context makes IRIs from names, so the name is at
 * the end of the IRI; an own context may use any name for a type.
 *
 * The models of a repository share one own context, which is processed once for all of them: after each write to the
 * store, writes wait for it.
 */
class ContextTypeNames {
  readonly #schemas: SchemaService;
  /** The hashes of models' own contexts, by those of their whole contexts; empty for a model without one. */
  readonly #owns = new Map<string, string>();
  /** The names in own contexts that depend on no other document, by hash. */
  readonly #fixed = new Map<string, NamesByIri>();
  #current: { readonly stamp: string; readonly maps: Promise<readonly NamesByIri[]> } | undefined;

  constructor(schemas: SchemaService) {
    this.#schemas = schemas;
  }

  /** Returns the names for an IRI. @param stamp changes with every write to the store */
  async of(iri: string, stamp: string): Promise<readonly string[]> {
    if (this.#current?.stamp !== stamp) {
      const maps = this.#read();
      maps.catch(() => (this.#current = undefined));
      this.#current = { stamp, maps };
    }
    return (await this.#current.maps).flatMap((map) => map.get(iri) ?? []);
  }

  async #read(): Promise<readonly NamesByIri[]> {
    const { store } = this.#schemas;
    // A model's whole context for each own context.
    const contexts = new Map<string, string>();
    for await (const { name } of allItems((page) => store.domains.list(page)))
      for (const { contextSha256 } of await store.models.current(name))
        contexts.set(await this.#ownHashIn(contextSha256), contextSha256);
    contexts.delete('');
    return mapInBatches(contexts, ([own, context]) => this.#namesIn(own, context));
  }

  async #ownHashIn(context: string): Promise<string> {
    const known = this.#owns.get(context);
    if (known !== undefined) return known;
    const own = await this.#ownIn(context);
    if (own === undefined) return '';
    const sha256 = own.length === 0 ? '' : hash('sha256', JSON.stringify(own));
    if (this.#owns.size >= MAX_MODELS) this.#owns.clear();
    this.#owns.set(context, sha256);
    return sha256;
  }

  /** The elements of the own context; undefined if the model has been deleted. */
  async #ownIn(context: string): Promise<readonly JsonValue[] | undefined> {
    const text = await this.#schemas.store.content(context);
    // The generated terms come before the own context.
    return text === undefined ? undefined : withoutCore(text).slice(1);
  }

  async #namesIn(sha256: string, context: string): Promise<NamesByIri> {
    const known = this.#fixed.get(sha256);
    if (known !== undefined) return known;
    const own = (await this.#ownIn(context)) ?? [];
    const found = await this.#schemas.contextLoader.termsOf(JSON.stringify(own), '');
    const names = new Map<string, string[]>();
    for (const [term, meaning] of 'failed' in found ? [] : found.terms) {
      const iri = iriOf(meaning);
      if (iri !== undefined) names.set(iri, [...(names.get(iri) ?? []), term]);
    }
    if (this.#fixed.size >= MAX_CONTEXTS) this.#fixed.clear();
    if (own.length > 0 && isSelfContained(own)) this.#fixed.set(sha256, names);
    return names;
  }
}
