import type { GatewaySettings } from '../support/gateway.js';
import type { Sockets } from './sockets.js';

interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string | Buffer;
}

/** Where an attack takes place. */
export interface Scene {
  /** The gateway's URL, without a slash at the end. */
  readonly url: string;
  /** To the gateway; closed when the attack is over. */
  readonly sockets: Sockets;
  /** Sends a request as clients do. @returns the status; 0 where the connection ends without an answer */
  readonly send: (method: string, target: string, options?: SendOptions) => Promise<number>;
  /** The gateway's database file. */
  readonly databasePath: string;
  /** Aborts when the attack is to end. */
  readonly signal: AbortSignal;
  /** Waits, or until the attack is to end. */
  readonly pause: (ms: number) => Promise<void>;
}

/** One class of attack. */
export interface Attack {
  readonly name: string;
  readonly settings?: GatewaySettings;
  /** Other servers that the attack needs, and settings that follow from them. */
  prepare?(): Promise<Prepared>;
  /**
   * Attacks for some seconds.
   *
   * @returns what the attacker got, for people
   * @throws Error when the gateway does what it must not do
   */
  run(scene: Scene): Promise<string>;
}

interface Prepared {
  readonly settings: GatewaySettings;
  /** Called once the gateway listens. */
  begin?(url: string): void;
  close(): Promise<void>;
}
