import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One kind of request, sent repeatedly. */
export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** A JSON body. */
  readonly body?: string;
  /** The status that every answer must have. */
  readonly status: number;
}

interface WireResult {
  /** From the first request to the last answer, in milliseconds. */
  readonly elapsedMs: number;
  /** One per request, in milliseconds. */
  readonly latenciesMs: readonly number[];
}

/** Open connections to one server. */
export interface WireClient {
  /**
   * Sends requests on all connections at once. Each connection waits for a whole answer before it sends the next request.
   *
   * @throws Error for an answer with another status or without Content-Length, and if a connection ends
   */
  load(request: WireRequest, requests: number): Promise<WireResult>;
  close(): void;
}

const HEAD_END = '\r\n\r\n';

/**
 * Connects to a server to put it under load. Writes and reads bytes without an HTTP client, which would take as long per
 * request as what is measured.
 *
 * @param origin `http://host:port`
 */
export async function connectWire(origin: string, connections: number): Promise<WireClient> {
  const opened = await Promise.all(
    Array.from({ length: connections }, async () => WireConnection.open(origin)),
  );
  return {
    load: async (request, requests) => {
      const bytes = requestBytes(new URL(origin).host, request);
      const latenciesMs: number[] = [];
      let left = requests;
      const work = async (connection: WireConnection) => {
        while (left > 0) {
          left -= 1;
          const sentMs = performance.now();
          await connection.exchange(bytes, request.status);
          latenciesMs.push(performance.now() - sentMs);
        }
      };
      const startedMs = performance.now();
      await Promise.all(opened.map(work));
      return { elapsedMs: performance.now() - startedMs, latenciesMs };
    },
    close: () => {
      for (const connection of opened) connection.close();
    },
  };
}

function requestBytes(host: string, { method, target, body }: WireRequest): Buffer {
  const content =
    body === undefined
      ? []
      : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, 'Accept: application/json', ...content];
  return Buffer.from(`${lines.join('\r\n')}${HEAD_END}${body ?? ''}`);
}

/** One connection, with one request at a time. */
class WireConnection {
  readonly #socket: Socket;
  #head: Buffer = Buffer.alloc(0);
  /** Bytes of the body that are still missing; undefined until the head has arrived. */
  #missing: number | undefined;
  #status = 0;
  #resolve: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#onData(chunk));
    socket.on('error', (error) => this.#reject(error));
    socket.on('close', () => this.#reject(new Error('The server closed a connection.')));
  }

  static async open(origin: string): Promise<WireConnection> {
    const { hostname, port } = new URL(origin);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    return new WireConnection(socket);
  }

  /** Sends a request, and resolves when its whole answer has arrived. */
  async exchange(request: Buffer, status: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#status = status;
      this.#resolve = resolve;
      this.#reject = reject;
      if (this.#socket.destroyed) reject(new Error('The server closed a connection.'));
      else this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #onData(chunk: Buffer): void {
    if (this.#missing !== undefined) this.#missing -= chunk.length;
    else {
      this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
      const end = this.#head.indexOf(HEAD_END);
      if (end === -1) return;
      const head = this.#head.toString('latin1', 0, end);
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
      if (!head.startsWith(`HTTP/1.1 ${this.#status} `) || length === undefined) {
        this.#reject(new Error(`This answer was not expected:\n${head}`));
        return;
      }
      this.#missing = Number(length) - (this.#head.length - end - HEAD_END.length);
      this.#head = Buffer.alloc(0);
    }
    if (this.#missing > 0) return;
    if (this.#missing < 0) this.#reject(new Error('An answer is longer than it says.'));
    this.#missing = undefined;
    this.#resolve();
  }
}
