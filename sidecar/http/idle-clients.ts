import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { nextTurn } from '../shared/next-turn.js';
import { ClientLag, timeFor, type ClientPace } from './client-pace.js';
import { RequestRefusedError } from './errors.js';
import { SLOW_CLIENT } from './forward-problem.js';
import type { Turns } from './turns.js';

/** What a client has to do now, and how much of it is done. */
interface Task {
  readonly answer: ServerResponse;
  readonly kind: 'send' | 'take';
  /** Bytes that have moved on the connection. */
  readonly moved: number;
  /** Bytes that wait to be taken. */
  readonly due: number;
}

interface Watch {
  readonly task: Task;
  readonly lag: ClientLag;
}

/**
 * Closes connections on which nothing moves, or next to nothing, although it is the client's turn: to go on with its request
 * (answered 408), to read its answer, or to send a first request. A client may wait for its answer as long as that takes.
 *
 * A listener for `timeout` on a request that is still coming answers its client itself; other readers of its body get an error.
 */
export function closeIdleClients(server: Server, turns: Turns, pace: ClientPace): void {
  server.timeout = pace.idleMs;
  server.on('timeout', (socket: Socket) => {
    const answer = turns.answerOn(socket);
    if (answer === undefined) socket.destroy();
    else if (!answer.req.complete) {
      // With listeners, it has been told by now.
      if (answer.req.listenerCount('timeout') === 0) giveUpBody(socket, answer);
    } else if (socket.writableLength > 0) socket.destroy();
  });
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  watchPace(server, connections, turns, pace);
}

/** Looks a few times within `idleMs` at what has moved. */
function watchPace(
  server: Server,
  connections: ReadonlySet<Socket>,
  turns: Turns,
  { idleMs, bytesPerSecond }: ClientPace,
): void {
  const everyMs = idleMs / 8;
  let watches = new Map<Socket, Watch>();
  let lookedMs = performance.now();

  async function look(): Promise<void> {
    // What arrived while the event loop was busy has been read by then.
    await nextTurn();
    const nowMs = performance.now();
    // Time that the gateway itself has lost is not the client's fault.
    const elapsedMs = Math.min(nowMs - lookedMs, 2 * everyMs);
    lookedMs = nowMs;
    const next = new Map<Socket, Watch>();
    for (const socket of connections) {
      const task = taskOn(socket, turns.answerOn(socket));
      if (task === undefined) continue;
      const last = watches.get(socket);
      const goesOn = last?.task.answer === task.answer && last.task.kind === task.kind;
      const lag = goesOn ? last.lag : new ClientLag(bytesPerSecond);
      const behindMs = goesOn ? lag.book(elapsedMs, task.moved - last.task.moved) : 0;
      if (behindMs > idleMs + timeFor(task.due, bytesPerSecond)) giveUp(socket, task);
      else next.set(socket, { task, lag });
    }
    watches = next;
  }

  const timer = setInterval(() => void look(), everyMs).unref();
  server.once('close', () => clearInterval(timer));
}

/** Undefined when it is not the client's turn. */
function taskOn(socket: Socket, answer: ServerResponse | undefined): Task | undefined {
  if (answer === undefined) return undefined;
  const { req } = answer;
  const due = socket.writableLength;
  if (due > 0) return { answer, kind: 'take', moved: socket.bytesWritten - due, due };
  // While what has come waits to be read, the reader is the slow one.
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
