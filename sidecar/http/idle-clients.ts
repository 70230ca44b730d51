import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { RequestRefusedError } from './errors.js';
import { FAILURE_PROBLEMS } from './forward-problem.js';
import type { Turns } from './turns.js';

/**
 * Closes connections on which nothing moves although it is the client's turn: to go on with its request (answered 408), to
 * read its answer, or to send a first request. A client may wait for its answer as long as that takes.
 *
 * A listener for `timeout` on a request answers its client itself; other readers of its body get an error.
 *
 * @param idleMs time without a byte in either direction
 */
export function closeIdleClients(server: Server, turns: Turns, idleMs: number): void {
  server.timeout = idleMs;
  server.on('timeout', (socket: Socket) => {
    const answer = turns.answerOn(socket);
    if (answer === undefined) {
      socket.destroy();
      return;
    }
    const { req } = answer;
    if (req.listenerCount('timeout') > 0) return;
    if (req.complete) {
      if (socket.writableLength > 0) socket.destroy();
    } else if (!answer.headersSent && req.listenerCount('error') > 0) {
      req.emit('error', new RequestRefusedError(FAILURE_PROBLEMS['slow-client']));
    } else {
      socket.destroy();
    }
  });
}
