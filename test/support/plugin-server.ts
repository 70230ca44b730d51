import { build, type BuildOptions } from 'esbuild';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FakeKong, PdkCall } from './fake-pdk.js';
import { ROOT } from './project.js';

/** Resolves modules as Kong's plugin server does. */
const pdkRequire = createRequire(createRequire(import.meta.url).resolve('kong-pdk/package.json'));
const msgpack = pdkRequire('@msgpack/msgpack') as {
  encode(value: unknown): Uint8Array;
  decode(bytes: Uint8Array): unknown;
};
const bin = pdkRequire.resolve('kong-pdk/bin/kong-js-pluginserver');

/** Reports, on request, the heap that is left after a garbage collection. */
const PROBE = `process.on('message', () => { gc(); process.send(process.memoryUsage().heapUsed); });`;

/** As in `npm run build`; scripts are not compiled with the tests. */
const { kongBuilds } = createRequire(import.meta.url)(join(ROOT, 'scripts/kong.js')) as {
  readonly kongBuilds: (root: string, target: string) => readonly BuildOptions[];
};

/** The plugin as Kong gets it: a single CommonJS file in a folder. */
export interface BuiltPlugin {
  /** Absolute path of the folder that the plugin server loads. */
  readonly folder: string;
  /** A folder next to it, for sockets. */
  readonly prefix: string;
  /** The launcher of the plugin server; it needs no other files. */
  readonly launcher: string;
  remove(): Promise<void>;
}

/** kong-pdk's own program, which the launcher starts. */
export const KONG_PDK_PROGRAM = bin;

/**
 * Bundles the plugin and the launcher into a temporary folder, with the options of the project's
 * build.
 */
export async function buildPlugin(): Promise<BuiltPlugin> {
  const root = await mkdtemp(join(tmpdir(), 'ngsi-ld-purge-'));
  for (const options of kongBuilds(ROOT, root)) await build(options);
  return {
    folder: join(root, 'kong-plugins'),
    prefix: root,
    launcher: join(root, 'kong-pluginserver.mjs'),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/**
 * Asks the plugin server for its plugins, as Kong does before it starts (`--dump-all-plugins`).
 * @param cwd the folder to start in; a tsconfig.json there makes the server compile what it loads
 * @returns the output
 */
export async function dumpPlugins(
  { folder, launcher }: BuiltPlugin,
  cwd: string,
): Promise<{ stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [launcher, '--plugins-directory', folder, '--dump-all-plugins'], {
    cwd,
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  await once(child, 'close');
  return output;
}

/** A running `kong-js-pluginserver`. */
export class PluginServer {
  readonly #child: ChildProcess;
  readonly #socketPath: string;
  readonly #links: Link[] = [];

  private constructor(child: ChildProcess, socketPath: string) {
    this.#child = child;
    this.#socketPath = socketPath;
  }

  /**
   * Starts the server as Kong does, and resolves when it listens.
   * @param program the program that starts it
   */
  static async start(plugin: BuiltPlugin, program = plugin.launcher): Promise<PluginServer> {
    const probe = join(plugin.prefix, 'probe.cjs');
    await writeFile(probe, PROBE);
    const args = [
      '--max-old-space-size=96',
      '--expose-gc',
      '--require',
      probe,
      program,
      '--plugins-directory',
      plugin.folder,
    ];
    const child = spawn(
      process.execPath,
      [...args, '--kong-prefix', plugin.prefix, '--sock-name', 'js.sock'],
      { cwd: plugin.prefix, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
    );
    const { stdout } = child;
    if (stdout === null) throw new Error('no pipe');
    let log = '';
    await new Promise<void>((resolve, reject) => {
      stdout.on('data', (chunk: Buffer) => {
        if (log.length < 10_000) log += chunk.toString();
        if (log.includes('server started at')) resolve();
      });
      child.once('exit', () => reject(new Error(`the plugin server ended: ${log}`)));
    });
    return new PluginServer(child, join(plugin.prefix, 'js.sock'));
  }

  /** The process id, for information from the operating system. */
  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('not running');
    return this.#child.pid;
  }

  /** Opens a connection, as each of Kong's workers does. */
  async connect(): Promise<Link> {
    const link = await connectTo(this.#socketPath);
    this.#links.push(link);
    return link;
  }

  /** The path of its socket. */
  get socketPath(): string {
    return this.#socketPath;
  }

  /** Returns the server's heap in bytes after a garbage collection. */
  async heapBytes(): Promise<number> {
    const answer = once(this.#child, 'message') as Promise<[number]>;
    this.#child.send('measure');
    return (await answer)[0];
  }

  /** Resolves with the exit code when the process ends by itself. */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
    return this.#child.exitCode;
  }

  /** Stops the process from running, or continues it. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  async stop(): Promise<void> {
    for (const link of this.#links) link.close();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}

/**
 * Opens a connection.
 * @throws {LinkError} if no server listens
 */
export async function connectTo(socketPath: string): Promise<Link> {
  const socket = connect(socketPath);
  await once(socket, 'connect').catch((cause: unknown) => {
    throw new LinkError('the plugin server is away', { cause });
  });
  return new Link(socket);
}

interface StepIn {
  readonly EventId: number;
  readonly Data: 'ret' | { readonly Method: string; readonly Args?: readonly unknown[] };
}

/** Kong answers the calls that return an entity by special methods. */
const STEPS: Readonly<Record<string, string>> = {
  'kong.client.get_consumer': 'StepConsumer',
  'kong.client.get_credential': 'StepCredential',
};

/** The error half of an RPC answer. */
export class RpcError extends Error {}

/** The server is unavailable, or disconnected before it answered. */
export class LinkError extends Error {}

function message(id: number, method: string, argument: unknown): Uint8Array {
  return msgpack.encode([0, id, `plugin.${method}`, [argument]]);
}

/**
 * A connection to the plugin server that speaks MessagePack-RPC as Kong does, with one message in
 * flight.
 */
export class Link {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #waiting: { resolve(message: unknown): void; reject(error: Error): void } | undefined;
  #id = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('close', () => this.#waiting?.reject(new LinkError('the plugin server closed the connection')));
    socket.on('error', (cause) => this.#waiting?.reject(new LinkError('the connection broke', { cause })));
  }

  /**
   * Calls a method of the server.
   * @throws {RpcError} with the server's error
   */
  async call(method: string, argument: unknown): Promise<unknown> {
    const id = (this.#id += 1);
    const answer = new Promise<unknown>((resolve, reject) => (this.#waiting = { resolve, reject }));
    this.#socket.write(message(id, method, argument));
    return this.#result(id, await answer);
  }

  /**
   * Calls a method with a message in two pieces, the first of which has that many bytes; between
   * them the server does something else.
   */
  async callInPieces(
    method: string,
    argument: unknown,
    bytes: number,
    between: () => Promise<unknown>,
  ): Promise<unknown> {
    const id = (this.#id += 1);
    const whole = message(id, method, argument);
    const answer = new Promise<unknown>((resolve, reject) => (this.#waiting = { resolve, reject }));
    this.#socket.write(whole.subarray(0, bytes));
    await between();
    this.#socket.write(whole.subarray(bytes));
    return this.#result(id, await answer);
  }

  /** Calls a method with two messages in one piece, as if Kong had stopped waiting for an answer to the first. */
  async callTwice(method: string, argument: unknown): Promise<unknown> {
    const [first, id] = [(this.#id += 1), (this.#id += 1)];
    const answer = new Promise<unknown>((resolve, reject) => (this.#waiting = { resolve, reject }));
    this.#socket.write(Buffer.concat([message(first, method, argument), message(id, method, argument)]));
    return this.#result(id, await answer);
  }

  #result(id: number, answer: unknown): unknown {
    const [kind, answeredId, error, result] = answer as [number, number, unknown, unknown];
    if (kind !== 1 || answeredId !== id) throw new Error('not the answer to this request');
    if (error !== null && error !== undefined)
      throw new RpcError(typeof error === 'string' ? error : 'not a message');
    return result;
  }

  /**
   * Starts an instance with a configuration.
   * @returns its id
   */
  async startInstance(config: unknown): Promise<number> {
    const started = await this.call('StartInstance', {
      Name: 'ngsi-ld-purge',
      Config: JSON.stringify(config),
    });
    return (started as { Id: number }).Id;
  }

  /** Plays Kong for a request over this connection, see {@link playAccess}. */
  async access(instance: number, kong: FakeKong): Promise<readonly PdkCall[]> {
    await playAccess((method, argument) => this.call(method, argument), instance, kong);
    return kong.calls;
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    let message: unknown;
    try {
      message = msgpack.decode(this.#received);
    } catch (error) {
      // The stream has no framing: an incomplete message is recognised only because it cannot be
      // decoded yet.
      if (error instanceof RangeError) return;
      throw error;
    }
    this.#received = Buffer.alloc(0);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(message);
  }
}

/**
 * Plays Kong for a request: runs the access phase and answers each PDK call from the fake. Like
 * Kong, it stops after `response.exit`, and sends no `Data` for an answer of nil. A call that the
 * fake fails is answered by StepError.
 * @param call calls a method of the server
 */
export async function playAccess(
  call: (method: string, argument: unknown) => Promise<unknown>,
  instance: number,
  kong: Pick<FakeKong, 'pdk'>,
): Promise<void> {
  let step = (await call('HandleEvent', { InstanceId: instance, EventName: 'access' })) as StepIn;
  while (step.Data !== 'ret') {
    const { Method: method, Args: args = [] } = step.Data;
    const EventId = step.EventId;
    const answer = answerOf(kong, method, args);
    if (method === 'kong.response.exit') return;
    try {
      const Data = await answer;
      const answered = Data === undefined ? { EventId } : { EventId, Data };
      step = (await call(STEPS[method] ?? 'Step', answered)) as StepIn;
    } catch (error) {
      if (error instanceof RpcError || error instanceof LinkError) throw error;
      step = (await call('StepError', { EventId, Data: (error as Error).message })) as StepIn;
    }
  }
}

/**
 * Calls the fake's function for a method as named on the wire, e.g.
 * `kong.service.request.set_header`.
 */
function answerOf(kong: Pick<FakeKong, 'pdk'>, method: string, args: readonly unknown[]): Promise<unknown> {
  const path = method
    .replace(/^kong\./, '')
    .replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    .split('.');
  let found: unknown = kong.pdk;
  for (const name of path) found = (found as Record<string, unknown> | undefined)?.[name];
  if (typeof found !== 'function') throw new Error(`Kong has no PDK method ${method}`);
  return (found as (...all: readonly unknown[]) => Promise<unknown>)(...args);
}
