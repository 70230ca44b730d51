import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { stopLater } from './gateway-harness.js';
import { listening } from './listening.js';

export interface SlowBrokerOptions {
  readonly entities: number;
  /** The duration of the delete of one entity; the broker deletes one after the other. */
  readonly msEach: number;
  /**
   * Whether a batch whose client has disconnected is abandoned in the middle; otherwise it is
   * completed.
   */
  readonly dropsUnwanted: boolean;
}

/** A broker that deletes slowly, and counts the deletes that had an effect. */
export class SlowBroker {
  readonly #options: SlowBrokerOptions;
  readonly #there: Set<string>;
  readonly #watchers: { readonly left: number; readonly tell: () => void }[] = [];
  #turn: Promise<void> = Promise.resolve();
  /** Deletes that had an effect. */
  deletes = 0;
  url = '';

  private constructor(options: SlowBrokerOptions) {
    this.#options = options;
    this.#there = new Set(Array.from({ length: options.entities }, (_, n) => `urn:ngsi-ld:Car:${String(n)}`));
  }

  static async start(options: SlowBrokerOptions): Promise<SlowBroker> {
    const broker = new SlowBroker(options);
    const server = createServer((request, response) => void broker.#answer(request, response));
    const { url, close } = await listening(server);
    broker.url = url;
    stopLater(close);
    return broker;
  }

  get left(): number {
    return this.#there.size;
  }

  /** Resolves when at most that many entities are left. */
  async until(left: number): Promise<void> {
    if (this.left <= left) return;
    await new Promise<void>((tell) => this.#watchers.push({ left, tell }));
  }

  /** Adds an entity, as another client would. */
  add(id: string): void {
    this.#there.add(id);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await read(request);
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://broker');
    if (request.method === 'GET') {
      const isProbe = decodeURIComponent(request.url ?? '').includes('PurgeProbe');
      const all = isProbe ? [] : [...this.#there];
      const offset = Number(searchParams.get('offset') ?? 0);
      const page = all.slice(offset, offset + Number(searchParams.get('limit') ?? 20));
      response.writeHead(200, {
        'content-type': 'application/json',
        'ngsild-results-count': String(all.length),
      });
      response.end(JSON.stringify(page.map((id) => ({ id, type: 'Car' }))));
      return;
    }
    const isBatch = request.method === 'POST';
    const ids = isBatch
      ? (JSON.parse(body) as string[])
      : [decodeURIComponent(pathname.split('/').at(-1) ?? '')];
    const mine = this.#turn.then(() => this.#remove(ids, response));
    this.#turn = mine.then(() => {});
    const missing = await mine;
    if (missing.length === 0) response.writeHead(204).end();
    else if (!isBatch) response.writeHead(404).end();
    else {
      const error = { status: 404, title: 'Entity Not Found' };
      response.writeHead(207, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ success: [], errors: missing.map((entityId) => ({ entityId, error })) }));
    }
  }

  /** @returns the ids that did not exist */
  async #remove(ids: readonly string[], response: ServerResponse): Promise<readonly string[]> {
    const { msEach, dropsUnwanted } = this.#options;
    const missing: string[] = [];
    for (const id of ids) {
      if (dropsUnwanted && response.destroyed) break;
      await sleep(msEach);
      if (this.#there.delete(id)) this.deletes += 1;
      else missing.push(id);
      for (const { left, tell } of this.#watchers) if (this.left <= left) tell();
    }
    return missing;
  }
}

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
