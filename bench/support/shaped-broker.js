/**
 * Runs a broker of a given shape in a separate process: how long its deletes and pages take depends on position, offset or
 * size. It spends the time on the processor, as a broker that searches or sorts does. It only has what a purge by type needs.
 *
 * @import { BrokerShape, ShapedAnswer, ShapedCommand } from './shaped-protocol.js'
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { IdSequence } from './id-sequence.js';

/** In microseconds. */
const REQUEST_US = 100;
const DELETE_US = 20;
const STEP_US = 0.025;
const PAGE_US = 1000;
const ENTITY_US = 1;
const OFFSET_US = 1;
const SIZED_ENTITY_US = 10;

let row = new IdSequence([]);
let requests = 0;

/** @param {number} us */
function spend(us) {
  const until = performance.now() + us / 1000;
  while (performance.now() < until);
}

/** @param {BrokerShape} shape @param {string} id @returns {boolean} whether it existed */
function remove(shape, id) {
  const rank = row.rankOf(id);
  if (rank === undefined) return false;
  const steps = shape.delete === 'from-head' ? rank : shape.delete === 'from-tail' ? row.size - 1 - rank : 0;
  spend(DELETE_US + steps * STEP_US);
  row.remove(id);
  return true;
}

/** @param {number} bytes @returns {Record<string, unknown>} attributes that have about this size as JSON */
function attributesOf(bytes) {
  const amount = Math.ceil(bytes / 100);
  const property = { type: 'Property', value: 'x'.repeat(60) };
  return Object.fromEntries(Array.from({ length: amount }, (_, at) => [`name${at}`, property]));
}

/** @param {BrokerShape} shape @param {URLSearchParams} query @returns {Reply} */
function page(shape, query) {
  const limit = shape.paging ? Number(query.get('limit') ?? 20) : Infinity;
  const offset = shape.paging ? Number(query.get('offset') ?? 0) : 0;
  const isCounted = query.get('count') === 'true';
  // A type that no entity has: the purge asks whether the filter is applied.
  const isNone = query.get('type')?.includes('PurgeProbe') === true;
  if (limit > shape.pageMax && limit !== Infinity)
    return { status: 400, body: { title: 'limit is too large' } };
  const ids = isNone ? [] : row.slice(offset, limit);
  const each = shape.page === 'by-size' ? SIZED_ENTITY_US : ENTITY_US;
  const isCountDear = isCounted && shape.count === 'costs-a-page';
  spend(PAGE_US + ids.length * each + (shape.page === 'by-offset' ? offset * OFFSET_US : 0));
  if (isCountDear) spend(PAGE_US + row.size * ENTITY_US);
  const isWhole = shape.entityBytes !== undefined && !query.has('pick');
  const attributes = isWhole ? attributesOf(shape.entityBytes) : {};
  return {
    status: 200,
    headers: isCounted ? { 'NGSILD-Results-Count': String(isNone ? 0 : row.size) } : {},
    body: ids.map((id) => ({ id, type: 'Shaped', ...attributes })),
  };
}

/** @typedef {{ status: number, headers?: Record<string, string>, body?: unknown }} Reply */

/** @param {BrokerShape} shape @param {string} method @param {URL} url @param {string} body @returns {Reply} */
function answer(shape, method, url, body) {
  const [, , , resource, id] = url.pathname.split('/');
  if (method === 'POST') {
    /** @type {unknown} */
    const sent = JSON.parse(body);
    const ids = Array.isArray(sent) ? sent.map(String) : [];
    const missing = ids.filter((each) => !remove(shape, each));
    if (missing.length === 0) return { status: 204 };
    const errors = missing.map((entityId) => ({ entityId, error: { status: 404, title: 'Not found' } }));
    return { status: 207, body: { success: ids.filter((each) => !missing.includes(each)), errors } };
  }
  if (method === 'GET' && resource === 'entities') return page(shape, url.searchParams);
  return { status: remove(shape, decodeURIComponent(id ?? '')) ? 204 : 404 };
}

/** @param {BrokerShape} shape @returns {Promise<string>} its URL */
async function serve(shape) {
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    void text(incoming).then((sent) => {
      requests += 1;
      spend(REQUEST_US);
      const url = new URL(incoming.url ?? '/', 'http://broker');
      const { status, headers, body } = answer(shape, incoming.method ?? '', url, sent);
      outgoing.writeHead(status, { 'Content-Type': 'application/json', ...headers });
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  });
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(undefined));
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

/** @param {ShapedCommand} command @returns {Promise<ShapedAnswer>} */
async function obey(command) {
  if (command.do === 'start') return { url: await serve(command.shape) };
  if (command.do === 'seed') {
    row = new IdSequence(command.ids);
    requests = 0;
  }
  return { left: row.size, requests };
}

process.on('message', (/** @type {ShapedCommand} */ command) => {
  void obey(command).then((value) => process.send?.(value));
});
process.on('disconnect', () => process.exit());
