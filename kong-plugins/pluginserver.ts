/**
 * Kong's JavaScript plugin server: `kong-js-pluginserver` of kong-pdk, without four faults of its version 0.6.0. It takes
 * the same options. The build makes dist/kong-pluginserver.mjs of it, one file that holds kong-pdk and needs no other.
 *
 * 1. kong-pdk numbers instances and events from 0 in each process, while Kong's workers keep the numbers of the process
 *    before. After a restart the old number of one configuration is the new number of another: a caller gets another
 *    caller's policy. Here each process begins at a random number. Kong's workers then learn that an instance is unknown
 *    ("no plugin instance"), and start theirs anew.
 * 2. An event that Kong does not end, such as one whose handler has answered the client itself, is kept for ever.
 * 3. A message that arrives in pieces, as long ones do, ends the process when a piece ends before a number.
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
 * The numbers that a process may begin with: too many to meet one twice, and exact with room above as numbers in Lua and
 * JavaScript.
 */
const FIRST_NUMBERS = [2 ** 47, 2 ** 48 - 1] as const;

/** Far more than run at a time. An older one was abandoned; if not, its request goes on to the sidecar without the token. */
const EVENTS_KEPT = 10_000;

/** Events by their numbers, the latest {@link EVENTS_KEPT}. */
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
    // Another version may number in another way, in which this would change nothing.
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
      // Kong sees it too: the request goes on to the sidecar without the token.
      socket.on('error', (error) => process.stderr.write(`connection of Kong: ${error.message}\n`));
    });
  }
}

/** Lets the listener wait for the rest of a message: it knows that one is incomplete by the text of this error alone. */
function awaitRestOfMessages(): void {
  // oxlint-disable-next-line typescript/unbound-method -- it is called on the decoder it belongs to
  const { decode } = Decoder.prototype;
  Decoder.prototype.decode = function (this: Decoder, bytes) {
    try {
      return decode.call(this, bytes);
    } catch (error) {
      // Reading beyond the last byte.
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
