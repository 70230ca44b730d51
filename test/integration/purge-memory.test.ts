import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { BrokerClient, BrokerRequest, BrokerReply } from '../../sidecar/purge/broker/index.js';
import { purged } from '../support/purge-harness.js';

const TOTAL = 100_000;
const MIB = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the bytes held by objects and buffers after a garbage collection. */
function heldBytes(): number {
  collectGarbage();
  const { heapUsed: objects, external } = process.memoryUsage();
  return objects + external;
}

/** A broker that generates its entities on request and stores one byte for each. */
function createGenerator(locked: (n: number) => boolean, onBatch: () => void): BrokerClient {
  const isGone = new Uint8Array(TOTAL);
  let left = TOTAL;
  const idOf = (n: number) => `urn:ngsi-ld:Thing:${'0'.repeat(40)}${n}`;
  const numberOf = (id: string) => Number(id.split(':').at(-1));

  function query(parameters: URLSearchParams): BrokerReply {
    if (parameters.get('type') !== 'Thing') return { status: 200, headers: new Map(), body: '[]' };
    let skip = Number(parameters.get('offset') ?? 0);
    const limit = Number(parameters.get('limit'));
    const page: { id: string }[] = [];
    for (let n = 0; n < TOTAL && page.length < limit; n++) {
      if (isGone[n] === 0 && skip-- <= 0) page.push({ id: idOf(n) });
    }
    const headers = new Map([['ngsild-results-count', String(left)]]);
    return { status: 200, headers, body: JSON.stringify(page) };
  }

  function remove(ids: readonly string[]): BrokerReply {
    onBatch();
    const errors: unknown[] = [];
    for (const id of ids) {
      const n = numberOf(id);
      if (locked(n)) {
        errors.push({ entityId: id, error: { title: 'locked', status: 423, detail: 'x'.repeat(200) } });
      } else if (isGone[n] === 0) {
        isGone[n] = 1;
        left -= 1;
      }
    }
    return errors.length === 0
      ? { status: 204, headers: new Map(), body: '' }
      : { status: 207, headers: new Map(), body: JSON.stringify({ success: [], errors }) };
  }

  return {
    send: async ({ method, path, jsonBody = '[]' }: BrokerRequest) => {
      const search = path.split('?')[1] ?? '';
      return method === 'GET' ? query(new URLSearchParams(search)) : remove(JSON.parse(jsonBody) as string[]);
    },
    close: async () => {},
  };
}

for (const [name, locked] of [
  ['all can be deleted', () => false],
  ['every twentieth is locked', (n: number) => n % 20 === 0],
] as const) {
  it(`a purge of ${TOTAL} entities needs little memory: ${name}`, async () => {
    let batches = 0;
    let peak = 0;
    const before = heldBytes();
    const client = createGenerator(locked, () => {
      batches += 1;
      if (batches % 50 === 0) peak = Math.max(peak, heldBytes());
    });
    const report = await purged({ url: new URL('http://unused.invalid') }, 'type=Thing', {
      client,
      limits: { pageSize: 1000, batchSize: 500, concurrency: 1 },
    });
    assert.equal(report.matched, TOTAL);
    assert.equal(report.failed, name.startsWith('all') ? 0 : TOTAL / 20);
    assert.ok(report.errors.length <= 1000);
    assert.ok(peak - before < 20 * MIB, `${Math.round((peak - before) / MIB)} MiB`);
  });
}
