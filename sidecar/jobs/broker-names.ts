import { hostname } from 'node:os';
import { isLoopback } from '../shared/loopback.js';

/**
 * What all processes call a broker: its URL without credentials. An address that only this machine reaches is named with the
 * machine.
 *
 * @param machine the name of this machine
 */
export function brokerName({ origin, pathname, hostname: host }: URL, machine = hostname()): string {
  const url = origin + pathname.replace(/\/+$/, '');
  return isLoopback(host.replace(/^\[|\]$/g, '')) ? `${url} on ${machine}` : url;
}

export interface JobBrokerOptions {
  /** The broker is the embedded one. */
  readonly isEmbedded: boolean;
  /** Processes on other machines may use the same store. */
  readonly isShared: boolean;
  /** The name of this machine. @default that of the system */
  readonly machine?: string;
}

/**
 * The broker that a job is bound to: it is never resumed at another one. The embedded broker has another port at each start, and a
 * SQLite file belongs to one machine, whatever its name is now.
 *
 * @param url of the broker
 */
export function jobBroker(url: URL, { isEmbedded, isShared, machine }: JobBrokerOptions): string {
  if (isEmbedded) return 'embedded';
  return brokerName(url, isShared ? machine : 'this machine');
}
