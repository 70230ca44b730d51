import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Turns } from './turns.js';
import { answerUnreadable } from './unreadable-request.js';

/**
 * Closes connections on which nothing moves while it is for the client to go on: with its request, which is answered 408,
 * with taking an answer, or with a first request. A client that waits for its answer may wait as long as that takes.
 *
 * What listens for `timeout` on a request answers its client itself.
 *
 * @param idleMs time without a byte in either direction
 */
export function closeIdleClients(server: Server, turns: Turns, idleMs: number): void {
  server.timeout = idleMs;
  server.on('timeout', (socket: Socket) => {
    const answer = turns.answerOn(socket);
    if (answer !== undefined && answer.req.listenerCount('timeout') > 0) return;
    if (answer?.req.complete === true) {
      if (socket.writableLength > 0) socket.destroy();
    } else if (answer === undefined || answer.headersSent) {
      socket.destroy();
    } else {
      const tooSlow = new Error('The body took too long to arrive.');
      answerUnreadable(Object.assign(tooSlow, { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
    }
  });
}
