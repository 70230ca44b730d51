import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { yieldToEventLoop } from '../shared/event-loop.js';
import { ClientLag, transferTimeMs, type MinDataRate } from './min-data-rate.js';
import { RequestRefusedError } from './refused.js';
import { SLOW_CLIENT } from './forward-problem.js';
import type { RequestPipeline } from './request-pipeline.js';

/** What the client of a connection has to do now, and how much of it is done. */
interface Task {
  readonly answer: ServerResponse;
  readonly kind: 'send' | 'take';
  /** Number of bytes transferred on the connection. */
  readonly moved: number;
  /** Number of bytes that wait for the client to read them. */
  readonly due: number;
}

interface Watch {
  readonly task: Task;
  readonly lag: ClientLag;
}

/**
 * Closes connections that make no or hardly any progress although it is the client's turn: to continue its request
 * (answered with 408), to read its answer, or to send a first request. A client may wait for its answer for any time.
 *
 * A listener for `timeout` on an incomplete request answers its client itself; other readers of the body get an error.
 */
export function closeIdleClients(server: Server, pipeline: RequestPipeline, minDataRate: MinDataRate): void {
  server.timeout = minDataRate.idleMs;
  server.on('timeout', (socket: Socket) => {
    const answer = pipeline.currentResponse(socket);
    if (answer === undefined) socket.destroy();
    else if (!answer.req.complete) {
      // If there are listeners, they have been called by now.
      if (answer.req.listenerCount('timeout') === 0) giveUpBody(socket, answer);
    } else if (socket.writableLength > 0) socket.destroy();
  });
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  watchDataRate(server, connections, pipeline, minDataRate);
}

/** Checks several times within `idleMs` how much was transferred. */
function watchDataRate(
  server: Server,
  connections: ReadonlySet<Socket>,
  pipeline: RequestPipeline,
  { idleMs, bytesPerSecond }: MinDataRate,
): void {
  const everyMs = idleMs / 8;
  let watches = new Map<Socket, Watch>();
  let lookedMs = performance.now();

  async function look(): Promise<void> {
    // Data that arrived while the event loop was busy has been read by then.
    await yieldToEventLoop();
    const nowMs = performance.now();
    // Delays of the gateway itself are not the client's fault.
    const elapsedMs = Math.min(nowMs - lookedMs, 2 * everyMs);
    lookedMs = nowMs;
    const next = new Map<Socket, Watch>();
    for (const socket of connections) {
      const task = taskOn(socket, pipeline.currentResponse(socket));
      if (task === undefined) continue;
      const last = watches.get(socket);
      const goesOn = last?.task.answer === task.answer && last.task.kind === task.kind;
      const lag = goesOn ? last.lag : new ClientLag(bytesPerSecond);
      const behindMs = goesOn ? lag.record(elapsedMs, task.moved - last.task.moved) : 0;
      if (behindMs > idleMs + transferTimeMs(task.due, bytesPerSecond)) giveUp(socket, task);
      else next.set(socket, { task, lag });
    }
    watches = next;
  }

  const timer = setInterval(() => void look(), everyMs).unref();
  server.once('close', () => clearInterval(timer));
}

/** Returns the client's task; undefined if it is not the client's turn. */
function taskOn(socket: Socket, answer: ServerResponse | undefined): Task | undefined {
  if (answer === undefined) return undefined;
  const { req } = answer;
  const due = socket.writableLength;
  if (due > 0) return { answer, kind: 'take', moved: socket.bytesWritten - due, due };
  // While received data waits to be read, the reader is the slow side.
  if (req.complete || req.isPaused() || req.readableLength > 0) return undefined;
  return { answer, kind: 'send', moved: socket.bytesRead, due: 0 };
}

function giveUp(socket: Socket, { answer, kind }: Task): void {
  if (kind === 'take') socket.destroy();
  else if (!answer.req.emit('timeout')) giveUpBody(socket, answer);
}

function giveUpBody(socket: Socket, answer: ServerResponse): void {
  const { req } = answer;
  if (!answer.headersSent && req.listenerCount('error') > 0)
    req.emit('error', new RequestRefusedError('requestTimeout', SLOW_CLIENT));
  else socket.destroy();
}
