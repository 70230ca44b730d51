import { startGateway } from '../support/gateway.js';
import type { Attack } from './attack.js';
import { tally } from './sockets.js';
import { startLateForwarder } from './late-forwarder.js';

const HOLD_MS = 4000;

/** A broker that sends interim answers for ever. */
export const endlessHints: Attack = {
  name: 'endless 103',
  run: async ({ sockets, pause }) => {
    for (const socket of await sockets.connectMany(200)) {
      socket.resume();
      socket.write('GET /ngsi-ld/v1/entities?type=Hints HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    }
    await pause(HOLD_MS);
    return `${sockets.count} of 200 wait`;
  },
};

/** Purges that receive 60 MB of nested arrays as a page. */
export const nestedPages: Attack = {
  name: 'pages of 60 MB',
  run: async ({ send }) => {
    const purges = Array.from({ length: 4 }, async (_, index) =>
      send('DELETE', `/ngsi-ld/v1/entities?type=Nested${index % 2 === 0 ? '' : '&dryRun=true'}`),
    );
    return tally(await Promise.all(purges));
  },
};

/** 500 simultaneous purges of a broker that claims a million matches for each, and lists without end. */
export const claimedMatches: Attack = {
  name: '500 purges of a million',
  run: async ({ sockets, pause }) => {
    const statuses: (number | string)[] = [];
    const purges = Array.from({ length: 500 }, async () =>
      statuses.push(
        await sockets.exchange('DELETE /ngsi-ld/v1/entities?type=Claim HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'),
      ),
    );
    await pause(HOLD_MS);
    const outcome = `${tally(statuses)}, ${500 - statuses.length} at work`;
    sockets.closeAll();
    await Promise.all(purges);
    return outcome;
  },
};

/** Two gateways, each configured as the broker of the other. */
export const ring: Attack = {
  name: 'a ring of two',
  prepare: async () => {
    const forwarder = await startLateForwarder();
    const second = await startGateway(forwarder.url);
    return {
      settings: { BROKER_URL: second.url },
      begin: forwarder.leadTo,
      close: async () => {
        forwarder.close();
        await second.close();
      },
    };
  },
  run: async ({ send, signal }) => {
    const statuses: number[] = [];
    for (let round = 0; round < 20 && !signal.aborted; round += 1) {
      const sent = Array.from({ length: 20 }, async (_, index) =>
        index % 10 === 0
          ? send('DELETE', '/ngsi-ld/v1/entities?type=None')
          : send('GET', '/ngsi-ld/v1/entities?type=None'),
      );
      statuses.push(...(await Promise.all(sent)));
    }
    return tally(statuses);
  },
};
