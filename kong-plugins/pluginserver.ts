/**
 * Kong's JavaScript plugin server: `kong-js-pluginserver` of kong-pdk, with seven bugs of its version 0.6.0 fixed. It takes
 * the same options. The build bundles it with kong-pdk into one self-contained file, dist/kong-pluginserver.mjs.
 *
 * 1. kong-pdk numbers instances and events from 0 in each process, but Kong's workers keep the numbers of the previous
 *    process. After a restart, the old number of one configuration may be the new number of another, so a caller gets
 *    another caller's policy. Here, each process begins at a random number. Kong's workers then learn that an instance is
 *    unknown ("no plugin instance"), and start a new one.
 * 2. An event that Kong does not end, such as one whose handler has answered the client itself, is kept for ever.
 * 3. A message that arrives in pieces, as long ones do, ends the process if a piece ends just before a number.
 * 4. A connection that breaks while the server answers ends the process.
 * 5. Two messages that arrive together end the process. Kong sends the second one after it has stopped waiting for an answer to
 *    the first.
 * 6. Of the connections that Kong opens at a time, only 511 may wait to be accepted. Kong passes the other requests on without
 *    the plugin.
 * 7. If the worker of Kong that started the process crashes, Kong starts another process on the same socket, and never ends
 *    this one.
 */
import { randomInt } from 'node:crypto';
import { statSync } from 'node:fs';
import { Server as SocketServer } from 'node:net';
import { join } from 'node:path';
import { Decoder } from '@msgpack/msgpack';
import cli from 'kong-pdk/cli.js';
import Listener from 'kong-pdk/listener.js';
import Server from 'kong-pdk/server.js';
import logger from 'node-color-log';

/**
 * The range of the first number of a process. It is so large that no number occurs twice, and leaves room for exact counting in
 * Lua and JavaScript.
 */
const FIRST_NUMBERS = [2 ** 47, 2 ** 48 - 1] as const;

/**
 * Far more than run at a time. An older event was probably abandoned; if not, its request goes on to the sidecar without the
 * token.
 */
const EVENTS_KEPT = 10_000;

/** The latest {@link EVENTS_KEPT} events, by their numbers. */
class LatestEvents extends Map<number, unknown> {
  override set(id: number, event: unknown): this {
    if (this.size >= EVENTS_KEPT) {
      const [oldest] = this.keys();
      if (oldest !== undefined) this.delete(oldest);
    }
    return super.set(id, event);
  }
}

/** How long the queue of connections may be. The system lowers this to its own limit, `net.core.somaxconn`. */
const BACKLOG = 65_535;

/** How often to check whether the socket is still that of this process. */
const SOCKET_CHECK_MS = 5_000;

class RandomlyNumberedServer extends Server {
  constructor(pluginsDirectory: string) {
    super(pluginsDirectory, logger);
    // Another version may number differently, and setting these members would then have no effect.
    if (this.instanceID !== 0 || this.eventID !== 0 || !(this.events instanceof Map))
      throw new Error('this launcher is for kong-pdk 0.6.0, and was built with another one');
    this.instanceID = randomInt(...FIRST_NUMBERS);
    this.eventID = randomInt(...FIRST_NUMBERS);
    this.events = new LatestEvents();
  }
}

class PatientListener extends Listener {
  override serve(): SocketServer {
    return super.serve().on('connection', (socket) => {
      // Kong notices the error, too: the request goes on to the sidecar without the token.
      socket.on('error', (error) => process.stderr.write(`connection of Kong: ${error.message}\n`));
    });
  }
}

/** Ends the process soon after its socket was removed or replaced: no new connection can reach it. */
function endWithoutSocket(path: string): void {
  const { ino } = statSync(path);
  setInterval(() => {
    if (statSync(path, { throwIfNoEntry: false })?.ino !== ino) process.exit();
  }, SOCKET_CHECK_MS).unref();
}

/**
 * Makes the listener wait for the rest of a message, and ignore all but the last of several messages: Kong does not wait for
 * answers to the others any more. The listener recognises an incomplete message only by the text of this error.
 */
function decodeTheLatest(): void {
  Decoder.prototype.decode = function (this: Decoder, bytes) {
    try {
      return [...this.decodeMulti(bytes)].at(-1);
    } catch (error) {
      // The decoder tried to read beyond the last byte.
      if (error instanceof RangeError && /outside the bounds/.test(error.message))
        throw new RangeError('Insufficient data', { cause: error });
      throw error;
    }
  };
}

/** Lets as many connections wait as the system allows; otherwise Node.js sets a limit of 511. */
function allowManyConnections(): void {
  // oxlint-disable-next-line typescript/unbound-method -- it is called on the server it belongs to
  const { listen } = SocketServer.prototype;
  SocketServer.prototype.listen = function (this: SocketServer, path: unknown) {
    return listen.call(this, { path: String(path), backlog: BACKLOG });
  };
}

const options = cli.parse();
logger.setLevel(options.logLevel);
decodeTheLatest();
allowManyConnections();
const server = new RandomlyNumberedServer(options.pluginsDirectory);
if (options.DumpAllPlugins === true) {
  const plugins = await Promise.all(
    [...server.getPlugins().keys()].map((name) => server.GetPluginInfo(name)),
  );
  process.stdout.write(`${JSON.stringify(plugins)}\n`);
} else {
  const path = join(options.kongPrefix, options.sockName);
  new PatientListener(server, path).serve().on('listening', () => endWithoutSocket(path));
}
server.close();
