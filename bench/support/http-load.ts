import { Client } from 'undici';

export interface Load {
  readonly url: string;
  /** A JSON body, sent with POST; without a body, the requests are GETs. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The status that every answer must have. */
  readonly status: number;
  readonly connections: number;
  readonly requests: number;
}

/**
 * Sends requests over several connections. Each connection waits for an answer before it sends the next request.
 *
 * @returns requests per second
 * @throws Error for an answer with another status
 */
export async function requestsPerSecond(load: Load): Promise<number> {
  const { origin, pathname, search } = new URL(load.url);
  const clients = Array.from({ length: load.connections }, () => new Client(origin, { pipelining: 1 }));
  let left = load.requests;
  const { body: sent, headers = {} } = load;
  const request = {
    path: pathname + search,
    ...(sent === undefined
      ? { method: 'GET' as const, headers }
      : { method: 'POST' as const, headers: { 'content-type': 'application/json', ...headers }, body: sent }),
  };
  const work = async (client: Client) => {
    while (left > 0) {
      left -= 1;
      const { statusCode, body } = await client.request(request);
      await body.dump({ limit: 1024 * 1024 });
      if (statusCode !== load.status) throw new Error(`${load.url} answered ${statusCode}`);
    }
  };
  const startedMs = performance.now();
  try {
    await Promise.all(clients.map(work));
  } finally {
    await Promise.all(clients.map(async (client) => client.close()));
  }
  return (load.requests / (performance.now() - startedMs)) * 1000;
}
