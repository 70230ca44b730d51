import { readEntityQuery } from '../../sidecar/embedded-broker/entity-query.js';
import { readEntity } from '../../sidecar/embedded-broker/entity-input.js';
import type { StoredEntity } from '../../sidecar/embedded-broker/model.js';
import { EntityStore } from '../../sidecar/embedded-broker/store.js';
import { represent } from '../../sidecar/embedded-broker/representation.js';
import type { BrokerReply, BrokerClient, BrokerRequest } from '../../sidecar/purge/broker/index.js';
import { words } from './words.js';

/** A query as a broker reads it: its parameters and the tenant. */
export interface Asked {
  readonly parameters: ReadonlyMap<string, string>;
  readonly tenant: string;
}

/** How a broker differs from one that answers every query correctly. */
export interface Flaw {
  readonly name: string;
  /**
   * The queries that it reads instead of the given one; its answer has the matches of all of them.
   */
  readonly reads: (asked: Asked) => readonly Asked[];
  /** Filters that it applies to a page after counting and cutting it. */
  readonly late?: readonly string[];
  /** A careful purge can handle this flaw, and is not refused because of it. */
  readonly isBearable?: true;
  /**
   * Whether it ignores an @context that it cannot fetch.
   * @default false: it refuses the query
   */
  readonly readsWithoutContext?: boolean;
}

/**
 * An @context that the broker can fetch, and one that it cannot. Both use the term "buses" for
 * cars.
 */
export const CONTEXTS = { up: 'http://contexts.example/c.jsonld', down: 'http://down.example/c.jsonld' };

/** Entities by tenant, and a broker for them in this process. */
export class FlawedBroker {
  readonly stores = new Map<string, EntityStore>();
  flaw: Flaw;

  constructor(flaw: Flaw) {
    this.flaw = flaw;
  }

  fill(tenant: string, entities: readonly object[]): void {
    const store = new EntityStore();
    for (const entity of entities) store.create(readEntity(entity, NOW), NOW);
    this.stores.set(tenant, store);
  }

  ids(tenant: string): readonly string[] {
    return [...(this.stores.get(tenant)?.list().keys() ?? [])];
  }

  /** Returns the ids that a query selects if it is read correctly. */
  meant(query: string, tenant: string, link?: string): readonly string[] {
    return this.#matches({ parameters: meaning(new Map(new URLSearchParams(query)), link), tenant }).map(
      ({ id }) => id,
    );
  }

  get client(): BrokerClient {
    return { send: async (request) => this.#answer(request), close: async () => {} };
  }

  #matches({ parameters, tenant }: Asked): readonly StoredEntity[] {
    const { ids, type, filters } = readEntityQuery(parameters, { mayBeWide: true });
    return [...(this.stores.get(tenant)?.list(type).values() ?? [])].filter(
      (entity) => ids?.includes(entity.id) !== false && filters.every((filter) => filter(entity)),
    );
  }

  #answer({ method, path, headers = {}, jsonBody = '[]' }: BrokerRequest): BrokerReply {
    const tenant = headers['ngsild-tenant'] ?? '';
    const [target = '', search = ''] = path.split('?');
    if (method === 'POST') {
      for (const id of JSON.parse(jsonBody) as string[]) this.stores.get(tenant)?.delete(id);
      return reply(204);
    }
    if (method === 'DELETE') {
      const isThere = this.stores.get(tenant)?.delete(decodeURIComponent(target.split('/').at(-1) ?? ''));
      return reply(isThere === true ? 204 : 404);
    }
    const link = /<([^>]*)>/.exec(headers['link'] ?? '')?.[1];
    const isKnown = link === undefined || link === CONTEXTS.up;
    if (!isKnown && this.flaw.readsWithoutContext !== true)
      return reply(503, { type: 'https://uri.etsi.org/ngsi-ld/errors/LdContextNotAvailable' });
    const parameters = new Map(new URLSearchParams(search));
    return this.#page(parameters, { parameters: meaning(parameters, isKnown ? link : undefined), tenant });
  }

  #page(given: ReadonlyMap<string, string>, asked: Asked): BrokerReply {
    const { reads, late = [] } = this.flaw;
    const filters = new Map([...asked.parameters].filter(([name]) => FILTERS.has(name)));
    const early = new Map([...filters].filter(([name]) => !late.includes(name)));
    const find = (parameters: ReadonlyMap<string, string>) =>
      new Set(reads({ ...asked, parameters }).flatMap((each) => this.#matches(each)));
    const found = [...find(early)].sort((a, b) => a.sequence - b.sequence);
    const offset = Number(given.get('offset') ?? 0);
    const shown = early.size === filters.size ? undefined : find(filters);
    const page = found
      .slice(offset, offset + Number(given.get('limit') ?? 20))
      .filter((entity) => shown?.has(entity) !== false)
      .map((entity) => represent(entity, { format: 'normalized', sysAttrs: false, pick: new Set(['id']) }));
    return reply(200, page, { 'ngsild-results-count': String(found.length) });
  }
}

const NOW = Date.UTC(2026, 0, 1);

const FILTERS = new Set(words('type id idPattern attrs q scopeQ georel geometry coordinates geoproperty'));

/** Returns a query with the broker's own names. */
function meaning(
  parameters: ReadonlyMap<string, string>,
  link: string | undefined,
): ReadonlyMap<string, string> {
  const type = parameters.get('type');
  if (link === undefined || type === undefined) return parameters;
  return new Map([...parameters, ['type', type.replaceAll(/\bCar\b/g, 'Bus')]]);
}

function reply(status: number, body?: unknown, headers: Readonly<Record<string, string>> = {}): BrokerReply {
  return {
    status,
    headers: new Map(Object.entries(headers)),
    body: body === undefined ? '' : JSON.stringify(body),
  };
}
