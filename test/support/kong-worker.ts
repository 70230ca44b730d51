import type { FakeKong } from './fake-pdk.js';
import { connectTo, LinkError, playAccess, RpcError } from './plugin-server.js';

/** A plugin as it is bound to a consumer or a route: Kong keeps an instance for each. */
export interface BoundPlugin {
  readonly id: string;
  readonly config: object;
}

/**
 * One worker process of Kong, as far as it remembers instances of a plugin (kong/runloop/plugin_servers in Kong 3.9): it keeps
 * their ids for good, over restarts of the plugin server, until the server says that it has "no plugin instance". Then it
 * forgets all of the plugin, and starts the one it needs. Other errors are logged, and the request goes on.
 *
 * Every message has a connection of its own, so that an event that was begun in one process may go on in the next.
 */
export class KongWorker {
  readonly #socketPath: string;
  readonly #instances = new Map<string, number>();

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /**
   * Runs the access phase of one request.
   *
   * @returns the error that Kong would log before the request goes on, if any
   */
  async access(plugin: BoundPlugin, kong: Pick<FakeKong, 'pdk'>): Promise<RpcError | LinkError | undefined> {
    try {
      const instance = this.#instances.get(plugin.id) ?? (await this.#start(plugin));
      await playAccess((method, argument) => this.#call(method, argument), instance, kong);
      return undefined;
    } catch (error) {
      if (!(error instanceof RpcError || error instanceof LinkError)) throw error;
      if (!/no plugin instance/i.test(error.message)) return error;
      this.#instances.clear();
      return this.access(plugin, kong);
    }
  }

  async #start({ id, config }: BoundPlugin): Promise<number> {
    const started = (await this.#call('StartInstance', {
      Name: 'ngsi-ld-purge',
      Config: JSON.stringify(config),
    })) as { Id: number };
    this.#instances.set(id, started.Id);
    return started.Id;
  }

  async #call(method: string, argument: unknown): Promise<unknown> {
    const link = await connectTo(this.#socketPath);
    try {
      return await link.call(method, argument);
    } finally {
      link.close();
    }
  }
}
