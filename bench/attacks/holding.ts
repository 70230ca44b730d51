import type { Socket } from 'node:net';
import type { Attack, AttackContext } from './attack.js';

/** Attacks with connections that are held open almost without traffic. */

const UPLOAD = 'Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{';
const ENTITY = `POST /ngsi-ld/v1/entities HTTP/1.1\r\nHost: 127.0.0.1\r\n${UPLOAD}`;
const DOMAIN = `POST /api/v2/domains HTTP/1.1\r\nHost: 127.0.0.1\r\n${UPLOAD}`.replace('1000000', '60000');

const HOLD_MS = 6000;
const DRIP_MS = 500;

async function hold(
  scene: AttackContext,
  number: number,
  begin: string,
  drip?: string,
): Promise<readonly Socket[]> {
  const held = await scene.sockets.connectMany(number);
  for (const socket of held) {
    socket.write(begin);
    if (drip === undefined) continue;
    const timer = setInterval(() => socket.write(drip), DRIP_MS);
    socket.once('close', () => clearInterval(timer));
  }
  return held;
}

/**
 * Measures what other clients experience in the meantime: the slowest of some pass-through reads, in ms.
 *
 * @throws Error if one fails
 */
async function slowestRead({ send, pause }: AttackContext): Promise<number> {
  let slowest = 0;
  for (let count = 0; count < 5; count += 1) {
    const startedMs = performance.now();
    const status = await send('GET', '/ngsi-ld/v1/entities?type=None');
    if (status !== 200) throw new Error(`A read in the meantime was answered ${status}.`);
    slowest = Math.max(slowest, performance.now() - startedMs);
    await pause(HOLD_MS / 5);
  }
  return slowest;
}

async function heldWhileReading(scene: AttackContext): Promise<string> {
  const before = scene.sockets.count;
  const slowest = await slowestRead(scene);
  return `${scene.sockets.count} of ${before} open, reads within ${Math.round(slowest)} ms`;
}

/** Request heads that never end. */
export const halfSentHeads: Attack = {
  name: 'half-sent heads',
  run: async (scene) => {
    await hold(scene, 400, 'GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ');
    await hold(scene, 400, 'GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ', 'a');
    return heldWhileReading(scene);
  },
};

/** Uploads that stop after their first byte, to the broker and to the gateway itself. */
export const stalledUploads: Attack = {
  name: 'stalled uploads',
  run: async (scene) => {
    await hold(scene, 300, ENTITY);
    await hold(scene, 300, DOMAIN);
    return heldWhileReading(scene);
  },
};

/** Uploads that send a byte now and then. */
export const drippingUploads: Attack = {
  name: 'dripping uploads',
  run: async (scene) => {
    await hold(scene, 300, ENTITY, ' ');
    await hold(scene, 300, DOMAIN, ' ');
    return heldWhileReading(scene);
  },
};

/** Large answers that are never read, or only a byte now and then. */
export const unreadAnswers: Attack = {
  name: 'answers unread',
  run: async (scene) => {
    const held = await hold(
      scene,
      50,
      'GET /ngsi-ld/v1/entities?type=Large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    );
    for (const [index, socket] of held.entries()) {
      socket.pause();
      if (index % 2 === 0) continue;
      const timer = setInterval(() => void socket.read(1), DRIP_MS);
      socket.once('close', () => clearInterval(timer));
    }
    return heldWhileReading(scene);
  },
};

/** Hundreds of clients that open the event stream of a purge and read nothing. */
export const eventListeners: Attack = {
  name: 'event streams unread',
  run: async (scene) => {
    const { url, sockets, signal } = scene;
    const started = await fetch(`${url}/api/v2/purges`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ target: 'entities', query: 'type=Claim', maxPerSecond: 1000 }),
      signal,
    });
    const { id } = (await started.json()) as { id: string };
    const listeners = await hold(
      scene,
      500,
      `GET /api/v2/purges/${id}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
    );
    for (const socket of listeners) socket.pause();
    const outcome = await heldWhileReading(scene);
    sockets.closeAll();
    await scene.send('POST', `/api/v2/purges/${id}/cancel`);
    return outcome;
  },
};
