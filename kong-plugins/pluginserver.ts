/**
 * Starts Kong's JavaScript plugin server, `kong-js-pluginserver` of kong-pdk, without four faults of its version 0.6.0.
 * It takes the same options. The build makes dist/kong-pluginserver.mjs of it, which looks for kong-pdk in the folders
 * node_modules beside and above itself.
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
import { createRequire } from 'node:module';
import type { Server as SocketServer } from 'node:net';

/** kong-pdk's server of plugins, as far as it is used here. */
interface PluginServer {
  instanceID: number;
  eventID: number;
  events: Map<number, unknown>;
}

/** kong-pdk's listener on the socket. */
interface Listener {
  serve(): SocketServer;
}

interface Decoder {
  decode(bytes: Uint8Array): unknown;
}

type Class<Instance> = new (...args: readonly unknown[]) => Instance;

/** The numbers that a process may begin with: too many to meet one twice, and exact with room above as numbers in Lua and JavaScript. */
const FIRST_NUMBERS = [2 ** 47, 2 ** 48 - 1] as const;

/** Far more than run at a time. An older one was abandoned; if not, its request goes on to the sidecar without the token. */
const EVENTS_KEPT = 10_000;

const pdk = createRequire(createRequire(import.meta.url).resolve('kong-pdk/package.json'));

/** Lets kong-pdk find other exports where it looks for a module. */
function replace(module: string, exported: unknown): void {
  const cached = pdk.cache[pdk.resolve(module)];
  if (cached === undefined) throw new Error(`${module} of kong-pdk is not loaded`);
  cached.exports = exported;
}

const msgpack = pdk('@msgpack/msgpack') as { readonly Decoder: Class<Decoder> };

class PatientDecoder extends msgpack.Decoder {
  override decode(bytes: Uint8Array): unknown {
    try {
      return super.decode(bytes);
    } catch (error) {
      // Reading beyond the last byte. The listener waits for more only when the message is this one.
      if (error instanceof RangeError && /outside the bounds/.test(error.message))
        throw new RangeError('Insufficient data', { cause: error });
      throw error;
    }
  }
}

// Before the listener takes it from there.
replace('@msgpack/msgpack', { ...msgpack, Decoder: PatientDecoder });
const OwnListener = pdk('./listener.js') as Class<Listener>;
const OwnServer = pdk('./server.js') as Class<PluginServer>;

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

class Server extends OwnServer {
  constructor(...args: readonly unknown[]) {
    super(...args);
    // Another version may number in another way, in which this would change nothing.
    if (this.instanceID !== 0 || this.eventID !== 0 || !(this.events instanceof Map))
      throw new Error('this launcher is for kong-pdk 0.6.0, and the kong-pdk it found is another one');
    this.instanceID = randomInt(...FIRST_NUMBERS);
    this.eventID = randomInt(...FIRST_NUMBERS);
    this.events = new LatestEvents();
  }
}

class PatientListener extends OwnListener {
  override serve(): SocketServer {
    return super.serve().on('connection', (socket) => {
      // Kong sees it too: the request goes on to the sidecar without the token.
      socket.on('error', (error) => process.stderr.write(`connection of Kong: ${error.message}\n`));
    });
  }
}

replace('./server.js', Server);
replace('./listener.js', PatientListener);
pdk('./bin/kong-js-pluginserver');
