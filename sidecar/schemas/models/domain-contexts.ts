import { isObject, type JsonValue } from '../../shared/json/json.js';
import { tryParseJson } from '../../shared/json/lossless-json.js';
import { yieldToEventLoop } from '../../shared/event-loop.js';
import { type ContextMeaning, withoutCore } from '../json-ld/term-meanings.js';
import { referencesOf } from '../json-ld/context-form.js';
import {
  addWords,
  decidingPart,
  type DomainContextWarning,
  DomainTermsBuilder,
} from '../json-ld/domain-terms.js';
import { contextDocument } from '../json-ld/generated-context.js';
import { type CurrentVersion, type SchemaStore } from '../../store/index.js';
import { mapInBatches, undefinedIfGone } from './concurrency.js';
import {
  type Cache,
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
  /** The caches of contexts and of models may each have about a third of this. */
  readonly cacheBytes: number;
}

/** The parts of a model's context. */
interface ModelContext {
  readonly names: readonly string[];
  readonly generated: ReadonlyMap<string, string>;
  /** The elements of the model's own context as JSON. */
  readonly own: string | undefined;
}

/**
 * The contexts of domains, generated on request from those of their models. Each is cached until any process writes to
 * the store. The contexts of models are cached by version: reading them again after each write would take most of the
 * time.
 */
export class DomainContexts {
  readonly #parts: Parts;
  readonly #current: Cache<DomainContext>;
  readonly #models: Cache<ModelContext>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#current = createCache(parts.cacheBytes / 3, ({ bytes }) => bytes.length);
    this.#models = createCache(parts.cacheBytes / 3, sizeOfModel);
  }

  /**
   * Returns the context of a domain.
   *
   * @param baseUrl of this service, as the client reaches it, without a trailing slash
   * @throws NotFoundError, WorkersBusyError, TaskFailedError, StoreUnavailableError
   */
  async of(domain: string, baseUrl: string): Promise<DomainContext> {
    const stamp = await this.#parts.supply.stamp(baseUrl);
    return getOrCreate(this.#current, `${domain} ${stamp}`, () =>
      retryIfContentGone(() => this.#make(domain, baseUrl)),
    );
  }

  async #make(domain: string, baseUrl: string): Promise<DomainContext> {
    const versions = await this.#parts.store.models.current(domain);
    const models = new Map<string, ModelContext>();
    await mapInBatches(versions, async (version) => {
      const model = await this.#modelContext(domain, version);
      if (model !== undefined) models.set(version.name, model);
    });
    return mergeContexts(versions, models, await this.#ownTerms(models, baseUrl));
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
    await yieldToEventLoop();
    const found = splitContext(text, metadataOf(at.version).ownTerms ?? []);
    if (at.version.context.sha256 === contextSha256) this.#models.set(key, found);
    return found;
  }

  /** Returns the meaning of each model's own context. Models with the same one share it, unless it depends on others. */
  async #ownTerms(
    models: ReadonlyMap<string, ModelContext>,
    baseUrl: string,
  ): Promise<ReadonlyMap<string, OwnTerms>> {
    const owns = new Set([...models.values()].flatMap(({ own }) => own ?? []));
    const words = new Map(
      await mapInBatches(owns, async (own) => [own, await this.#wordsIn(own, baseUrl)] as const),
    );
    const deciding = new Map<string, string>();
    for (const [model, { generated, own }] of models) {
      if (own === undefined) continue;
      const elements = JSON.parse(own) as readonly JsonValue[];
      const part = decidingPart(Object.fromEntries(generated), elements, words.get(own));
      deciding.set(model, JSON.stringify(part));
    }
    const found = await mapInBatches(
      new Set(deciding.values()),
      async (text): Promise<readonly [string, OwnTerms]> => {
        const read = await this.#parts.supply.termsOf(text, baseUrl);
        return [text, 'failed' in read ? read : { terms: new Map(read.terms), defaults: read.defaults }];
      },
    );
    const terms = new Map(found);
    return new Map(
      [...deciding].flatMap(([model, text]) => {
        const own = terms.get(text);
        return own === undefined ? [] : [[model, own] as const];
      }),
    );
  }

  /** The words in an own context and in all that it names; undefined if not all of these can be read. */
  async #wordsIn(own: string, baseUrl: string): Promise<ReadonlySet<string> | undefined> {
    const words = new Set<string>();
    const named = new Set<string>();
    const open: unknown[] = [JSON.parse(own)];
    while (open.length > 0) {
      const context = open.pop();
      addWords(context, words);
      for (const { url } of referencesOf(context)) {
        if (named.has(url)) continue;
        named.add(url);
        const found = named.size > MAX_NAMED ? undefined : await this.#parts.supply.load(url, baseUrl);
        const document = found !== undefined && 'text' in found ? tryParseJson(found.text) : undefined;
        if (!isObject(document)) return undefined;
        open.push(document['@context']);
      }
      await yieldToEventLoop();
    }
    return words;
  }
}

/** Maximum number of contexts whose words are read for one own context. */
const MAX_NAMED = 20;

type OwnTerms = ContextMeaning | { readonly terms?: undefined; readonly failed: string };

async function mergeContexts(
  versions: readonly CurrentVersion[],
  models: ReadonlyMap<string, ModelContext>,
  owns: ReadonlyMap<string, OwnTerms>,
): Promise<DomainContext> {
  const maker = new DomainTermsBuilder();
  const unavailable: DomainContextWarning[] = [];
  const defaults = new Map<string, string[]>();
  for (const { name } of versions) {
    const model = models.get(name);
    if (model === undefined) continue;
    const own = owns.get(name);
    if (own !== undefined && own.terms === undefined) {
      const detail = `The context that "${name}" brings cannot be used: ${own.failed}`;
      unavailable.push({ code: 'context-unavailable', detail, models: [name] });
    }
    for (const term of own?.terms === undefined ? [] : Object.keys(own.defaults))
      defaults.set(term, [...(defaults.get(term) ?? []), name]);
    await yieldToEventLoop();
    maker.add({ model: name, names: model.names, generated: model.generated, own: own?.terms });
  }
  const { terms, warnings } = maker.result();
  const served = toServedDocument(JSON.stringify(contextDocument(terms)), MEDIA_TYPES.context);
  const leftOut = [...defaults].map(([term, concerned]): DomainContextWarning => {
    const detail = `Contexts of models say by ${term} how all texts are read; it is left out.`;
    return { code: 'ambiguous-term', term, detail, models: concerned };
  });
  return { ...served, warnings: [...unavailable, ...leftOut, ...warnings] };
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
    own: own.length === 0 ? undefined : JSON.stringify(own),
  };
}

function sizeOfModel({ names, own = '' }: ModelContext): number {
  return 1 + 2 * own.length + 300 * names.length;
}
