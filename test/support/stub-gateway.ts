import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { stopLater } from './gateway-harness.js';
import { Waiting } from './waiting.js';

/** A request as it reached the stub. */
export interface GatewayRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type StubRecord = Readonly<Record<string, unknown>> & { readonly id: string; readonly state: string };

/** A record as contract § 6 has it. */
export function stubRecord(members: Readonly<Record<string, unknown>> = {}): StubRecord {
  return {
    ...{ id: 'p-1', state: 'running', target: 'entities', unit: 'entities', query: 'type=A', tenant: null },
    ...{ caller: 'anonymous', requestId: 'r-1', worker: 'w', dryRun: false, policy: {} },
    ...{
      matched: 100,
      deleted: 0,
      alreadyGone: 0,
      failed: 0,
      unknown: 0,
      arrived: 0,
      requests: 1,
      retries: 0,
    },
    ...{
      createdAt: '2026-01-01T00:00:00.000Z',
      startedAt: '2026-01-01T00:00:00.000Z',
      errors: [],
      warnings: [],
    },
    ...members,
  };
}

/** What a listener of events gets, piece by piece: a record, a pause until the test goes on, or a broken connection. */
export type StubStep = StubRecord | 'wait-for-cancel' | 'break' | 'end' | 'heartbeat';

/** The answer to every request, in place of all others; or none, and a broken connection. */
export type Refusal = { readonly status: number; readonly problem: object } | 'reset';

/** The purge routes of a gateway, as the contract has them, on a free port. */
export class StubGateway {
  readonly requests: GatewayRequest[] = [];
  readonly #waiting = new Waiting();
  readonly #steps: StubStep[];
  readonly #refusal: Refusal | undefined;
  url = '';
  #isCancelled = false;

  private constructor(steps: readonly StubStep[], refusal?: Refusal) {
    this.#steps = [...steps];
    this.#refusal = refusal;
  }

  /**
   * @param steps of the events of purge p-1; a broken connection is taken up where it broke
   * @param refusal the answer to every request, in place of all others
   */
  static async start(steps: readonly StubStep[], refusal?: Refusal): Promise<StubGateway> {
    const stub = new StubGateway(steps, refusal);
    const server = createServer((req, res) => void stub.#answer(req, res));
    stub.url = await listen(server);
    return stub;
  }

  /** The requests to a path, its query apart. */
  to(method: string, path: string): readonly GatewayRequest[] {
    return this.requests.filter(
      (request) => request.method === method && request.url.split('?', 1)[0] === path,
    );
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = req;
    this.requests.push({ method, url, headers, body: await text(req) });
    const [path = ''] = url.split('?', 1);
    const json = (status: number, body: unknown, more: Readonly<Record<string, string>> = {}) =>
      res.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(body));
    if (this.#refusal === 'reset') res.destroy();
    else if (this.#refusal !== undefined) json(this.#refusal.status, this.#refusal.problem);
    else if (method === 'DELETE') json(200, { matched: 100, sample: ['urn:a:1', 'urn:a:2'] });
    else if (method === 'POST' && path === '/api/v2/purges')
      json(202, stubRecord({ state: 'queued' }), { location: '/api/v2/purges/p-1' });
    else if (method === 'GET' && path === '/api/v2/purges')
      json(200, [stubRecord({ state: 'succeeded', deleted: 100 }), stubRecord({ id: 'p-0', dryRun: true })], {
        'x-total-count': '7',
      });
    else if (path === '/api/v2/purges/p-1/events') await this.#events(res);
    else if (path === '/api/v2/purges/p-1/cancel') {
      this.#isCancelled = true;
      this.#waiting.notify();
      json(202, stubRecord({ state: 'cancelling' }));
    } else if (path === '/api/v2/purges/p-1') json(200, stubRecord({ state: 'running' }));
    else json(404, { type: 'about:blank', title: 'Not found', status: 404, detail: `There is no ${path}.` });
  }

  async #events(res: ServerResponse): Promise<void> {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let step = this.#steps.shift(); step !== undefined; step = this.#steps.shift()) {
      if (step === 'break') return void res.destroy();
      if (step === 'end') break;
      if (step === 'heartbeat') res.write(': still there\n\n');
      else if (step === 'wait-for-cancel')
        await this.#waiting.until(() => (this.#isCancelled ? true : undefined));
      else {
        res.write(`id: ${String(step['deleted'])}\ndata: ${JSON.stringify(step)}\n\n`);
        // A write of its own, so that a break behind it does not take it along.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    res.end();
  }
}

/** What a server that is no gateway answers; 'reset' is a broken connection. */
export type Answering = (
  request: GatewayRequest,
) => 'reset' | { readonly status?: number; readonly text: string };

/** Answers every request as it is told, whatever a gateway would. @returns its URL */
export async function startAnswering(answer: Answering): Promise<string> {
  const server = createServer((req, res) => {
    void text(req).then((body) => {
      const { method = '', url = '', headers } = req;
      const answered = answer({ method, url, headers, body });
      if (answered === 'reset') res.destroy();
      else
        res
          .writeHead(answered.status ?? 200, { 'content-type': 'application/json', etag: '"e"' })
          .end(answered.text);
    });
  });
  return listen(server);
}

/** On a free port, until the tests of the file are over. @returns its URL */
async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stopLater(async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
