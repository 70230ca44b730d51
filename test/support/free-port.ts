import { once } from 'node:events';
import { createServer } from 'node:net';
import { errorCode } from '../../sidecar/shared/errors.js';

/** Ports below those that systems give to connections and to servers on port 0. */
const FIRST = 20_000;
const COUNT = 12_000;

/**
 * Returns a port of 127.0.0.1 on which nothing listens. It stays free until it is used, since the
 * system gives it to no other connection.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      (error: unknown) => {
        if (errorCode(error) === 'EADDRINUSE') return false;
        throw error;
      },
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
