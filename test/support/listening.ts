import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that listens on 127.0.0.1. */
export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Closes the server with all its connections; does nothing if it has been closed. */
  readonly close: () => Promise<void>;
}

/** Makes a server listen on a free port. */
export async function listening(server: Server): Promise<Listening> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
