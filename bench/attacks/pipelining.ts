import type { Attack } from './attack.js';
import { statusFrom, tally } from './sockets.js';

const HANG = 'GET /ngsi-ld/v1/entities?type=Hang HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
const LIVE = 'GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
const PURGE = 'DELETE /ngsi-ld/v1/entities?type=None HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

/** 44,000 small requests, pipelined behind one that is never answered, on each of eight connections. */
export const pipelinedReads: Attack = {
  name: 'pipelined behind an open request',
  run: async ({ sockets, pause, signal }) => {
    const bytes = Buffer.from(HANG + LIVE.repeat(44_000));
    let closed = 0;
    for (let round = 0; round < 3 && !signal.aborted; round += 1) {
      const connections = await sockets.connectMany(8);
      for (const socket of connections) {
        socket.once('close', () => (closed += 1)).resume();
        socket.write(bytes);
      }
      await pause(1000);
    }
    return `${closed} of 24 connections closed`;
  },
};

/** 44,000 small requests at once, all of which are answered, to a client that reads nothing. */
export const pipelinedUnread: Attack = {
  name: 'pipelined, answers unread',
  run: async ({ sockets, pause }) => {
    for (const socket of await sockets.connectMany(8)) {
      socket.pause();
      socket.write(LIVE.repeat(44_000));
    }
    await pause(3000);
    return `${sockets.count} of 8 connections open`;
  },
};

/** A thousand pipelined purges on one connection, with and without an open request before them. */
export const pipelinedPurges: Attack = {
  name: '1000 purges on a connection',
  run: async ({ sockets, pause }) => {
    const first: Promise<number>[] = [];
    for (const begin of ['', HANG, '', HANG]) {
      const socket = await sockets.connect();
      socket.write(begin + PURGE.repeat(1000));
      if (begin === '') first.push(statusFrom(socket));
      else socket.resume();
    }
    await pause(3000);
    return `first answers: ${tally(await Promise.all(first))}`;
  },
};
