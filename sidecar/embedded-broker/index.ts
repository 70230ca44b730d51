import type { JsonObject } from '../shared/json/json.js';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { systemClock, type Clock } from '../shared/clock.js';
import { Chance, goodBehaviour, type Behaviour } from './behaviour.js';
import { readEntity, readTemporalEntity } from './entity-input.js';
import type { Limits } from './exchange.js';
import type { Attribute, StoredEntity } from './model.js';
import { refusals } from './refusal.js';
import { RequestLog } from './request-log.js';
import { represent } from './representation.js';
import { sampleEntities, sampleHistory } from './sample-data.js';
import { createBrokerServer } from './server.js';
import { representTemporal } from './temporal-representation.js';
import type { EntityStore } from './store.js';
import type { History } from './temporal-history.js';
import type { Histories } from './temporal-store.js';
import { type Tenant, Tenants } from './tenants.js';

export type { Behaviour } from './behaviour.js';

export interface EmbeddedBrokerOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Start with a few sample entities, two of them with a history. Default false. */
  readonly sampleData?: boolean;
  /** Defaults: 20 entities per page, at most 1000; bodies of up to 2 MiB; 10,000 instances per attribute. */
  readonly limits?: Partial<Limits>;
  readonly behaviour?: Partial<Behaviour>;
  readonly clock?: Clock;
}

export interface EmbeddedBroker {
  /** Base URL without a trailing slash; the API is below `/ngsi-ld/v1`. */
  readonly url: string;
  readonly port: number;
  readonly entities: EntityAccess;
  readonly temporal: TemporalAccess;
  /** May be changed at any time; applies from the next request on. */
  readonly behaviour: Behaviour;
  readonly requests: RequestLog;
  /** Stops listening and closes open connections. */
  close(): Promise<void>;
}

/**
 * Starts an NGSI-LD broker in this process, with all entities in memory: for trying out, tests and benchmarks.
 *
 * It serves the entity part of ETSI GS CIM 009 V1.9.1 (create, read, change, delete, batches, queries with type, id, q,
 * geo, scope and attribute filters, pages, counts, tenants) and its temporal part (a separate history, written only
 * through the temporal resources; normalized representation, both kinds of paging). It answers 501 to everything else:
 * aggregation, subscriptions, registrations, ordering, linked entities. It resolves no @context (see model.ts), and
 * does not support DELETE on a collection of entities.
 *
 * @throws the listen error, e.g. EADDRINUSE
 */
export async function startEmbeddedBroker(options: EmbeddedBrokerOptions = {}): Promise<EmbeddedBroker> {
  const { host = '127.0.0.1', port = 0, clock = systemClock } = options;
  const behaviour: Behaviour = { ...goodBehaviour(), ...options.behaviour };
  const tenants = new Tenants();
  const requests = new RequestLog();
  const entities = new EntityAccess(tenants, clock);
  const temporal = new TemporalAccess(tenants, clock);
  if (options.sampleData === true) {
    entities.seed(sampleEntities.length, (index) => sampleEntities[index] ?? {});
    temporal.seed(sampleHistory.length, (index) => sampleHistory[index] ?? {});
  }

  const server = createBrokerServer(
    {
      tenants,
      behaviour,
      chance: new Chance(behaviour),
      limits: {
        defaultPageSize: 20,
        maxPageSize: 1000,
        maxBodyBytes: 2 * 1024 * 1024,
        instancesPerAttribute: 10_000,
        ...options.limits,
      },
      clock,
    },
    requests,
  );
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    port: address.port,
    entities,
    temporal,
    behaviour,
    requests,
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Direct access to a kind of entities, without HTTP. An undefined `tenant` is the default tenant. */
abstract class Access<Attributes> {
  constructor(
    protected readonly tenants: Tenants,
    protected readonly clock: Clock,
  ) {}

  protected abstract storeOf(tenant: Tenant): EntityStore<Attributes>;

  protected all(tenant?: string): ReadonlyMap<string, StoredEntity<Attributes>> {
    const found = this.tenants.find(tenant);
    return found === undefined ? new Map() : this.storeOf(found).list();
  }

  count(tenant?: string): number {
    return this.all(tenant).size;
  }

  /** Returns the ids of all entities, oldest first. */
  ids(tenant?: string): readonly string[] {
    return [...this.all(tenant).keys()];
  }

  has(id: string, tenant?: string): boolean {
    return this.all(tenant).has(id);
  }
}

class EntityAccess extends Access<readonly Attribute[]> {
  protected override storeOf({ entities }: Tenant) {
    return entities;
  }

  /** Returns an entity, normalized; undefined if it does not exist. */
  get(id: string, tenant?: string): JsonObject | undefined {
    const entity = this.all(tenant).get(id);
    return entity && represent(entity, { format: 'normalized', sysAttrs: false, pick: undefined });
  }

  /**
   * Creates `make(0)` to `make(amount - 1)`, each an entity as in a POST body. Entities whose id already exists are
   * skipped.
   *
   * @throws Refusal when one of them is not an entity
   */
  seed(amount: number, make: (index: number) => object, tenant?: string): void {
    const store = this.tenants.created(tenant).entities;
    const now = this.clock.now();
    for (let index = 0; index < amount; index += 1) store.create(readEntity(make(index), now), now);
  }
}

/** Access to the temporal entities, including those without attributes. */
class TemporalAccess extends Access<Histories> {
  protected override storeOf({ history }: Tenant) {
    return history.entities;
  }

  /** Returns a temporal entity with all its instances, each attribute an array; undefined if it does not exist. */
  get(id: string, tenant?: string): JsonObject | undefined {
    const store = this.tenants.find(tenant)?.history;
    const entity = store?.entities.get(id);
    if (store === undefined || entity === undefined) return undefined;
    const everything = { pick: undefined, sysAttrs: false, instanceIds: true, singleAsObject: false };
    return representTemporal(entity, store.ids, everything, (history) => history.all());
  }

  attributes(tenant?: string): number {
    return this.#histories(tenant).length;
  }

  instances(tenant?: string): number {
    return this.#histories(tenant).reduce((sum, { size }) => sum + size, 0);
  }

  #histories(tenant?: string): readonly History[] {
    return [...this.all(tenant).values()].flatMap(({ attributes }) => [...attributes.values()]);
  }

  /**
   * Puts `make(0)` to `make(amount - 1)`, each a temporal entity as in a POST body. If the id already exists, the
   * instances are added to that entity.
   *
   * @throws Refusal when one of them is not a temporal entity
   */
  seed(amount: number, make: (index: number) => object, tenant?: string): void {
    const { history } = this.tenants.created(tenant);
    const now = this.clock.now();
    for (let index = 0; index < amount; index += 1) {
      const content = readTemporalEntity(make(index));
      if (content.types === undefined)
        throw refusals.badRequest(`Temporal entity ${content.id} needs a type`);
      history.put({ ...content, types: content.types }, now);
    }
  }
}
