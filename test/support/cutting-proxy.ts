import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * A proxy between a client and a server of any protocol, which cuts connections at a given text.
 */
export class CuttingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #word: { readonly text: string; readonly isPassedOn: boolean } | undefined;
  #isSilent = false;
  #isRefusing = false;
  /** The number of connections so far. */
  connections = 0;

  static async start(port: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(port);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  private constructor(port: number) {
    this.#server = createServer((client) => {
      this.connections += 1;
      if (this.#isRefusing) {
        client.destroy();
        return;
      }
      const server = connect(port, '127.0.0.1');
      let isCut = false;
      const end = () => {
        client.destroy();
        server.destroy();
      };
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.on('error', end).on('close', () => {
          this.#sockets.delete(socket);
          end();
        });
      }
      client.on('data', (chunk: Buffer) => {
        const word = this.#word;
        if (word !== undefined && chunk.includes(word.text)) {
          this.#word = undefined;
          isCut = true;
          if (!word.isPassedOn) {
            end();
            return;
          }
        }
        if (!this.#isSilent) server.write(chunk);
      });
      server.on('data', (chunk: Buffer) => {
        // The answer to the text: the request was executed, and the client never learns of it.
        if (isCut) end();
        else if (!this.#isSilent) client.write(chunk);
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /**
   * Cuts the next connection over which a client sends a text, before or after the server has
   * processed it.
   */
  cutAt(text: string, when: 'before' | 'after'): void {
    this.#word = { text, isPassedOn: when === 'after' };
  }

  /** From now on, forwards nothing and closes nothing. */
  silence(): void {
    this.#isSilent = true;
  }

  /** Cuts all connections, and every new one at once. */
  refuse(): void {
    this.cutAll();
    this.#isRefusing = true;
  }

  /** Cuts all connections, and accepts new ones again. */
  cutAll(): void {
    this.#isSilent = false;
    this.#isRefusing = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cutAll();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
