import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import type { Dispatcher } from 'undici';
import {
  createPassThrough,
  type ForwardFailure,
  type PassThrough,
  type PassThroughOptions,
} from '../../sidecar/http/pass-through.js';
import { listening } from '../support/listening.js';

const closers: (() => Promise<void>)[] = [];

/** Closes every broker, gateway and client started so far; for a file's `after` hook. */
export async function closeAll(): Promise<void> {
  await Promise.all(closers.splice(0).map((close) => close()));
}

/** Registers something else for `closeAll` to close. */
export function closeLater<Close extends () => Promise<void>>(close: Close): Close {
  closers.push(close);
  return close;
}

/** Bytes as text, one character each. */
const latin1 = (bytes: Buffer) => bytes.toString('latin1');

/**
 * A broker made of a bare socket, so that tests see each byte it receives and control each byte it
 * sends.
 */
export interface RawBroker {
  readonly url: URL;
  /** Everything received so far, as one string for each connection. */
  readonly received: string[];
  readonly sockets: net.Socket[];
  close(): Promise<void>;
}

/**
 * Starts a broker. It calls `onHead` with a connection's bytes so far, whenever they contain a
 * complete head, until `onHead` returns true.
 */
export async function startRawBroker(
  onHead: (socket: net.Socket, text: string) => boolean | undefined,
): Promise<RawBroker> {
  const received: string[] = [];
  const sockets: net.Socket[] = [];
  const server = net.createServer((socket) => {
    const index = sockets.push(socket) - 1;
    let pending = '';
    received[index] = '';
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      pending += latin1(bytes);
      received[index] = (received[index] ?? '') + latin1(bytes);
      if (pending.includes('\r\n\r\n') && onHead(socket, pending) !== false) pending = '';
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    received,
    sockets,
    close: closeLater(async () => {
      for (const socket of sockets) socket.destroy();
      if (server.listening) await once(server.close(), 'close');
    }),
  };
}

/** Starts a broker that answers every request with the same bytes. */
export const startFixedBroker = (answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]') =>
  startRawBroker((socket) => {
    socket.write(answer, 'latin1');
    return true;
  });

export interface Gateway {
  readonly port: number;
  readonly failures: ForwardFailure[];
  readonly passThrough: PassThrough;
  /** Returns the number of requests that have started and not ended. */
  inFlight(): number;
  close(): Promise<void>;
}

/** Starts a server that forwards every request. */
export async function startGateway(
  brokerUrl: URL,
  options: Partial<PassThroughOptions> & { agent?: Agent.Options } = {},
): Promise<Gateway> {
  const failures: ForwardFailure[] = [];
  let inFlight = 0;
  const dispatcher: Dispatcher = options.dispatcher ?? new Agent(options.agent);
  const passThrough = createPassThrough({
    brokerUrl,
    viaName: 'ngsi-ld-gateway',
    strippedHeaders: ['x-gateway-token', 'x-purge-policy'],
    brokerTimeoutMs: 30_000,
    onError: (_error, failure) => failures.push(failure),
    ...options,
    dispatcher,
  });
  const forward: PassThrough = (req, res, how) => {
    inFlight += 1;
    res.once('close', () => (inFlight -= 1));
    passThrough(req, res, how);
  };
  const server = http.createServer((req, res) => forward(req, res));
  server.on('checkContinue', (req: http.IncomingMessage, res: http.ServerResponse) => {
    forward(req, res, { awaitsContinue: true });
  });
  const { port, close } = await listening(server);
  return {
    port,
    failures,
    passThrough,
    inFlight: () => inFlight,
    close: closeLater(async () => {
      await close();
      await dispatcher.destroy();
    }),
  };
}

/** A connection to a gateway. */
export interface Client {
  readonly socket: net.Socket;
  /** Everything received so far. */
  text(): string;
  send(text: string): void;
  /** Waits until the received text matches. */
  until(pattern: RegExp): Promise<string>;
  /** Waits until the connection is closed, and returns everything received. */
  closed(): Promise<string>;
}

export async function connect(port: number): Promise<Client> {
  const socket = net.connect(port, '127.0.0.1');
  closeLater(async () => void socket.destroy());
  await once(socket, 'connect');
  let text = '';
  let isClosed = false;
  const checks = new Set<() => void>();
  const check = () => checks.forEach((each) => each());
  socket.on('data', (bytes) => {
    text += latin1(bytes);
    check();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
    check();
  });
  const wait = (isDone: () => boolean) =>
    new Promise<string>((resolve, reject) => {
      const each = () => {
        if (isDone()) resolve(text);
        else if (isClosed) reject(new Error(`closed after: ${JSON.stringify(text)}`));
        else return;
        checks.delete(each);
      };
      checks.add(each);
      each();
    });
  return {
    socket,
    text: () => text,
    send: (bytes) => socket.write(bytes, 'latin1'),
    until: (pattern) => wait(() => pattern.test(text)),
    closed: () => wait(() => isClosed),
  };
}

/**
 * Sends a request on a new connection and returns the whole answer; the request must have
 * `Connection: close`.
 */
export async function exchange(port: number, request: string): Promise<string> {
  const client = await connect(port);
  client.send(request);
  return client.closed();
}

/** Builds a request; `Host` and `Connection: close` are added. */
export const request = (line: string, headers: readonly string[] = [], body = '') =>
  [`${line} HTTP/1.1`, 'Host: gateway:8080', ...headers, 'Connection: close', '', body].join('\r\n');

export const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
export const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4);
export const headLines = (message: string) => message.slice(0, message.indexOf('\r\n\r\n')).split('\r\n');
export const problemOf = (answer: string) =>
  JSON.parse(bodyOf(answer)) as {
    type: string;
    title: string;
    status: number;
    detail: string;
    instance: string;
  };
