import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorTypes } from '../shared/problem.js';
import type { ProblemDraft } from './forward-problem.js';
import { UNREADABLE } from './lingering-close.js';
import { problem } from './refused.js';
import { requestIdOf, refusalFields } from './request-log.js';
import type { RequestPipeline } from './request-pipeline.js';

/** Time for the sender to read the answer before the connection is closed, in milliseconds. */
const LINGER_MS = 2000;

/** Why node:http creates no response: the input is not HTTP, or is a CONNECT. */
type SocketRefusal = 'unreadable' | 'method';

export interface SocketErrorHandlersOptions {
  readonly pipeline: Pick<RequestPipeline, 'currentResponse'>;
  /** Called once for each refusal, with fields for the log. Must not throw. */
  readonly onRefused: (reason: SocketRefusal, fields: object) => void;
}

const NO_TUNNELS = problem('methodNotAllowed', 'This gateway opens no tunnels: CONNECT is not allowed.');

const METHODS = { Allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' };

/**
 * Answers input for which node:http only provides a socket, and ends the connection. Earlier answers are not disturbed:
 * if unreadable input follows a valid request, that request still gets its own answer.
 */
export function createSocketErrorHandlers({ pipeline, onRefused }: SocketErrorHandlersOptions) {
  /** Sockets with unreadable input; each further byte on them causes another error. */
  const faulty = new WeakSet<Socket>();

  function clientError(error: Error & { readonly code?: string }, socket: Socket): void {
    if (faulty.has(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const open = pipeline.currentResponse(socket);
    if (open?.req.complete === true && error.code === 'HPE_INVALID_EOF_STATE') {
      // The client disconnected in the middle of its next request.
      socket.end();
      return;
    }
    faulty.add(socket);
    const draft = reasonOf(error.code);
    // The unreadable bytes belong to the current request, or follow all requests.
    const req = open?.req.complete === false ? open.req : undefined;
    const reqId = requestIdOf(req ?? { headers: {} });
    const { code } = error;
    onRefused('unreadable', {
      reqId,
      code,
      ...(req === undefined ? { status: draft.status, detail: draft.detail } : refusalFields(req, draft)),
    });
    answerInTurn(socket, draft, reqId);
  }

  /** Answers after the previous answers have ended. */
  function answerInTurn(socket: Socket, draft: ProblemDraft, reqId: string): void {
    const open = pipeline.currentResponse(socket);
    if (open?.req.complete === true) open.once('close', () => answerInTurn(socket, draft, reqId));
    else if (open?.headersSent !== true) endWith(socket, draft, reqId);
    // A second head in the middle of an answer would be read as part of it. An answer that only waits for the rest of
    // the upload is complete.
    else if (!open.req.emit(UNREADABLE)) socket.destroy();
  }

  function connect(req: IncomingMessage, socket: Duplex): void {
    // From here on, node:http has no listeners on the socket.
    socket.on('error', () => undefined);
    const reqId = requestIdOf(req);
    onRefused('method', { reqId, ...refusalFields(req, NO_TUNNELS) });
    if (pipeline.currentResponse(req.socket) === undefined) endWith(req.socket, NO_TUNNELS, reqId, METHODS);
    // The answer that is still open is no longer supervised.
    else socket.destroy();
  }

  return { clientError, connect };
}

/**
 * Sends an answer and ends the connection. Further input is ignored; closing the connection at once could lose the
 * answer.
 */
function endWith(
  socket: Socket,
  draft: ProblemDraft,
  reqId: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (!socket.writable) return;
  const body = JSON.stringify(draft);
  const fields = {
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': reqId,
    ...headers,
    Connection: 'close',
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${draft.status} ${STATUS_CODES[draft.status] ?? ''}\r\n${head.join('')}\r\n${body}`);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** Returns the problem for a parser error: RFC 9110 §§ 15.5.1 and 15.5.9, RFC 6585 § 5. */
function reasonOf(code: string | undefined): ProblemDraft {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return named(431, 'The request line and the header fields together are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return named(408, 'The header fields took too long to arrive.');
    case 'HPE_INVALID_URL':
      return named(
        400,
        'The path or query has a character that a URL must percent-encode: only ASCII characters without blanks are allowed.',
      );
    default:
      return named(400, 'This is not an HTTP/1.1 request.');
  }
}

function named(status: number, detail: string): ProblemDraft {
  return {
    type: errorTypes.invalidRequest,
    title: STATUS_CODES[status] ?? 'Invalid request',
    status,
    detail,
  };
}
