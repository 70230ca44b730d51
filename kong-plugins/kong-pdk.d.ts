/** The parts of kong-pdk 0.6.0 that make up its program `kong-js-pluginserver`. */

declare module 'kong-pdk/cli.js' {
  interface Options {
    readonly pluginsDirectory: string;
    readonly kongPrefix: string;
    readonly sockName: string;
    readonly logLevel: 'info' | 'debug';
    readonly DumpAllPlugins?: boolean;
    readonly DumpPluginInfo?: string;
  }
  const cli: {
    /** Reads the command line; ends the process if it is wrong. */
    parse(): Options;
  };
  export default cli;
}

declare module 'kong-pdk/server.js' {
  /** Loads the plugins in a folder, and answers Kong's calls to them. */
  export default class Server {
    constructor(pluginsDirectory: string, logger: unknown);
    instanceID: number;
    eventID: number;
    events: Map<number, unknown>;
    getPlugins(): ReadonlyMap<string, unknown>;
    GetPluginInfo(name: string): Promise<unknown>;
    /** Stops the timer that ends unused instances. */
    close(): void;
  }
}

declare module 'kong-pdk/listener.js' {
  import type { Server as SocketServer } from 'node:net';
  import type Server from 'kong-pdk/server.js';

  /** Speaks MessagePack-RPC with Kong on a socket. */
  export default class Listener {
    constructor(server: Server, socketPath: string);
    serve(): SocketServer;
  }
}
