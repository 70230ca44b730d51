import http from 'node:http';
import { stopLater } from './gateway-harness.js';
import { Waiting } from './waiting.js';
import { listening } from './listening.js';

/** A request as it reached the sidecar. */
export interface Arrival {
  readonly method: string;
  readonly url: string;
  /** Names and values alternately, as they arrived. */
  readonly rawHeaders: readonly string[];
  /** Whether the client, or the proxy on its behalf, disconnected before the answer. */
  isGone: boolean;
}

/**
 * Takes the place of the sidecar behind a proxy: it records each request and forwards it to a
 * gateway.
 */
export interface WatchedSidecar {
  readonly port: number;
  readonly arrivals: readonly Arrival[];
  /** Waits for an arrival. */
  until(isMeant: (arrival: Arrival) => boolean): Promise<Arrival>;
}

/**
 * Starts a watched sidecar. It answers some paths itself: `/stub/close` by breaking the connection,
 * `/stub/wait` never, `/stub/length` with the length of the body, `/stub/large` with that many
 * bytes and so long a Link, and `/stub/events` with one event now and another one that `/stub/next` triggers.
 */
export async function startWatchedSidecar(gatewayPort: number): Promise<WatchedSidecar> {
  const arrivals: Arrival[] = [];
  const waiting = new Waiting();
  let listener: http.ServerResponse | undefined;
  const server = http.createServer({ maxHeaderSize: 128 * 1024 }, (req, res) => {
    const { method = '', url = '', rawHeaders } = req;
    const arrival: Arrival = { method, url, rawHeaders, isGone: false };
    arrivals.push(arrival);
    waiting.notify();
    res.on('close', () => {
      arrival.isGone = !res.writableEnded;
      waiting.notify();
    });
    const { pathname, searchParams } = new URL(url, 'http://sidecar');
    switch (pathname) {
      case '/stub/close':
        req.socket.destroy();
        return;
      case '/stub/wait':
        return;
      case '/stub/length': {
        let length = 0;
        req.on('data', (bytes: Buffer) => (length += bytes.length));
        req.on('end', () => res.end(String(length)));
        return;
      }
      case '/stub/large':
        // As long as the links of a page that repeat a long query.
        res.setHeader('link', 'x'.repeat(Number(searchParams.get('link'))));
        res.end(Buffer.alloc(Number(searchParams.get('bytes')), 'x'));
        return;
      case '/stub/events':
        listener = res.writeHead(200, { 'content-type': 'text/event-stream' });
        listener.write('data: first\n\n');
        return;
      case '/stub/next':
        listener?.end('data: second\n\n');
        res.end();
        return;
      default:
        relay(req, res, gatewayPort);
    }
  });
  const { port, close } = await listening(server);
  stopLater(close);
  return {
    port,
    arrivals,
    until: async (isMeant) => waiting.until(() => arrivals.find(isMeant)),
  };
}

function relay(req: http.IncomingMessage, res: http.ServerResponse, port: number): void {
  const { method, url: path, rawHeaders } = req;
  const onward = http.request({ host: '127.0.0.1', port, method, path, headers: rawHeaders, agent: false });
  onward.on('response', (answer) => {
    res.writeHead(answer.statusCode ?? 0, answer.rawHeaders);
    answer.pipe(res);
  });
  onward.on('error', () => res.destroy());
  req.pipe(onward);
}
