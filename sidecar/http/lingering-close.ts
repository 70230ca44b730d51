import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { onSendHookHandler } from 'fastify';

/**
 * Ends answers that are ready before the body of the request has arrived. Closing the connection during the upload
 * would reset it, and the sender could lose the answer. The rest of the body is therefore read and discarded, within
 * limits.
 */

const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;
const DISCARD_MS = 30_000;

/** The longest pause in the body, in milliseconds. A sender that waits for the answer has received it by then. */
const DISCARD_IDLE_MS = 5000;

/** Emitted on a request whose remaining body cannot be read. */
export const UNREADABLE = 'unreadable';

/** Whether more of the request's body is to come. */
function isUploading(req: IncomingMessage): boolean {
  return !req.complete && !req.destroyed && hasBody(req);
}

/** Whether a request announces a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Reads and discards the rest of a body.
 *
 * @param onRead called once the rest has been read
 * @param onTimeUp called instead if the sender takes too long; the connection of one that sends too much is closed
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

/** Does the same after a complete answer, on a connection that stays open. */
function discardAfterResponse(req: IncomingMessage, idleMs?: number): void {
  req.once(UNREADABLE, () => req.socket.destroySoon());
  discard(
    req,
    () => {},
    () => req.socket.destroy(),
    idleMs,
  );
}

/** Does the same before the end of an answer that closes the connection. */
function discardBeforeEnd(req: IncomingMessage, end: () => void, idleMs?: number): void {
  let isDone = false;
  const endOnce = () => {
    if (!isDone) end();
    isDone = true;
  };
  req.once(UNREADABLE, endOnce);
  discard(req, endOnce, endOnce, idleMs);
}

/**
 * Ends a response whose head and body are written, even if the request is still arriving.
 *
 * @param idleMs the longest pause in the request's body
 */
export function endAfterUpload(req: IncomingMessage, res: ServerResponse, idleMs?: number): void {
  if (!isUploading(req)) {
    res.end();
  } else if (res.shouldKeepAlive) {
    // The connection stays open, and the rest of the body is read from it.
    res.end();
    discardAfterResponse(req, idleMs);
  } else {
    // Ending the response would close the connection during the upload.
    discardBeforeEnd(req, () => res.end(), idleMs);
  }
}

/** Does the same for answers of Fastify. */
export const sendAfterUpload: onSendHookHandler = ({ raw: req }, reply, payload, done) => {
  if (!isUploading(req)) {
    done();
    return;
  }
  // If the client has stopped sending, do not wait for its body again.
  if (reply.statusCode === 408) {
    reply.header('connection', 'close');
    done();
    return;
  }
  // Fastify would close the connection if the body is too large.
  reply.removeHeader('connection');
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
  if (reply.raw.shouldKeepAlive || !(bytes instanceof Buffer)) {
    discardAfterResponse(req);
    done();
    return;
  }
  reply.headers({ connection: 'close', 'content-length': bytes.length });
  const answer = new Readable({ read: () => {} });
  answer.push(bytes);
  discardBeforeEnd(req, () => void answer.push(null));
  done(null, answer);
};
