import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { ContextCache } from '../../../../sidecar/schemas/json-ld/context-cache.js';
import { SharedProcessors } from '../../../../sidecar/schemas/json-ld/request-contexts.js';
import type { ContextResult } from '../../../../sidecar/schemas/json-ld/errors.js';
import { ProcessingSession } from '../../../../sidecar/schemas/json-ld/processing-session.js';
import type { JsonLdProcessor, ProcessorEvent } from '../../../../sidecar/schemas/json-ld/processor.js';

const url = (n: number | string) => `https://contexts.example/${n}`;

function supplyOf(context: unknown, documentUrl?: string): ContextResult {
  const text = JSON.stringify({ '@context': context });
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { sha256, text, ...(documentUrl === undefined ? {} : { documentUrl }) };
}

describe('the contexts known to a worker', () => {
  it('a context is known under its URL for the last three stamps, and must be supplied for each of them', () => {
    const known = new ContextCache();
    const missing = (stamp: string, supplied?: ContextResult) =>
      known.gather([url(1)], stamp, supplied === undefined ? [] : [[url(1), supplied]]).missing;
    assert.deepEqual(missing('a'), [url(1)]);
    assert.deepEqual(missing('a', supplyOf({})), []);
    assert.deepEqual(missing('a'), []);
    assert.deepEqual(missing('b'), [url(1)]);
    assert.deepEqual(missing('b', supplyOf({})), []);
    assert.deepEqual(missing('a'), []);
    for (const stamp of ['c', 'd', 'e']) assert.deepEqual(missing(stamp), [url(1)]);
    assert.deepEqual(missing('a'), [url(1)]);
  });
});

describe('the shared processors of requests', () => {
  const use = (signature: string | undefined, weight: number, key = 'k') => ({
    gathered: {
      contents: new Map([
        [url(1), { key, text: '{}', documentUrl: url(1), references: [], parts: 1, isBundled: false }],
      ]),
      failures: new Map(),
      missing: [],
      isTooMuch: false,
    },
    signature,
    weight,
  });

  it('requests with the same contexts share a processor, until other contexts are too much beside them', () => {
    const shared = new SharedProcessors();
    const first = shared.for(use('a', 2_000_000));
    assert.equal(shared.for(use('a', 2_000_000)), first);
    for (const other of [use('b', 1), use('a', 1, 'of another text')])
      assert.notEqual(shared.for(other), first);
    assert.notEqual(shared.for(use('c', 2_000_000)), first);
    assert.equal(shared.for(use('a', 2_000_000)), first);
    shared.for(use('d', 2_000_000));
    assert.equal(shared.for(use('a', 2_000_000)), first);
    assert.notEqual(shared.for(use('c', 2_000_000)), shared.for(use('d', 2_000_000)));
  });

  it('a request has its own processor if its contexts are too heavy or cannot be shared', () => {
    const shared = new SharedProcessors();
    const common = shared.for(use('a', 2_500_000));
    for (const own of [use(undefined, 1), use('b', 2_500_001)])
      assert.notEqual(shared.for(own), shared.for(own));
    assert.equal(shared.for(use('a', 2_500_000)), common);
  });

  it('at most a thousand processors are kept, however small their contexts are', () => {
    const shared = new SharedProcessors();
    const [first, second] = [shared.for(use('0', 1)), shared.for(use('1', 1))];
    for (let count = 2; count <= 1000; count += 1) shared.for(use(String(count), 1));
    assert.equal(shared.for(use('1', 1)), second);
    assert.notEqual(shared.for(use('0', 1)), first);
  });
});

describe('the processing of one request', () => {
  function sessionOf(events: readonly ProcessorEvent[]) {
    const processor = {
      expand: async (_document: object, given: Parameters<JsonLdProcessor['expand']>[1]) => {
        for (const event of events) given.eventHandler?.({ event, next: () => undefined });
        return Promise.resolve([]);
      },
    } as unknown as JsonLdProcessor;
    const nothing = { contents: new Map(), failures: new Map(), missing: [], isTooMuch: false };
    return new ProcessingSession(processor, nothing);
  }

  const event = (code: string, details: Readonly<Record<string, unknown>>): ProcessorEvent => ({
    code,
    level: 'warning',
    message: '',
    details,
  });

  it('up to a thousand different events of a request are counted, separately if they differ in a text', async () => {
    const same = [1, 2, 3].map((n) => event('a', { x: '1', n }));
    const session = sessionOf([...same, event('a', { x: '2' }), event('b', { x: '1' })]);
    await session.expand({}, undefined);
    assert.deepEqual(
      session.events.map(({ event: { code, details }, count }) => [code, details['x'], count]),
      [
        ['a', '1', 3],
        ['a', '2', 1],
        ['b', '1', 1],
      ],
    );
    const many = Array.from({ length: 1001 }, (_, n) => event('a', { x: String(n) }));
    const full = sessionOf([...many, event('a', { x: '0' })]);
    await full.expand({}, undefined);
    assert.deepEqual([full.events.length, full.events[0]?.count], [1000, 2]);
  });
});
