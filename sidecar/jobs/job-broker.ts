import type { Config } from '../shared/config/load.js';
import { brokerName } from './note-exchange.js';

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
