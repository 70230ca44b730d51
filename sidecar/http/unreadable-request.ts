import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { errorTypes } from '../ngsi-ld/problem.js';

/** Time for the sender to read the answer before the connection is cut, in milliseconds. */
const LINGER_MS = 2000;

/**
 * Answers bytes that node:http could not parse as a request (its `clientError` event), and ends the connection. Further
 * bytes are ignored; cutting the connection at once could lose the answer on its way.
 */
export function answerUnreadable(error: Error & { readonly code?: string }, socket: Socket): void {
  if (socket.writableEnded) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, detail } = reasonOf(error.code);
  const title = STATUS_CODES[status] ?? 'Invalid request';
  const body = JSON.stringify({ type: errorTypes.invalidRequest, title, status, detail });
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** RFC 9110 §§ 15.5.1 and 15.5.9, RFC 6585 § 5. */
function reasonOf(code: string | undefined): { readonly status: 400 | 408 | 431; readonly detail: string } {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, detail: 'The request line and the header fields together are too large.' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, detail: 'The header fields took too long to arrive.' };
    default:
      return { status: 400, detail: 'This is not an HTTP/1.1 request.' };
  }
}
