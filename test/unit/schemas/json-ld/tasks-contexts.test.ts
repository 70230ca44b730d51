import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CORE_CONTEXT_VERSIONS, coreContextUrls } from '../../../../sidecar/schemas/json-ld/core-context.js';
import { createJsonLdTasks } from '../../../../sidecar/schemas/json-ld/tasks.js';
import { CORE } from './contexts.js';
import { answered, Desk } from './desk.js';

const A = 'https://contexts.example/a';
const B = 'https://contexts.example/b';

function to(name: string): Readonly<Record<string, string>> {
  return { p: `https://terms.example/${name}` };
}

/** The IRI that `p` means. */
async function meaning(desk: Desk, context: unknown, document: object = { p: 1 }): Promise<string> {
  const { result } = await desk.expand({ document: { '@context': context, ...document } });
  return Object.keys((result as readonly object[])[0] ?? {}).join(' ');
}

describe('contexts in a worker', () => {
  it('contexts in a worker are requested once, with those they name, and not again while the stamp stays the same', async () => {
    const desk = new Desk({ [A]: [B, { '@version': 1.1 }], [B]: to('b') });
    for (const round of [1, 2, 3])
      assert.equal(await meaning(desk, [A, CORE]), 'https://terms.example/b', `round ${round}`);
    assert.deepEqual(desk.asked, [A, B]);
    desk.stamp = 'another';
    assert.equal(await meaning(desk, A), 'https://terms.example/b');
    assert.deepEqual(desk.asked, [A, B, A, B]);
  });

  it('contexts in a worker are requested all at once if the request names them, at any place', async () => {
    const desk = new Desk();
    const document = { '@context': [A, CORE], p: { '@context': { q: { '@id': 'urn:q', '@context': B } } } };
    const text = JSON.stringify({ document, context: 'https://contexts.example/c' });
    const outcome = await desk.tasks.expandDocument({ text, stamp: '', supplied: [] });
    assert.deepEqual(outcome, { needs: { urls: ['https://contexts.example/c', A, B] } });
  });

  it('contexts in a worker are current after a change, directly and inside others, in both operations', async () => {
    const desk = new Desk({ [A]: B, [B]: to('old') });
    assert.equal(await meaning(desk, A), 'https://terms.example/old');
    const document = { 'https://terms.example/new': 1 };
    assert.deepEqual((await desk.compact({ document, context: A })).result, {
      '@context': A,
      'https://terms.example/new': 1,
    });
    desk.set(B, to('new'));
    assert.equal(await meaning(desk, A), 'https://terms.example/new');
    assert.deepEqual((await desk.compact({ document, context: A })).result, { '@context': A, p: 1 });
    desk.set(A, to('direct'));
    assert.equal(await meaning(desk, A), 'https://terms.example/direct');
  });

  it('contexts in a worker are current if one context wraps another', async () => {
    const scoped = (url: string) => ({ q: { '@id': 'urn:q', '@context': { '@context': url } } });
    const desk = new Desk({ [A]: to('old'), [B]: scoped(A) });
    const meanings = async () => [
      await meaning(desk, { '@context': A }),
      JSON.stringify((await desk.expand({ document: { '@context': B, q: { p: 1 } } })).result),
    ];
    assert.match((await meanings()).join(), /terms.example\/old.*terms.example\/old/);
    desk.set(A, to('new'));
    assert.match((await meanings()).join(), /terms.example\/new.*terms.example\/new/);
  });

  it('contexts in a worker are missing after they were deleted, and found after they were created', async () => {
    const desk = new Desk({ [A]: to('a') });
    await meaning(desk, A);
    desk.set(A, undefined);
    const body = { document: { '@context': [A], p: 1 } };
    for (const round of [1, 2]) {
      const refused = await desk.refused('expandDocument', body);
      assert.deepEqual([refused.kind, refused.url], ['contextRefused', A], `round ${round}`);
    }
    // A failure is not remembered, even without a sign of a change.
    desk.contexts.set(A, to('again'));
    assert.equal(await meaning(desk, A), 'https://terms.example/again');
  });

  it('contexts in a worker do not fail a request that does not use them', async () => {
    const desk = new Desk({ [A]: { p: { '@id': 'https://terms.example/p', '@type': '@json' } } });
    await meaning(desk, A);
    const document = { '@context': A, p: { '@context': B, q: 1 } };
    const { result } = await desk.expand({ document });
    assert.deepEqual(result, [
      { 'https://terms.example/p': [{ '@type': '@json', '@value': { '@context': B, q: 1 } }] },
    ]);
  });

  it('contexts inside JSON literals are ignored', async () => {
    const desk = new Desk({ [B]: to('b') });
    const p = { '@id': 'https://terms.example/p', '@type': '@json' };
    const document = { '@context': { p }, p: [{ '@context': B }, { '@context': 5 }] };
    assert.deepEqual((await desk.compact({ document })).result, document);
  });

  it('relative contexts in a worker are distinguished by the URL where they were found', async () => {
    const tasks = createJsonLdTasks();
    const text = JSON.stringify({ document: { '@context': A, p: 1 } });
    const supply = (context: unknown, documentUrl: string) =>
      ({
        sha256: JSON.stringify(context),
        text: JSON.stringify({ '@context': context }),
        documentUrl,
      }) as const;
    for (const [stamp, folder] of [
      ['1', 'https://one.example/x/'],
      ['2', 'https://two.example/y/'],
    ] as const) {
      const inner = `${folder}terms`;
      const outer = [A, supply('terms', `${folder}context`)] as const;
      const first = await tasks.expandDocument({ text, stamp, supplied: [outer] });
      assert.deepEqual(first, { needs: { urls: [inner] } });
      const supplied = [outer, [inner, supply(to(folder.slice(8, 11)), inner)]] as const;
      const { result } = answered(await tasks.expandDocument({ text, stamp, supplied }));
      assert.deepEqual(result, [{ [`https://terms.example/${folder.slice(8, 11)}`]: [{ '@value': 1 }] }]);
    }
  });

  it('core contexts in a worker need no supply, in any version and by any URL', async () => {
    const desk = new Desk();
    for (const version of CORE_CONTEXT_VERSIONS)
      for (const context of coreContextUrls(version)) {
        const { result } = await desk.compact({
          document: { '@context': context, id: 'urn:x:1', type: 'T' },
        });
        assert.deepEqual(result, { '@context': context, id: 'urn:x:1', type: 'T' });
      }
    assert.deepEqual(desk.asked, []);
  });

  it('contexts in a worker are processed repeatedly if there are more than can be kept', async () => {
    const large = Object.fromEntries(
      Array.from({ length: 5000 }, (_, n) => [`t${n}`, `https://terms.example/of/the/city/t${n}`]),
    );
    const urls = Array.from({ length: 12 }, (_, n) => `https://contexts.example/${n}`);
    const desk = new Desk(Object.fromEntries(urls.map((url) => [url, { ...large, ...to(url) }])));
    for (const url of [...urls, ...urls.slice(0, 3)])
      assert.equal(await meaning(desk, [{ x: 'urn:x' }, url]), `https://terms.example/${url}`);
    assert.deepEqual(desk.asked, urls);
  });

  it('contexts in a worker without an absolute http URL are refused without requesting them', async () => {
    const desk = new Desk();
    for (const url of ['terms', './terms', 'urn:x:y', 'ftp://a.example/b', 'file:///etc/passwd']) {
      const { kind } = await desk.refused('expandDocument', { document: { '@context': url, p: 1 } });
      assert.equal(kind, 'contextRefused', url);
    }
    assert.deepEqual(desk.asked, []);
  });

  it('documents in a worker that are not contexts are refused with their URL', async () => {
    const desk = new Desk({ [A]: { hasOwnProperty: 'urn:x' }, [B]: undefined });
    for (const url of [A, B]) {
      const refused = await desk.refused('expandDocument', { document: { '@context': url, p: 1 } });
      assert.deepEqual([refused.kind, refused.url], ['contextInvalid', url]);
      assert.ok(refused.detail.includes(url));
    }
  });
});
