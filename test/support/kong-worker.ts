import type { FakeKong } from './fake-pdk.js';
import { connectTo, LinkError, playAccess, RpcError } from './plugin-server.js';

/** A plugin bound to a consumer or a route; Kong keeps an instance for each. */
export interface BoundPlugin {
  readonly id: string;
  readonly config: object;
}

/**
 * A worker process of Kong, as far as it remembers plugin instances (kong/runloop/plugin_servers in
 * Kong 3.9). It keeps their ids even over restarts of the plugin server, until the server says that
 * it has "no plugin instance". Then it forgets all instances of the plugin, and starts the one it
 * needs. Other errors are logged, and the request continues. Every message has its own connection,
 * so that an event that began in one process may continue in the next.
 */
export class KongWorker {
  readonly #socketPath: string;
  readonly #instances = new Map<string, number>();

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /**
   * Runs the access phase of a request.
   * @returns the error that Kong would log before the request continues, if any
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
