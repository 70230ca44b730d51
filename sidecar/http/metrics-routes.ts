import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { answerProblem } from './forward-problem.js';
import { problem } from './refused.js';
import { unexpectedProblem } from './problem.js';

/** Metrics in the format of a monitoring system. */
export interface MetricsPage {
  readonly contentType: string;
  text(): Promise<string>;
}

const PATH = '/metrics';

/**
 * Registers `GET /metrics`. It is public like the health routes: a monitoring system has no token, and metrics reveal
 * no data.
 */
export function registerMetricsRoute(app: FastifyInstance, page: MetricsPage): void {
  app.get(PATH, async (_request, reply) => {
    const text = await page.text();
    return reply.header('content-type', page.contentType).header('cache-control', 'no-store').send(text);
  });
}

export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

const NOT_FOUND = problem('notFound', `There is nothing but GET ${PATH} on this port.`);

/** The address of the metrics server, and who is told about failed reads. */
export interface MetricsServerOptions {
  readonly host: string;
  readonly port: number;
  /** Called if the metrics cannot be read. Must not throw. */
  readonly onFailed: (error: unknown) => void;
}

/** Serves only the metrics, on a separate port. @throws the listen error, e.g. EADDRINUSE */
export async function startMetricsServer(
  page: MetricsPage,
  { host, port, onFailed }: MetricsServerOptions,
): Promise<MetricsServer> {
  const server = createServer((req, res) => void answer(page, req, res, onFailed));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { address, port: boundPort, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${boundPort}${PATH}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  page: MetricsPage,
  req: IncomingMessage,
  res: ServerResponse,
  onFailed: MetricsServerOptions['onFailed'],
): Promise<void> {
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  if (!isRead || req.url?.split('?', 1)[0] !== PATH) {
    answerProblem(req, res, NOT_FOUND);
    return;
  }
  try {
    const text = Buffer.from(await page.text());
    res.writeHead(200, {
      'Content-Type': page.contentType,
      'Content-Length': text.length,
      'Cache-Control': 'no-store',
    });
    res.end(text);
  } catch (error) {
    onFailed(error);
    answerProblem(req, res, { detail: '', ...unexpectedProblem() });
  }
}
