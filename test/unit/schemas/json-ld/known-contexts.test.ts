import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { coreContextUrl } from '../../../../sidecar/schemas/json-ld/core-context.js';
import { KnownContexts, MAX_CONTEXTS } from '../../../../sidecar/schemas/json-ld/known-contexts.js';
import { ProcessingSession } from '../../../../sidecar/schemas/json-ld/processing-session.js';
import type { JsonLdProcessor, ProcessorEvent } from '../../../../sidecar/schemas/json-ld/processor.js';
import { SharedProcessor } from '../../../../sidecar/schemas/json-ld/request-contexts.js';
import type { Supply } from '../../../../sidecar/schemas/json-ld/errors.js';

const url = (n: number | string) => `https://contexts.example/${n}`;

function supplyOf(context: unknown, documentUrl?: string): Supply {
  const text = JSON.stringify({ '@context': context });
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { sha256, text, ...(documentUrl === undefined ? {} : { documentUrl }) };
}

describe('the contexts known to a worker', () => {
  it('a context is known under its URL for the last three stamps, and must be supplied for each of them', () => {
    const known = new KnownContexts();
    const missing = (stamp: string, supplied?: Supply) =>
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

  it('a context that could not be supplied is requested again by the next request', () => {
    const known = new KnownContexts();
    const failure = { kind: 'contextUnavailable', detail: 'gone' } as const;
    const failed = known.gather([url(1)], 'a', [[url(1), { failure }]]);
    assert.deepEqual([failed.missing, failed.failures.get(url(1))], [[], failure]);
    assert.deepEqual(known.gather([url(1)], 'a', []).missing, [url(1)]);
  });

  it('the references of the same text are relative to where it was found', () => {
    const known = new KnownContexts();
    const supplied = [
      [url('a/x'), supplyOf(['y'], url('one/x'))],
      [url('b/x'), supplyOf(['y'], url('two/x'))],
      [url('c/x'), supplyOf(['y'])],
    ] as const;
    const { missing, contents } = known.gather(
      supplied.map(([one]) => one),
      'a',
      supplied,
    );
    assert.deepEqual(missing, [url('one/y'), url('two/y'), url('c/y')]);
    assert.equal(new Set([...contents.values()].map(({ key }) => key)).size, 3);
    // The context may be found under another URL the next time.
    const moved = known.gather([url('c/x')], 'b', [[url('c/x'), supplyOf(['y'], url('three/x'))]]);
    assert.deepEqual(moved.missing, [url('three/y')]);
  });

  for (const [count, isTooMuch] of [
    [MAX_CONTEXTS, false],
    [MAX_CONTEXTS + 1, true],
  ] as const) {
    it(`${count} contexts are ${isTooMuch ? 'too many' : 'not too many'} for one request, even if one names the others`, () => {
      const others = Array.from({ length: count - 1 }, (_, n) => url(n));
      const known = new KnownContexts();
      const supplied = [[url('all'), supplyOf(others)], ...others.map((one) => [one, supplyOf({})])] as const;
      const gather = (urls: readonly string[]) => known.gather(urls, 'a', supplied as never);
      assert.equal(gather([url('all')]).isTooMuch, isTooMuch);
      assert.equal(gather([url('all'), ...others]).isTooMuch, isTooMuch);
    });
  }

  it('a context that is invalid, too large or has unusable terms is refused with its URL', () => {
    const known = new KnownContexts();
    for (const text of [
      '[]',
      '{}',
      '{',
      '"x"',
      '{"@context": {"hasOwnProperty": "urn:x"}}',
      JSON.stringify({ '@context': Array.from({ length: 101 }, () => ({})) }),
    ]) {
      const failure = known.gather([url(1)], 'a', [[url(1), { sha256: text, text }]]).failures.get(url(1));
      assert.equal(failure?.kind, 'contextInvalid', text);
      assert.ok(failure.detail.includes(url(1)));
    }
    assert.equal(known.gather(['ftp://x/'], 'a', []).failures.get('ftp://x/')?.kind, 'contextRefused');
  });

  it('a bundled context is known without a supply, and marked as bundled', () => {
    const core = new KnownContexts().gather([coreContextUrl()], 'a', []).contents.get(coreContextUrl());
    assert.equal(core?.isBundled, true);
  });
});

describe('the shared processor of requests', () => {
  const gathered = (keys: Readonly<Record<string, string>>, failures = 0) => ({
    contents: new Map(
      Object.entries(keys).map(([one, key]) => [
        one,
        {
          key,
          text: '{}',
          documentUrl: one,
          references: [],
          parts: 1,
          namesIris: false,
          isBundled: false,
        },
      ]),
    ),
    failures: new Map(
      Array.from({ length: failures }, (_, n) => [
        String(n),
        { kind: 'contextRefused', detail: '' } as const,
      ]),
    ),
    missing: [],
    isTooMuch: false,
  });
  const use = (signature: string | undefined, weight: number, more: object = {}) => ({
    gathered: gathered({}),
    signature,
    weight,
    ...more,
  });

  it('requests share a processor until its data is too much, counted once for each signature', () => {
    const shared = new SharedProcessor();
    const first = shared.for(use('a', 2_000_000));
    for (const signature of ['a', 'a', 'b', 'a'])
      assert.equal(shared.for(use(signature, 2_000_000)), first, signature);
    assert.equal(shared.for(use('c', 1_000_000)), first);
    const second = shared.for(use('d', 1));
    assert.notEqual(second, first);
    assert.equal(shared.for(use('a', 2_000_000)), second);
    assert.equal(shared.for(use('e', 2_499_999)), second);
    assert.equal(shared.for(use('d', 1)), second);
  });

  it('requests share a processor until one of their URLs gets another meaning', () => {
    const shared = new SharedProcessor();
    const of = (signature: string, keys: Readonly<Record<string, string>>) =>
      shared.for(use(signature, 1, { gathered: gathered(keys) }));
    const first = of('a', { x: '1' });
    assert.equal(of('b', { y: '1' }), first);
    assert.equal(of('a', { x: '1', y: '1' }), first);
    const second = of('a', { x: '1', y: '2' });
    assert.notEqual(second, first);
    assert.equal(of('a', { x: '2' }) === second, false);
  });

  it('a request has its own processor if its contexts are too heavy, cannot be shared, or are unavailable', () => {
    const shared = new SharedProcessor();
    const common = shared.for(use('a', 1));
    for (const own of [use(undefined, 1), use('b', 2_500_001), use('c', 1, { gathered: gathered({}, 1) })]) {
      const next = shared.for(own);
      assert.notEqual(next, common);
      assert.notEqual(shared.for(own), next);
    }
    assert.equal(shared.for(use('d', 2_500_000)), common);
  });
});

describe('the processing of one request', () => {
  const none = { contents: new Map(), failures: new Map(), missing: [], isTooMuch: false };

  function sessionOf(events: readonly ProcessorEvent[], gathered = none) {
    const options: unknown[] = [];
    const processor = {
      expand: async (_document: object, given: Parameters<JsonLdProcessor['expand']>[1]) => {
        options.push(given);
        for (const event of events) given.eventHandler?.({ event, next: () => undefined });
        return Promise.resolve([]);
      },
    } as unknown as JsonLdProcessor;
    return { session: new ProcessingSession(processor, gathered), options };
  }

  const event = (code: string, details: Readonly<Record<string, unknown>>): ProcessorEvent => ({
    code,
    level: 'warning',
    message: '',
    details,
  });

  it('up to a thousand different events of a request are counted, separately if they differ in a text', async () => {
    const same = [1, 2, 3].map((n) => event('a', { x: '1', n }));
    const { session } = sessionOf([...same, event('a', { x: '2' }), event('b', { x: '1' })]);
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
    const { session: full } = sessionOf([...many, event('a', { x: '0' })]);
    await full.expand({}, undefined);
    assert.deepEqual([full.events.length, full.events[0]?.count], [1000, 2]);
    assert.deepEqual(full.withoutEvents().events, []);
  });

  it('a request without a context passes none to the processor', async () => {
    const { session, options } = sessionOf([]);
    for (const context of [undefined, null, {}]) await session.expand({}, context);
    assert.deepEqual(
      options.map((given) => 'expandContext' in (given as object)),
      [false, false, true],
    );
  });

  it('the key of a request changes with its contexts, and does not exist if one is unavailable', () => {
    const content = (key: string) => ({ key }) as never;
    const keyOf = (contents: Readonly<Record<string, string>>, failures: readonly string[] = []) =>
      sessionOf([], {
        ...none,
        contents: new Map(Object.entries(contents).map(([one, key]) => [one, content(key)])),
        failures: new Map(failures.map((one) => [one, { kind: 'contextRefused', detail: '' }])),
      }).session.contextsKey;
    assert.equal(keyOf({ a: '1' }), keyOf({ a: '1' }));
    assert.notEqual(keyOf({ a: '1' }), keyOf({ a: '2' }));
    assert.notEqual(keyOf({ a: '1' }), keyOf({ b: '1' }));
    assert.equal(keyOf({ a: '1' }, ['b']), undefined);
  });
});
