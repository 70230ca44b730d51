import { IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TurnQueue } from '../shared/event-loop.js';

/**
 * Maximum number of requests that may wait behind the one being answered on their connection: more than clients
 * pipeline, but few enough that a connection uses little memory.
 */
const MAX_WAITING = 100;

const CURRENT_RESPONSE = Symbol('answer');

interface Connection extends Socket {
  [CURRENT_RESPONSE]?: ServerResponse;
}

/** Starts the requests of each connection one after the other. */
export interface RequestPipeline {
  /** Returns a listener that calls `start` when it is the request's turn, after the previous answers have ended. */
  serialized(start: RequestListener): RequestListener;
  /** Number of answers that are due or have begun, but have not ended. Waiting requests do not count. */
  readonly count: number;
  /** The answer to the request whose turn it is on a connection. */
  currentResponse(socket: Socket): ServerResponse | undefined;
  /** Resolves when `count` is 0. */
  idle(): Promise<void>;
}

/**
 * Starts pipelined requests in turn. Clients may send requests without waiting for answers (pipelining, RFC 9112
 * § 9.3.2). `node:http` emits these requests immediately, and those whose answers wait behind another never learn that
 * the connection has closed. Here they start in turn, as in servers that read one request at a time; waiting requests
 * end with their connection. Reading continues, because that is how a disconnect is noticed.
 *
 * @param onTooMany called for each connection that was closed because too many requests waited on it
 */
export function createRequestPipeline(onTooMany: (req: IncomingMessage) => void = () => {}): RequestPipeline {
  // A number: a Set to which each request adds and removes a response would keep most of them until a full garbage
  // collection.
  let count = 0;
  let watchers: (() => void)[] = [];
  const waiting = new WeakMap<Socket, number>();

  function noteClosed(): void {
    count -= 1;
    if (count > 0) return;
    for (const wake of watchers) wake();
    watchers = [];
  }

  function noteOpen(res: ServerResponse, socket: Connection): void {
    count += 1;
    socket[CURRENT_RESPONSE] = res;
    // Failed responses close as well, and each one closes once.
    res.on('close', noteClosed);
  }

  function wait(req: IncomingMessage, res: ServerResponse, start: RequestListener): void {
    const { socket } = req;
    if (socket.destroyed) {
      // node:http still emits requests that arrived together with the one that was too many. It would abort each of
      // them with an error that has a stack; a thousand of those take longer than the requests.
      req.destroy();
      return;
    }
    const number = (waiting.get(socket) ?? 0) + 1;
    if (number > MAX_WAITING) {
      onTooMany(req);
      socket.destroy();
      return;
    }
    waiting.set(socket, number);
    // The answer gets the socket after the previous answer has ended.
    res.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      noteOpen(res, socket);
      process.nextTick(() => {
        if (!res.closed) start(req, res);
      });
    });
  }

  return {
    serialized: (start) => (req, res) => {
      if (res.socket === null) {
        wait(req, res, start);
        return;
      }
      noteOpen(res, req.socket);
      start(req, res);
    },
    get count() {
      return count;
    },
    currentResponse: (socket: Connection) => {
      const answer = socket[CURRENT_RESPONSE];
      return answer?.closed === true ? undefined : answer;
    },
    idle: async () => {
      if (count > 0) await new Promise<void>((resolve) => watchers.push(resolve));
    },
  };
}

/** After so many chunks of a body, other connections have their turn. */
const MAX_CHUNKS = 256;

/**
 * Requests whose body has many small chunks read on one after the other, each in a turn of the event loop: Node.js reads
 * up to 2 MiB of a connection at once, and with chunks of one byte that takes a second.
 */
const turns = new TurnQueue();

/** A request that lets others go first if its body has very many chunks. For the option `IncomingMessage` of a server. */
export class PacedRequest extends IncomingMessage {
  #chunks = 0;
  /** Whether its reader asked for more while others have their turn. */
  #isReadLater = false;

  /** @returns false if Node.js must read no more of the connection for now */
  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    const wantsMore = super.push(chunk, encoding);
    this.#chunks += 1;
    if (this.#chunks < MAX_CHUNKS) return wantsMore;
    if (this.#chunks === MAX_CHUNKS) void turns.nextTurn().then(() => this.#readOn());
    return false;
  }

  override _read(size: number): void {
    if (this.#chunks < MAX_CHUNKS) super._read(size);
    else this.#isReadLater = true;
  }

  #readOn(): void {
    this.#chunks = 0;
    if (!this.#isReadLater) return;
    this.#isReadLater = false;
    if (!this.destroyed && !this.complete) super._read(0);
  }
}
