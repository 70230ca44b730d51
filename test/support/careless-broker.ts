import http from 'node:http';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { CAREFUL, readTarget, type Carelessness } from './careless-reading.js';
import { listening } from './listening.js';

/** One instance of an attribute. */
export interface Part {
  readonly instanceId: string;
  readonly datasetId?: string;
  readonly observedAt: string;
}

/** An entity, current or temporal: its attributes with their instances. */
export interface CarelessEntity {
  readonly id: string;
  readonly type: string;
  readonly attributes: ReadonlyMap<string, readonly Part[]>;
}

/** An entity of one of the two collections, or one instance of an attribute of it. */
export interface Piece {
  readonly collection: 'entities' | 'temporal';
  readonly entity: CarelessEntity;
  readonly attribute?: string;
  readonly part?: Part;
}

/**
 * A broker that parses requests for single resources carelessly, and deletes what it understands; a
 * delete of a collection empties it. Queries of a collection are parsed correctly.
 */
export interface CarelessBroker {
  readonly url: URL;
  carelessness: Carelessness;
  /** Whether it supports batch delete. */
  hasBatches: boolean;
  /** Which attributes `deleteAll=true` finds; it is 404 for the others. */
  deleteAll: 'all' | 'with-datasets';
  /** What the path of a collection has to end with. */
  collectionEnd: '' | '/';
  /** Fills both collections with the same entities, by id. */
  fill(entities: readonly CarelessEntity[]): void;
  /** Everything that exists. */
  contents(): readonly Piece[];
  /** Received deletes, as method, target and body. */
  readonly deletes: string[];
  /** Targets of the received queries of a collection. */
  readonly queries: string[];
}

type Store = Map<string, CarelessEntity>;
type Collection = Piece['collection'];

interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly count?: number;
}

const NOT_FOUND: Reply = { status: 404, body: { title: 'not found' } };
const GONE: Reply = { status: 204 };

/** Starts a careful broker on a free port; it is closed at the end of the test. */
export async function startCarelessBroker(test: Pick<TestContext, 'after'>): Promise<CarelessBroker> {
  const stores: Record<Collection, Store> = { entities: new Map(), temporal: new Map() };
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
    void text(incoming).then((body) => {
      const { method = '', url = '' } = incoming;
      if (method !== 'GET') broker.deletes.push(`${method} ${url} ${body}`);
      const reply = answer(method, url, body);
      const headers = {
        'content-type': 'application/json',
        ...(reply.count === undefined ? {} : { 'ngsild-results-count': String(reply.count) }),
      };
      response.writeHead(reply.status, headers).end(JSON.stringify(reply.body));
    });
  });
  const { url: address, close } = await listening(server);
  test.after(close);

  function answer(method: string, target: string, body: string): Reply {
    const [, end] = /^[^?]*\/entities(\/?)\?/.exec(target) ?? [];
    const isQuery = end !== undefined;
    if (isQuery) broker.queries.push(target);
    if (isQuery && end !== broker.collectionEnd) return NOT_FOUND;
    const reading = readTarget(target, isQuery ? CAREFUL : broker.carelessness);
    if (reading === undefined) return NOT_FOUND;
    const { segments, query } = reading;
    if (method === 'POST' && segments.join('/') === 'entityOperations/delete') {
      return broker.hasBatches ? batch(stores.entities, JSON.parse(body) as string[]) : { status: 405 };
    }
    const collection: Collection = segments[0] === 'temporal' ? 'temporal' : 'entities';
    const names = segments.slice(collection === 'temporal' ? 1 : 0);
    const [fixed, id, attrs, attribute, instanceId, ...rest] = names;
    if (fixed !== 'entities' || rest.length > 0 || (attrs !== undefined && attrs !== 'attrs'))
      return NOT_FOUND;
    const store = stores[collection];
    if (id === undefined || id === '') {
      if (method === 'GET') return list(store, query);
      store.clear();
      return GONE;
    }
    const entity = store.get(id);
    if (entity === undefined) return NOT_FOUND;
    if (attrs === undefined)
      return method === 'GET' ? { status: 200, body: shown(entity, query) } : drop(store, id);
    if (method === 'GET' || attribute === undefined) return { status: 405 };
    const parts = entity.attributes.get(attribute) ?? [];
    const hasDatasets = parts.some(({ datasetId }) => datasetId !== undefined);
    const isUnknown = broker.deleteAll === 'with-datasets' && !hasDatasets;
    if (query.get('deleteAll') === 'true' && isUnknown) return NOT_FOUND;
    const kept = parts.filter((part) => !isMeant(part, instanceId, query));
    if (kept.length === parts.length) return NOT_FOUND;
    const attributes = new Map(entity.attributes);
    if (kept.length === 0) attributes.delete(attribute);
    else attributes.set(attribute, kept);
    store.set(id, { ...entity, attributes });
    return GONE;
  }

  const broker: CarelessBroker = {
    url: new URL(address),
    carelessness: CAREFUL,
    hasBatches: false,
    deleteAll: 'all',
    collectionEnd: '',
    deletes: [],
    queries: [],
    fill(entities) {
      for (const store of Object.values(stores)) {
        store.clear();
        for (const entity of entities) store.set(entity.id, entity);
      }
    },
    contents: () => [...piecesOf('entities', stores.entities), ...piecesOf('temporal', stores.temporal)],
  };
  return broker;
}

function piecesOf(collection: Collection, store: Store): Piece[] {
  return [...store.values()].flatMap((entity) => [
    { collection, entity },
    ...[...entity.attributes].flatMap(([attribute, parts]) =>
      parts.map((part) => ({ collection, entity, attribute, part })),
    ),
  ]);
}

function drop(store: Store, id: string): Reply {
  store.delete(id);
  return GONE;
}

function batch(store: Store, ids: readonly string[]): Reply {
  const errors = ids
    .filter((id) => !store.delete(id))
    .map((entityId) => ({ entityId, error: { status: 404, title: 'not found' } }));
  return errors.length === 0 ? GONE : { status: 207, body: { success: [], errors } };
}

function isMeant(
  { instanceId, datasetId }: Part,
  wanted: string | undefined,
  query: URLSearchParams,
): boolean {
  if (wanted !== undefined) return instanceId === wanted;
  return query.get('deleteAll') === 'true' || (query.get('datasetId') ?? undefined) === datasetId;
}

function list(store: Store, query: URLSearchParams): Reply {
  const found = [...store.values()].filter(
    (entity) => entity.type === query.get('type') && Object.keys(shown(entity, query)).length > 2,
  );
  const offset = Number(query.get('offset') ?? 0);
  const page = found.slice(offset, offset + Number(query.get('limit') ?? 20));
  return { status: 200, count: found.length, body: page.map((entity) => shown(entity, query)) };
}

/** Returns the entity with the instances that the query selects. */
function shown({ id, type, attributes }: CarelessEntity, query: URLSearchParams): object {
  const members = [...attributes].flatMap(([name, parts]) => {
    const meant = parts.filter((part) => isChosen(name, part, query));
    return meant.length === 0
      ? []
      : [[name, meant.map((part) => ({ type: 'Property', value: 1, ...part }))] as const];
  });
  return { id, type, ...Object.fromEntries(members) };
}

function isChosen(name: string, { datasetId = '@none', observedAt }: Part, query: URLSearchParams): boolean {
  const isNamed = (parameter: string, value: string) =>
    query.get(parameter)?.split(',').includes(value) !== false;
  const [timerel, timeAt = ''] = [query.get('timerel'), query.get('timeAt') ?? undefined];
  if (query.has('timeproperty')) return isNamed('attrs', name) && isNamed('datasetId', datasetId);
  const isInTime = timerel === null || (timerel === 'before' ? observedAt < timeAt : observedAt >= timeAt);
  return isInTime && isNamed('attrs', name) && isNamed('datasetId', datasetId);
}
