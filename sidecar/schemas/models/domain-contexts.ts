import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isObject, type JsonValue } from '../../shared/json/json.js';
import { nextTurn } from '../../shared/next-turn.js';
import { type ContextTerms, withoutCore } from '../json-ld/term-meanings.js';
import { decidingPart, type DomainContextWarning, DomainTermsBuilder } from '../json-ld/domain-terms.js';
import { isSelfContained } from '../json-ld/context-form.js';
import { contextDocument } from '../json-ld/generated-context.js';
import { type CurrentVersion, type SchemaStore } from '../../store/index.js';
import { mapInBatches, undefinedIfGone } from './concurrency.js';
import {
  type ContentStore,
  createCache,
  getOrCreate,
  MEDIA_TYPES,
  retryIfContentGone,
  toServedDocument,
  type ServedDocument,
} from './content-store.js';
import type { ContextLoader } from './context-loader.js';
import { metadataOf } from './model-settings.js';

/** A context shared by all models of a domain. */
export interface DomainContext extends ServedDocument {
  readonly warnings: readonly DomainContextWarning[];
}

interface Parts {
  readonly store: SchemaStore;
  readonly contents: ContentStore;
  readonly supply: ContextLoader;
  /** Approximate limit of the caches, in bytes. */
  readonly cacheBytes: number;
}

/** The parts of a model's context. */
interface ModelContext {
  readonly names: readonly string[];
  readonly generated: ReadonlyMap<string, string>;
  /** The model's own context as JSON. */
  readonly own: string | undefined;
}

/**
 * The contexts of domains, generated on request from those of their models. Each is cached until any process writes to
 * the store. The meaning of their parts is cached by content, so that only changed parts are processed after a write.
 */
export class DomainContexts {
  readonly #parts: Parts;
  readonly #current = new Map<string, { readonly stamp: string; readonly made: Promise<DomainContext> }>();
  readonly #models: LRUCache<string, ModelContext>;
  readonly #terms: LRUCache<string, ContextTerms>;
  readonly #results: ReturnType<typeof createCache<DomainContext>>;

  constructor(parts: Parts) {
    this.#parts = parts;
    const maxSize = Math.max(1, Math.floor(parts.cacheBytes / 3));
    this.#models = new LRUCache({ maxSize, sizeCalculation: sizeOfModel });
    this.#terms = new LRUCache({ maxSize, sizeCalculation: ({ size }) => 300 * (size + 1) });
    this.#results = createCache(maxSize, ({ bytes, warnings }) => bytes.length + 500 * warnings.length);
  }

  /**
   * Returns the context of a domain.
   *
   * @param baseUrl of this service, as the client reaches it, without a trailing slash
   * @throws NotFoundError, WorkersBusyError, TaskFailedError, StoreUnavailableError
   */
  async of(domain: string, baseUrl: string): Promise<DomainContext> {
    const stamp = await this.#parts.supply.stamp(baseUrl);
    const known = this.#current.get(domain);
    if (known?.stamp === stamp) return known.made;
    const made = retryIfContentGone(() => this.#make(domain, baseUrl, stamp));
    if (this.#current.size >= MAX_DOMAINS) this.#current.clear();
    this.#current.set(domain, { stamp, made });
    // A failure is not cached.
    made.catch(() => {
      if (this.#current.get(domain)?.made === made) this.#current.delete(domain);
    });
    return made;
  }

  async #make(domain: string, baseUrl: string, stamp: string): Promise<DomainContext> {
    const versions = await this.#parts.store.models.current(domain);
    const models = new Map<string, ModelContext>();
    await mapInBatches(versions, async (version) => {
      const model = await this.#modelContext(domain, version);
      if (model !== undefined) models.set(version.name, model);
    });
    const owns = await this.#ownTerms(models, baseUrl, stamp);
    const key = hashOf([
      ...versions.map(
        ({ name, number, createdAt, contextSha256 }) => `${name} ${number} ${createdAt} ${contextSha256}`,
      ),
      ...[...owns].map(([own, { key }]) => `${hashOf([own])} ${key}`),
    ]);
    return getOrCreate(this.#results, `${domain} ${key}`, () => merged(versions, models, owns));
  }

  async #modelContext(domain: string, version: CurrentVersion): Promise<ModelContext | undefined> {
    const { name, number, createdAt, contextSha256 } = version;
    const key = JSON.stringify([domain, name, number, createdAt, contextSha256]);
    const known = this.#models.get(key);
    if (known !== undefined) return known;
    const at = await undefinedIfGone(this.#parts.store.models.get({ domain, name }));
    // The model was deleted in the meantime; the next request finds the new state.
    if (at === undefined) return undefined;
    const text = await this.#parts.contents.text(at.version.context);
    await nextTurn();
    const found = splitContext(text, metadataOf(at.version).ownTerms ?? []);
    if (at.version.context.sha256 === contextSha256) this.#models.set(key, found);
    return found;
  }

  /** Returns the meaning of the models' own contexts; each is processed once. */
  async #ownTerms(
    models: ReadonlyMap<string, ModelContext>,
    baseUrl: string,
    stamp: string,
  ): Promise<ReadonlyMap<string, OwnTerms>> {
    const texts = new Set([...models.values()].flatMap(({ own }) => own ?? []));
    const found = await mapInBatches(
      texts,
      async (text) => [text, await this.#termsOf(text, baseUrl, stamp)] as const,
    );
    return new Map(found);
  }

  async #termsOf(own: string, baseUrl: string, stamp: string): Promise<OwnTerms> {
    // The meaning of a context that names others can change.
    const isFixed = isSelfContained(JSON.parse(own) as readonly JsonValue[]);
    const key = isFixed ? hashOf([own]) : hashOf([own, stamp]);
    const known = this.#terms.get(key);
    if (known !== undefined) return { terms: known, key };
    const found = await this.#parts.supply.termsOf(own, baseUrl);
    if ('failed' in found) return { ...found, key: found.failed };
    const terms: ContextTerms = new Map(found.terms);
    this.#terms.set(key, terms);
    return { terms, key: isFixed ? key : hashOf([JSON.stringify(found.terms)]) };
  }
}

type OwnTerms = { readonly key: string } & (
  | { readonly terms: ContextTerms }
  | { readonly terms?: undefined; readonly failed: string }
);

/** Maximum number of domains whose contexts are cached. */
const MAX_DOMAINS = 1000;

async function merged(
  versions: readonly CurrentVersion[],
  models: ReadonlyMap<string, ModelContext>,
  owns: ReadonlyMap<string, OwnTerms>,
): Promise<DomainContext> {
  const maker = new DomainTermsBuilder();
  const unavailable: DomainContextWarning[] = [];
  for (const { name } of versions) {
    const model = models.get(name);
    if (model === undefined) continue;
    const own = model.own === undefined ? undefined : owns.get(model.own);
    if (own !== undefined && own.terms === undefined) {
      const detail = `The context that "${name}" brings cannot be used: ${own.failed}`;
      unavailable.push({ code: 'context-unavailable', detail, models: [name] });
    }
    await nextTurn();
    maker.add({ model: name, names: model.names, generated: model.generated, own: own?.terms });
  }
  const { terms, warnings } = maker.result();
  const served = toServedDocument(JSON.stringify(contextDocument(terms)), MEDIA_TYPES.context);
  return { ...served, warnings: [...unavailable, ...warnings] };
}

/**
 * Splits the context of a model into its parts.
 *
 * @param text created by generateContext or composeContext: generated terms, then the model's own context, then the
 * core context
 */
function splitContext(text: string, ownTerms: readonly string[]): ModelContext {
  const [first, ...own] = withoutCore(text);
  const terms = isObject(first) ? first : {};
  const generated = new Map(Object.entries(terms) as [string, string][]);
  return {
    names: [...generated.keys(), ...ownTerms],
    generated,
    own: own.length === 0 ? undefined : JSON.stringify(decidingPart(terms, own)),
  };
}

function sizeOfModel({ names, own = '' }: ModelContext): number {
  return 1 + 2 * own.length + 300 * names.length;
}

function hashOf(texts: readonly string[]): string {
  return hash('sha256', texts.map((text) => `${text.length} ${text}`).join(''));
}
