/**
 * Kong's JavaScript plugin server: `kong-js-pluginserver` of kong-pdk, with four bugs of its version 0.6.0 fixed. It takes
 * the same options. The build bundles it with kong-pdk into one self-contained file, dist/kong-pluginserver.mjs.
 *
 * 1. kong-pdk numbers instances and events from 0 in each process, but Kong's workers keep the numbers of the previous
 *    process. After a restart, the old number of one configuration may be the new number of another, so a caller gets
 *    another caller's policy. Here, each process begins at a random number. Kong's workers then learn that an instance is
 *    unknown ("no plugin instance"), and start a new one.
 * 2. An event that Kong does not end, such as one whose handler has answered the client itself, is kept for ever.
 * 3. A message that arrives in pieces, as long ones do, ends the process if a piece ends just before a number.
 * 4. A connection that breaks while the server answers ends the process.
 */
import { randomInt } from 'node:crypto';
import type { Server as SocketServer } from 'node:net';
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

/** Makes the listener wait for the rest of a message. It recognises an incomplete message only by the text of this error. */
function awaitRestOfMessages(): void {
  // oxlint-disable-next-line typescript/unbound-method -- it is called on the decoder it belongs to
  const { decode } = Decoder.prototype;
  Decoder.prototype.decode = function (this: Decoder, bytes) {
    try {
      return decode.call(this, bytes);
    } catch (error) {
      // The decoder tried to read beyond the last byte.
      if (error instanceof RangeError && /outside the bounds/.test(error.message))
        throw new RangeError('Insufficient data', { cause: error });
      throw error;
    }
  };
}

const options = cli.parse();
logger.setLevel(options.logLevel);
awaitRestOfMessages();
const server = new RandomlyNumberedServer(options.pluginsDirectory);
if (options.DumpAllPlugins === true) {
  const plugins = await Promise.all(
    [...server.getPlugins().keys()].map((name) => server.GetPluginInfo(name)),
  );
  process.stdout.write(`${JSON.stringify(plugins)}\n`);
} else {
  new PatientListener(server, join(options.kongPrefix, options.sockName)).serve();
}
server.close();
