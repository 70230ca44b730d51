import assert from 'node:assert/strict';
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { ApiClient, makeModel } from '../integration/api-client.js';
import { PATIENT, startTestGateway, stopLater, type TestGateway } from './gateway-harness.js';
import { Waiting } from './waiting.js';
import { listening } from './listening.js';

export const ENTITIES = '/ngsi-ld/v1/entities';
const SCHEMA = {
  type: 'object',
  properties: { type: { const: 'Car' }, speed: { type: 'number' }, load: { type: 'string' } },
  required: ['id', 'type', 'speed'],
};
export const car = (speed: unknown, more: object = {}) => ({
  id: 'urn:ngsi-ld:Car:1',
  type: 'Car',
  speed,
  ...more,
});

/** What happens to a write at the broker, by its header x-mishap. */
const MISHAPS: Readonly<Record<string, (res: ServerResponse) => void>> = {
  reset: (res) => res.destroy(),
  half: (res) => res.writeHead(201, { 'content-length': '100' }).write('abc', () => res.destroy()),
  failure: (res) => res.writeHead(503, { 'x-broker': 'mine', 'retry-after': '7' }).end('no'),
  silence: () => undefined,
};

interface SeenRequest {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Whether the gateway has disconnected. */
  isGone: boolean;
}

/**
 * A broker with mishaps. It does not answer a query for an entity whose id ends with "slow", and
 * hides one whose id ends with "hidden". It closes the connection of the first query for one whose id ends with "stale".
 */
export class UnluckyBroker {
  readonly seen: SeenRequest[] = [];
  readonly waiting = new Waiting();
  url = '';
  #isStaleOver = false;

  async start(): Promise<this> {
    const server = createServer((incoming, outgoing) => void this.#take(incoming, outgoing));
    const { url, close } = await listening(server);
    stopLater(close);
    this.url = url;
    return this;
  }

  get writes(): readonly SeenRequest[] {
    return this.seen.filter(({ method }) => method !== 'GET');
  }

  until = <Found>(look: () => Found | undefined): Promise<Found> => this.waiting.until(look);

  async #take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = incoming;
    const seen: SeenRequest = { method, headers, body: '', isGone: false };
    outgoing.once('close', () => {
      seen.isGone = !outgoing.writableFinished;
      this.waiting.notify();
    });
    const body = await buffer(incoming).catch(() => undefined);
    if (body === undefined) return;
    this.seen.push(Object.assign(seen, { body: body.toString() }));
    this.waiting.notify();
    if (method !== 'GET') {
      const mishap = MISHAPS[String(headers['x-mishap'])];
      if (mishap === undefined) outgoing.writeHead(201).end();
      else mishap(outgoing);
    } else if (url.includes('stale') && !this.#isStaleOver) {
      this.#isStaleOver = true;
      outgoing.destroy();
    } else if (url.includes('hidden')) outgoing.writeHead(403).end();
    else if (!url.includes('slow')) {
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ id: 'urn:ngsi-ld:Car:1', type: 'Car' }));
    }
  }
}

/** Sends a write by hand: POST of entities, otherwise PATCH. */
export function sending(
  gateway: TestGateway,
  path: string,
  body: string,
  headers: Readonly<Record<string, string | number>> = {},
): ClientRequest {
  const method = path === ENTITIES ? 'POST' : 'PATCH';
  const length = Buffer.byteLength(body);
  return request({
    host: '127.0.0.1',
    port: gateway.port,
    method,
    path,
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': length, ...headers },
  }).on('error', () => undefined);
}

/** Starts a gateway in front of such a broker that refuses everything but valid cars. */
export async function enforcing(
  broker: { readonly url: string },
  env: Readonly<Record<string, string>> = {},
): Promise<TestGateway> {
  const gateway = await startTestGateway({ BROKER_URL: broker.url, LOG_LEVEL: 'silent', ...PATIENT, ...env });
  const api = await ApiClient.of(gateway.url);
  await makeModel(api, 'D', 'Car', SCHEMA);
  const made = await api.put('/write-policies/all', { mode: 'enforce', onUnjudged: 'refuse' });
  assert.equal(made.status, 201, made.text);
  // The first judgement is slow because the worker has to load.
  for (let status = 503; status === 503;) {
    const body = JSON.stringify(car('fast'));
    ({ status } = await gateway.send('POST', ENTITIES, {
      headers: { 'content-type': 'application/json' },
      body,
    }));
  }
  return gateway;
}
