import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { onSendHookHandler } from 'fastify';

/**
 * Answers that are ready before the body of their request has arrived: closing the connection under a sender resets it,
 * and the sender could lose the answer. The rest of the body is read and discarded, within limits.
 */

const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;
const DISCARD_MS = 30_000;

/** Longest pause in the body. A sender that waits for the answer has it by then. */
const DISCARD_IDLE_MS = 5000;

/** Emitted on a request whose rest cannot be read: nothing more of it comes. */
export const UNREADABLE = 'unreadable';

/** True when more of the request's body is to come. */
function isUploading(req: IncomingMessage): boolean {
  return !req.complete && !req.destroyed && hasBody(req);
}

/** True when a request announces a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Reads and discards the rest of a body.
 *
 * @param onRead called once it has been read
 * @param onTimeUp called instead when the sender takes too long; one that sends too much is cut off
 */
function discard(
  req: IncomingMessage,
  onRead: () => void,
  onTimeUp: () => void,
  idleMs = DISCARD_IDLE_MS,
): void {
  const deadlineMs = performance.now() + DISCARD_MS;
  let discarded = 0;
  const idle = setTimeout(onTimeUp, idleMs);
  req.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > MAX_DISCARDED_BYTES) req.socket.destroy();
    else if (performance.now() < deadlineMs) idle.refresh();
  });
  req.once('end', onRead);
  req.once('close', () => clearTimeout(idle));
  req.resume();
}

/** The same beside an answer that is complete, on a connection that stays open. */
function discardBehind(req: IncomingMessage, idleMs?: number): void {
  req.once(UNREADABLE, () => req.socket.destroySoon());
  discard(
    req,
    () => {},
    () => req.socket.destroy(),
    idleMs,
  );
}

/** The same before the end of an answer that closes the connection. */
function discardBefore(req: IncomingMessage, end: () => void, idleMs?: number): void {
  let isDone = false;
  const endOnce = () => {
    if (!isDone) end();
    isDone = true;
  };
  req.once(UNREADABLE, endOnce);
  discard(req, endOnce, endOnce, idleMs);
}

/**
 * Ends a response whose head and body are written, although the request may still be coming in.
 *
 * @param idleMs for the sender to go on with its body
 */
export function endAfterUpload(req: IncomingMessage, res: ServerResponse, idleMs?: number): void {
  if (!isUploading(req)) {
    res.end();
  } else if (res.shouldKeepAlive) {
    // The connection stays open, and the rest of the body is read from it.
    res.end();
    discardBehind(req, idleMs);
  } else {
    // Ending it would close the connection under the sender.
    discardBefore(req, () => res.end(), idleMs);
  }
}

/** The same for answers of Fastify. */
export const sendAfterUpload: onSendHookHandler = ({ raw: req }, reply, payload, done) => {
  if (!isUploading(req)) {
    done();
    return;
  }
  // Do not wait again for a client that has stopped sending.
  if (reply.statusCode === 408) {
    reply.header('connection', 'close');
    done();
    return;
  }
  // Fastify would close the connection of a body that is too large.
  reply.removeHeader('connection');
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
  if (reply.raw.shouldKeepAlive || !(bytes instanceof Buffer)) {
    discardBehind(req);
    done();
    return;
  }
  reply.headers({ connection: 'close', 'content-length': bytes.length });
  const answer = new Readable({ read: () => {} });
  answer.push(bytes);
  discardBefore(req, () => void answer.push(null));
  done(null, answer);
};
