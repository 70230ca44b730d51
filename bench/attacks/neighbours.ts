import type { Attack } from './attack.js';
import { startChild } from './child.js';
import { tally } from './sockets.js';

const WRITES = 20;
const SCRAPERS = 32;
const SCRAPE_MS = 4000;

/** Another process keeps the database locked during writes and purges. */
export const lockedDatabase: Attack = {
  name: 'database locked',
  run: async ({ send, databasePath }) => {
    const locker = startChild<{ readonly lock: string }>('lock-database.js');
    try {
      await locker.send({ lock: databasePath });
      const writes = Array.from({ length: WRITES }, async (_, index) =>
        send('POST', '/api/v2/domains', { body: `{"name":"D${index}"}` }),
      );
      const purges = Array.from({ length: WRITES }, async () =>
        send('DELETE', '/ngsi-ld/v1/entities?type=None'),
      );
      return `writes ${tally(await Promise.all(writes))}; purges ${tally(await Promise.all(purges))}`;
    } finally {
      locker.close();
    }
  },
};

/** Clients read the metrics as often as possible. */
export const scrapedMetrics: Attack = {
  name: 'metrics scraped hard',
  run: async ({ send, signal }) => {
    const statuses: number[] = [];
    const endMs = performance.now() + SCRAPE_MS;
    const scrape = async () => {
      while (performance.now() < endMs && !signal.aborted) statuses.push(await send('GET', '/metrics'));
    };
    await Promise.all(Array.from({ length: SCRAPERS }, scrape));
    return tally(statuses);
  },
};
