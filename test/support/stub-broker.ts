import http from 'node:http';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { answerAttribute, answerBatch, answerCollection, answerSingle } from './stub-broker-delete.js';
import type { StubEntity } from './stub-broker-filter.js';
import { exemplary, type Oddities } from './stub-broker-oddities.js';
import { answerQuery, answerRetrieval } from './stub-broker-query.js';
import {
  LONG_AGO,
  problem,
  seededRandom,
  type StubReply,
  type StubRequest,
  type StubState,
} from './stub-broker-state.js';
import { listening } from './listening.js';

/** The fault of a request: another answer, a broken connection, or no answer. */
export type Fault = StubReply | 'reset-before' | 'reset-after' | 'hang';

export interface StubBrokerOptions extends Partial<Oddities> {
  readonly entities?: readonly StubEntity[];
  /** The tenant that has the entities; by default the default tenant. */
  readonly tenant?: string;
  /** Called before a request is processed. Returns its fault, if any. */
  readonly fault?: (request: StubRequest, broker: StubBroker) => Fault | undefined;
  /** Called after each request has been processed. */
  readonly after?: (request: StubRequest, broker: StubBroker) => void;
  readonly seed?: number;
}

/**
 * A small broker for tests, without delays and with configurable oddities. Shares no code with the
 * product.
 */
export interface StubBroker {
  readonly url: URL;
  readonly entities: Map<string, StubEntity>;
  /** Every request, in order of arrival. */
  readonly requests: readonly StubRequest[];
  of(kind: StubRequest['kind']): readonly StubRequest[];
}

const API_ROOT = '/ngsi-ld/v1/';

/** Starts a stub broker on a free port; it is closed at the end of the test. */
export async function startStubBroker(
  test: Pick<TestContext, 'after'>,
  options: StubBrokerOptions = {},
): Promise<StubBroker> {
  const { entities = [], tenant, fault, after, seed = 1, ...oddities } = options;
  const state: StubState = {
    entities: new Map(entities.map((entity) => [entity.id, entity])),
    tenant,
    stale: new Map(),
    oddities: { ...exemplary, ...oddities },
    random: seededRandom(seed),
    created: new WeakMap(entities.map((entity) => [entity, LONG_AGO])),
  };
  const requests: StubRequest[] = [];
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
    void text(incoming).then((body) => {
      const request = parseRequest(incoming, body);
      requests.push(request);
      const wrong = fault?.(request, broker);
      if (wrong === 'hang') return;
      if (wrong === 'reset-before') return void incoming.socket.destroy();
      const reply = wrong === undefined || wrong === 'reset-after' ? answer(state, request) : wrong;
      after?.(request, broker);
      if (wrong === 'reset-after') return void incoming.socket.destroy();
      const { status, headers = {} } = reply;
      const content = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body);
      response.writeHead(status, headers).end(content);
    });
  });
  const { url, close } = await listening(server);
  test.after(close);
  const broker: StubBroker = {
    url: new URL(url),
    entities: state.entities,
    requests,
    of: (kind) => requests.filter((request) => request.kind === kind),
  };
  return broker;
}

function answer(state: StubState, request: StubRequest): StubReply {
  const { oddities } = state;
  const tenantHeader = oddities.tenantHeaders.find((name) => request.headers[name] !== undefined);
  const tenant = tenantHeader === undefined ? undefined : request.headers[tenantHeader];
  if (tenant !== state.tenant) return answerOtherTenant(tenant !== undefined, oddities.unknownTenant);
  switch (request.kind) {
    case 'query':
      return answerQuery(state, request);
    case 'retrieve':
      return answerRetrieval(state, request);
    case 'batch':
      return answerBatch(state, request);
    case 'single':
      return answerSingle(state, request);
    case 'attribute':
      return answerAttribute(state, request);
    case 'collection':
      return answerCollection(state, request);
    case 'other':
      return problem(404, 'ResourceNotFound', 'no such resource');
  }
}

/**
 * Answers a request for another tenant than the one with the entities. The default tenant is then
 * empty, and no other tenant exists.
 */
function answerOtherTenant(isNamed: boolean, status: number): StubReply {
  if (!isNamed || status === 200) return { status: 200, headers: { 'ngsild-results-count': '0' }, body: [] };
  return problem(status, 'NonexistentTenant', 'no such tenant');
}

function parseRequest({ method = '', url = '', headers }: http.IncomingMessage, body: string): StubRequest {
  const [path = '', search = ''] = url.split('?', 2);
  const [first, second, third, fourth, ...rest] = path.startsWith(API_ROOT)
    ? path.slice(API_ROOT.length).split('/').map(decodeURIComponent)
    : [];
  const common = { method, target: url, query: new URLSearchParams(search), headers, body, ids: [] };
  if (rest.length > 0) return { ...common, kind: 'other' };
  if (method === 'POST' && first === 'entityOperations' && second === 'delete') {
    return { ...common, kind: 'batch', ids: JSON.parse(body) as string[] };
  }
  if (first !== 'entities') return { ...common, kind: 'other' };
  if (second === undefined || second === '') {
    return { ...common, kind: method === 'GET' ? 'query' : 'collection' };
  }
  if (method === 'GET' && third === undefined) return { ...common, kind: 'retrieve', id: second };
  if (method === 'DELETE' && third === undefined) return { ...common, kind: 'single', id: second };
  if (method === 'DELETE' && third === 'attrs' && fourth !== undefined) {
    return { ...common, kind: 'attribute', id: second, attribute: fourth };
  }
  return { ...common, kind: 'other' };
}
