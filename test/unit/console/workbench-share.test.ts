import assert from 'node:assert/strict';
import { it } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { CONTEXTS, EMPTY_BENCH, FORMS } from '../../../console/workbench/bench.js';
import { MAX_SHARED, packed, unpacked } from '../../../console/workbench/share.js';

const link = (bytes: string | Buffer) => deflateRawSync(bytes).toString('base64url');

it('a link contains everything on the workbench, whatever its content', async () => {
  const members = {
    text: fc.string({ unit: 'binary' }),
    model: fc.string(),
    form: fc.constantFrom(...FORMS),
    isStrict: fc.boolean(),
    context: fc.constantFrom(...CONTEXTS),
    url: fc.string(),
    inline: fc.string({ unit: 'grapheme' }),
  };
  const benches = fc.record(members, { noNullPrototype: true });
  await fc.assert(
    fc.asyncProperty(benches, async (bench) => {
      const shared = await packed(bench);
      assert.match(shared, /^[\w-]+$/);
      assert.deepEqual(await unpacked(shared), bench);
    }),
  );
});

it('any text as a link is read as a workbench or as nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async (shared) => {
      await unpacked(shared);
    }),
  );
  for (const nothing of ['', '%', 'AAAA', link('null'), link('{'), link('7'), link(Buffer.from([0xff]))])
    assert.equal(await unpacked(nothing), undefined);
});

it('members of a wrong type are as on an empty workbench, and unknown ones are left out', async () => {
  const hostile = { text: 7, form: 'x', isStrict: 'no', context: null, url: [], __proto__: 1, more: 1 };
  assert.deepEqual(await unpacked(link(JSON.stringify(hostile))), EMPTY_BENCH);
});

it('a link has sixteen thousand characters at most', async () => {
  // Stored without compression, a text takes five bytes more; three bytes are four characters.
  const linkOf = (bytes: number) => {
    const text = JSON.stringify({ text: 'x'.repeat(bytes - 5 - '{"text":""}'.length) });
    return deflateRawSync(text, { level: 0 }).toString('base64url');
  };
  assert.deepEqual([linkOf(12_000).length, linkOf(12_001).length], [MAX_SHARED, MAX_SHARED + 2]);
  assert.equal((await unpacked(linkOf(12_000)))?.text.length, 11_984);
  assert.equal(await unpacked(linkOf(12_001)), undefined);
});

it('decompression of a link stops at a limit', async () => {
  const bomb = link(JSON.stringify({ text: ' '.repeat(8_000_000) }));
  assert.ok(bomb.length < MAX_SHARED);
  assert.equal(await unpacked(bomb), undefined);
});
