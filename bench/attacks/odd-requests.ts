import type { Attack } from './attack.js';
import { tally } from './sockets.js';

const LONG = 'x'.repeat(60_000);

/** A flood of header fields, followed by the fields that limit a purge, at a point where a parser may have stopped counting. */
export const headerFloods: Attack = {
  name: 'header floods',
  run: async ({ sockets, signal }) => {
    const statuses: number[] = [];
    const limits = ['X-Purge-Policy: max-affected=1, dry-run-only', 'NGSILD-Tenant: other'];
    for (let round = 0; round < 20 && !signal.aborted; round += 1) {
      const flood = Array.from({ length: 20 }, async (_, index) => {
        const fields = Array.from({ length: [990, 1000, 1100, 5000][index % 4] ?? 0 }, () => 'a:');
        const lines = ['DELETE /ngsi-ld/v1/entities?type=Guarded HTTP/1.1', 'Host: 127.0.0.1', ...fields];
        return sockets.exchange(`${[...lines, limits[index % 2]].join('\r\n')}\r\n\r\n`);
      });
      statuses.push(...(await Promise.all(flood)));
    }
    return tally(statuses);
  },
};

/** Request lines of 60 kB, to each kind of route. */
export const requestLines: Attack = {
  name: 'request lines of 60 kB',
  run: async ({ sockets, signal }) => {
    const targets = [
      `/ngsi-ld/v1/entities?id=urn:${LONG}`,
      `/ngsi-ld/v1/entities/urn:${LONG}`,
      `/ngsi-ld/v1/entities?${'id=urn:a:1&'.repeat(5000)}`,
      `/ngsi-ld/v1/${'../'.repeat(20_000)}entities`,
      `/ngsi-ld/v1/entities/${'%65'.repeat(20_000)}`,
      `/api/v2/domains/${LONG}`,
      `/api/v2/domains?${'limit=1&'.repeat(7000)}`,
      `/${'a/'.repeat(30_000)}`,
    ];
    const statuses: number[] = [];
    for (let round = 0; round < 10 && !signal.aborted; round += 1) {
      for (const method of ['GET', 'DELETE', 'POST']) {
        const lines = targets.map((target) => `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
        statuses.push(...(await Promise.all(lines.map(async (line) => sockets.exchange(line)))));
      }
    }
    return tally(statuses);
  },
};

/** Patterns that are large once compiled, or slow to match. */
export const patternBombs: Attack = {
  name: 'idPattern bombs',
  run: async ({ send, signal }) => {
    const patterns = [
      'a{0,1000}'.repeat(100),
      '((((a{0,30}){0,30}){0,30}){0,30}){0,30}',
      '(a|a)*'.repeat(150) + '$',
      '(?:a?){500}'.repeat(3),
      '\\pL{1000}'.repeat(20),
      `[${'a-zA-Z'.repeat(1000)}]{900}`,
      '('.repeat(500) + ')'.repeat(500),
    ];
    const statuses: number[] = [];
    for (let round = 0; round < 10 && !signal.aborted; round += 1) {
      const sent = patterns.flatMap((pattern) =>
        ['', '&dryRun=true'].map(async (dryRun) =>
          send('DELETE', `/ngsi-ld/v1/entities?type=None&idPattern=${encodeURIComponent(pattern)}${dryRun}`),
        ),
      );
      statuses.push(...(await Promise.all(sent)));
    }
    return tally(statuses);
  },
};
