import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Raw connections to one server. They stay open until they are closed together, or the server closes them. */
export class Sockets {
  readonly #host: string;
  readonly #port: number;
  readonly #open = new Set<Socket>();

  /** @param origin `http://host:port` */
  constructor(origin: string) {
    const { hostname, port } = new URL(origin);
    this.#host = hostname;
    this.#port = Number(port);
  }

  /** Opens a connection. @throws the error of the connection, e.g. ECONNREFUSED */
  async connect(): Promise<Socket> {
    const socket = connect({ host: this.#host, port: this.#port });
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    await once(socket, 'connect');
    // The server may close the connection at any time.
    socket.on('error', () => undefined);
    return socket;
  }

  async connectMany(number: number): Promise<readonly Socket[]> {
    return Promise.all(Array.from({ length: number }, async () => this.connect()));
  }

  /** Sends bytes on a new connection. @returns the status of the first answer; 0 if the connection ends without one */
  async exchange(bytes: string | Buffer): Promise<number> {
    const socket = await this.connect();
    socket.write(bytes);
    return statusFrom(socket);
  }

  /** Number of open connections. */
  get count(): number {
    return this.#open.size;
  }

  closeAll(): void {
    for (const socket of this.#open) socket.destroy();
  }
}

/** Returns the status of the first answer on a connection, which is then closed; 0 if there is none. */
export async function statusFrom(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      if (text.length < 12) text += chunk.toString('latin1', 0, 12);
      if (text.length < 12) return;
      resolve(Number(text.slice(9, 12)));
      socket.destroy();
    });
    socket.once('close', () => resolve(0));
  });
}

/** Counts how often each value occurs, e.g. `400 × 431, 2 × 200`. */
export function tally(values: readonly (number | string)[]): string {
  const counts = new Map<number | string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => `${count} × ${value}`).join(', ');
}
