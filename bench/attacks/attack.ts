import type { GatewaySettings } from '../support/gateway.js';
import type { Sockets } from './sockets.js';

interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string | Buffer;
}

/** The environment of an attack. */
export interface AttackContext {
  /** The gateway's URL, without a slash at the end. */
  readonly url: string;
  /** Connections to the gateway; closed when the attack is over. */
  readonly sockets: Sockets;
  /** Sends a request as clients do. @returns the status; 0 if the connection ends without an answer */
  readonly send: (method: string, target: string, options?: SendOptions) => Promise<number>;
  /** The gateway's database file. */
  readonly databasePath: string;
  /** Aborts when the attack should end. */
  readonly signal: AbortSignal;
  /** Waits for the given time, or until the attack should end. */
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
   * @returns a summary for people of what the attacker got
   * @throws Error if the gateway does something that it must not do
   */
  run(scene: AttackContext): Promise<string>;
}

interface Prepared {
  readonly settings: GatewaySettings;
  /** Called once the gateway listens. */
  begin?(url: string): void;
  close(): Promise<void>;
}
