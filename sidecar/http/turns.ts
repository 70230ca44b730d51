import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests that may wait behind the one that is being answered on their connection: more than clients pipeline, and few
 * enough that a connection holds little.
 */
const MAX_WAITING = 100;

const ANSWER = Symbol('answer');

interface Connection extends Socket {
  [ANSWER]?: ServerResponse;
}

/** Starts the requests of each connection one after the other. */
export interface Turns {
  /** Listener that calls `start` when it is the request's turn: once the answers before it have ended. */
  inTurn(start: RequestListener): RequestListener;
  /** Answers that are due or have begun, and have not ended. Waiting requests do not count. */
  readonly count: number;
  /** The answer of the request whose turn it is on a connection. */
  answerOn(socket: Socket): ServerResponse | undefined;
  /** Resolves when there are no such answers. */
  idle(): Promise<void>;
}

/**
 * Clients may send requests without waiting for answers (pipelining, RFC 9112 § 9.3.2). `node:http` hands them out at once,
 * and those whose answers wait behind another never learn that the connection has closed. Here they start in turn,
 * as in servers that read one request at a time; waiting requests end with their connection. Reading goes on, because
 * that is how a disconnect is noticed.
 *
 * @param onTooMany called for each connection that was closed because too many requests waited on it
 */
export function createTurns(onTooMany: (req: IncomingMessage) => void = () => {}): Turns {
  // A number: a Set that gains and loses a response with each request would keep most of them until a full collection.
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
    socket[ANSWER] = res;
    // Those that fail close as well, and all close once.
    res.on('close', noteClosed);
  }

  function wait(req: IncomingMessage, res: ServerResponse, start: RequestListener): void {
    const { socket } = req;
    if (socket.destroyed) {
      // node:http still hands out requests that arrived together with the one too many. It would abort each of them with an
      // error that has a stack: a thousand of those take longer than the requests.
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
    // The answer gets the socket once the one before it has ended.
    res.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      noteOpen(res, socket);
      process.nextTick(() => {
        if (!res.closed) start(req, res);
      });
    });
  }

  return {
    inTurn: (start) => (req, res) => {
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
    answerOn: (socket: Connection) => {
      const answer = socket[ANSWER];
      return answer?.closed === true ? undefined : answer;
    },
    idle: async () => {
      if (count > 0) await new Promise<void>((resolve) => watchers.push(resolve));
    },
  };
}
