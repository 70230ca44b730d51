/**
 * A broker that attacks the gateway and records each delete, in a separate process. What it does depends on the type in the
 * query:
 *
 * | Guarded | 1000 entities, which no attack may delete |
 * | Claim | endless pages, and a count of a million; these may be deleted |
 * | Nested | 60 MB of nested arrays |
 * | Hints | endless interim answers (103) |
 * | Hang | no answer |
 * | Large | 64 MB |
 *
 * @import { BrokerCommand, BrokerReport } from './attack-broker-protocol.js'
 * @import { IncomingMessage, ServerResponse } from 'node:http'
 */
import { createServer } from 'node:http';

const GUARDED = 1000;
const CLAIMED = 1_000_000;
const MB = 1024 * 1024;
const ENTITIES = '/ngsi-ld/v1/entities/';
const ARRAYS = Buffer.from('[[[[[[[[]]]]]]]],'.repeat(MB / 16));
const FILLER = Buffer.alloc(MB, 'x');
const HINT = 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n';
const HINT_EVERY_MS = 5;

/** @type {BrokerReport} */
const report = { deleted: 0, outside: 0 };

/** @param {IncomingMessage} req @param {ServerResponse} res */
function answer(req, res) {
  const { method, url = '' } = req;
  const { pathname, searchParams } = new URL(url, 'http://broker');
  if (pathname === '/ngsi-ld/v1/entityOperations/delete') void takeBatch(req, res);
  else if (method === 'DELETE') {
    const [id = '', ...rest] = pathname.slice(ENTITIES.length).split('/');
    note(req, pathname.startsWith(ENTITIES) && rest.length === 0 ? decodeURIComponent(id) : undefined);
    res.writeHead(204).end();
  } else if (method === 'GET') answerQuery(req, res, searchParams);
  else req.resume().once('end', () => res.writeHead(201, { location: '/ngsi-ld/v1/entities/urn:a:1' }).end());
}

/** @param {IncomingMessage} req @param {ServerResponse} res */
async function takeBatch(req, res) {
  let text = '';
  for await (const chunk of req) text += String(chunk);
  /** @type {unknown} */
  const ids = JSON.parse(text);
  for (const id of Array.isArray(ids) ? ids : [undefined]) note(req, id);
  res.writeHead(204).end();
}

/**
 * Records a deleted entity.
 *
 * @param {IncomingMessage} req @param {unknown} id
 */
function note(req, id) {
  const isClaimed = typeof id === 'string' && id.startsWith('urn:ngsi-ld:Claim:');
  if (isClaimed && req.headers['ngsild-tenant'] === undefined) report.deleted += 1;
  else report.outside += 1;
}

/** @param {IncomingMessage} req @param {ServerResponse} res @param {URLSearchParams} query */
function answerQuery(req, res, query) {
  const type = req.headers['ngsild-tenant'] === undefined ? query.get('type') : null;
  const isFiltered = query.has('q') || query.has('attrs') || query.has('idPattern');
  if (type === 'Hang') return;
  if (type === 'Hints') {
    const timer = setInterval(() => req.socket.write(HINT), HINT_EVERY_MS);
    req.socket.once('close', () => clearInterval(timer));
  } else if (type === 'Nested')
    void sendMany(res, [Buffer.from('['), ...Array.from({ length: 60 }, () => ARRAYS), Buffer.from('1]')]);
  else if (type === 'Large')
    void sendMany(
      res,
      Array.from({ length: 64 }, () => FILLER),
    );
  else if (type === 'Guarded' && !isFiltered) sendPage(res, query, type, GUARDED);
  else if (type === 'Claim' && !isFiltered) sendPage(res, query, type, CLAIMED);
  else sendPage(res, query, 'None', 0);
}

/** @param {ServerResponse} res @param {readonly Buffer[]} chunks */
async function sendMany(res, chunks) {
  res.writeHead(200, { 'content-type': 'application/json', 'ngsild-results-count': '1000' });
  for (const chunk of chunks) {
    if (res.destroyed) return;
    if (!res.write(chunk)) await drained(res);
  }
  res.end();
}

/** @param {ServerResponse} res @returns {Promise<void>} */
async function drained(res) {
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done);
      resolve();
    };
    res.on('drain', done).on('close', done);
  });
}

/** @param {ServerResponse} res @param {URLSearchParams} query @param {string} type @param {number} total */
function sendPage(res, query, type, total) {
  const offset = Number(query.get('offset') ?? 0);
  const length = Math.max(0, Math.min(Number(query.get('limit') ?? 20), total - offset));
  const page = Array.from({ length }, (_, index) => ({ id: `urn:ngsi-ld:${type}:${offset + index}`, type }));
  res.writeHead(200, { 'content-type': 'application/json', 'ngsild-results-count': String(total) });
  res.end(JSON.stringify(page));
}

const server = createServer({ maxHeaderSize: 256 * 1024, keepAliveTimeout: 75_000 }, answer);
server.maxHeadersCount = 0;

process.on('message', (/** @type {BrokerCommand} */ command) => {
  if (command.do === 'report') {
    process.send?.(report);
    return;
  }
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (typeof address === 'object') process.send?.({ url: `http://127.0.0.1:${String(address?.port)}` });
  });
});
process.on('disconnect', () => process.exit());
