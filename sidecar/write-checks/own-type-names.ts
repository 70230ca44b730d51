import { isArray, isObject, type JsonObject, type JsonValue } from '../shared/json/json.js';
import type { SchemaService } from '../schemas/models/index.js';
import { runWithContexts } from '../schemas/json-ld/outcomes.js';
import type { JsonLdTasks } from '../schemas/json-ld/tasks.js';
import type { TaskRunner } from '../shared/workers/tasks.js';

/** Contexts whose terms are remembered, by their texts. */
const MAX_REMEMBERED = 2000;

type NamesByIri = ReadonlyMap<string, readonly string[]>;

/**
 * The names that models' own contexts have for an IRI. A generated context makes IRIs of names, so that the end of an IRI says
 * the name; an own one may call a type anything.
 */
export class OwnTypeNames {
  readonly #schemas: SchemaService;
  readonly #workers: TaskRunner<Pick<JsonLdTasks, 'contextTerms'>>;
  readonly #byContext = new Map<string, NamesByIri>();
  #current: { readonly stamp: string; readonly maps: Promise<readonly NamesByIri[]> } | undefined;

  constructor(schemas: SchemaService, workers: TaskRunner<Pick<JsonLdTasks, 'contextTerms'>>) {
    this.#schemas = schemas;
    this.#workers = workers;
  }

  /** @param stamp changes with every write to the store */
  async of(iri: string, stamp: string): Promise<readonly string[]> {
    if (this.#current?.stamp !== stamp) {
      const maps = this.#read(stamp);
      maps.catch(() => (this.#current = undefined));
      this.#current = { stamp, maps };
    }
    return (await this.#current.maps).flatMap((map) => map.get(iri) ?? []);
  }

  async #read(stamp: string): Promise<readonly NamesByIri[]> {
    const { store } = this.#schemas;
    const maps: NamesByIri[] = [];
    const limit = 1000;
    for (let offset = 0; ; offset += limit) {
      const { items, total } = await store.domains.list({ limit, offset });
      for (const { name } of items)
        for (const version of await store.models.current(name)) {
          const known =
            this.#byContext.get(version.contextSha256) ??
            this.#byContext.get(`${version.contextSha256} ${stamp}`);
          maps.push(known ?? (await this.#readOne(version.contextSha256, stamp)));
        }
      if (offset + limit >= total) return maps;
    }
  }

  async #readOne(sha256: string, stamp: string): Promise<NamesByIri> {
    const text = await this.#schemas.store.content(sha256);
    const own = text === undefined ? [] : ownElements(text);
    const isFixed = own.every((element) => typeof element !== 'string');
    const map = own.length === 0 ? new Map<string, readonly string[]>() : await this.#namesIn(own);
    if (this.#byContext.size >= MAX_REMEMBERED) this.#byContext.clear();
    this.#byContext.set(isFixed ? sha256 : `${sha256} ${stamp}`, map);
    return map;
  }

  async #namesIn(own: readonly JsonValue[]): Promise<NamesByIri> {
    const { contextSupply } = this.#schemas;
    const input = { text: JSON.stringify(own) };
    const outcome = await runWithContexts(
      (supplied) => this.#workers.run('contextTerms', { ...input, supplied }),
      (url) => contextSupply.supply(url, '', { withoutDomains: true }),
    );
    const found = new Map<string, string[]>();
    if (!('terms' in outcome)) return found;
    for (const [term, meaning] of outcome.terms) {
      const iri = isObject(meaning) ? meaning['@id'] : meaning;
      if (typeof iri === 'string') found.set(iri, [...(found.get(iri) ?? []), term]);
    }
    return found;
  }
}

/** What stands between the generated terms of a model's context and the core context: the context that the model brought. */
function ownElements(text: string): readonly JsonValue[] {
  const { '@context': context } = JSON.parse(text) as JsonObject;
  return isArray(context) ? context.slice(1, -1) : [];
}
