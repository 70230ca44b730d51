import { hostname } from 'node:os';
import type { Config } from '../shared/config/load.js';
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

/**
 * What a job is bound to: it never goes on at another broker. The embedded one has another port at each start, and a file of
 * SQLite is of one machine, whatever its name is now.
 *
 * @param url of the broker
 * @param machine the name of this machine, where it is not asked for
 */
export function jobBroker(
  { BROKER_URL, DATABASE_URL }: Pick<Config, 'BROKER_URL' | 'DATABASE_URL'>,
  url: URL,
  machine?: string,
): string {
  if (BROKER_URL === 'embedded') return 'embedded';
  return brokerName(url, DATABASE_URL === undefined ? 'this machine' : machine);
}
