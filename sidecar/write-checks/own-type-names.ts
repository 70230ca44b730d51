import { isWhole } from '../schemas/json-ld/context-form.js';
import { iriOf, withoutCore } from '../schemas/json-ld/term-meanings.js';
import { eachOf, type SchemaService } from '../schemas/models/index.js';
import type { JsonValue } from '../shared/json/json.js';

/** Maximum number of contexts whose terms are remembered, by their texts. */
const MAX_REMEMBERED = 2000;

type NamesByIri = ReadonlyMap<string, readonly string[]>;

/**
 * The names that models' own contexts have for an IRI. A generated context makes IRIs from names, so the name is at
 * the end of the IRI; an own context may use any name for a type.
 */
export class OwnTypeNames {
  readonly #schemas: SchemaService;
  readonly #byContext = new Map<string, NamesByIri>();
  #current: { readonly stamp: string; readonly maps: Promise<readonly NamesByIri[]> } | undefined;

  constructor(schemas: SchemaService) {
    this.#schemas = schemas;
  }

  /** Returns the names for an IRI. @param stamp changes with every write to the store */
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
    for await (const { name } of eachOf((page) => store.domains.list(page)))
      for (const { contextSha256: sha256 } of await store.models.current(name)) {
        const known = this.#byContext.get(sha256) ?? this.#byContext.get(`${sha256} ${stamp}`);
        maps.push(known ?? (await this.#readOne(sha256, stamp)));
      }
    return maps;
  }

  async #readOne(sha256: string, stamp: string): Promise<NamesByIri> {
    const text = await this.#schemas.store.content(sha256);
    // The generated terms come before the own context.
    const own = text === undefined ? [] : withoutCore(text).slice(1);
    const map = own.length === 0 ? new Map<string, readonly string[]>() : await this.#namesIn(own);
    if (this.#byContext.size >= MAX_REMEMBERED) this.#byContext.clear();
    this.#byContext.set(isWhole(own) ? sha256 : `${sha256} ${stamp}`, map);
    return map;
  }

  async #namesIn(own: readonly JsonValue[]): Promise<NamesByIri> {
    const found = await this.#schemas.contextSupply.termsOf(JSON.stringify(own), '');
    const names = new Map<string, string[]>();
    for (const [term, meaning] of 'failed' in found ? [] : found.terms) {
      const iri = iriOf(meaning);
      if (iri !== undefined) names.set(iri, [...(names.get(iri) ?? []), term]);
    }
    return names;
  }
}
