import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { fakeGateway, FakeContext, GATEWAY, jsonResponse } from '../../support/cli-context.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const DOCUMENT = { id: 'urn:a:1' };
const CONTEXT = { a: 'https://terms.example/a' };

/** Runs a command against a gateway that is a function; files are named by their content. */
async function run(t: TestContext, words: readonly string[], answer: unknown) {
  const folder = temporaryFolder();
  const files = {
    'document.json': DOCUMENT,
    'context.json': CONTEXT,
    'whole.jsonld': { '@context': CONTEXT },
  };
  for (const [name, value] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(value));
  const asked = fakeGateway(t, () => jsonResponse(answer));
  const context = new FakeContext();
  const named = words.map((word) => (Object.hasOwn(files, word) ? join(folder, word) : word));
  const code = await context.run(...named, '--gateway', GATEWAY);
  t.mock.restoreAll();
  const requests = asked.map(({ method, target, body }) => [
    `${method} ${target}`,
    JSON.parse(body) as unknown,
  ]);
  return { code, requests, out: context.out, err: context.err };
}

it('expand and compact send the document, the context as URL or content, and whether loss is allowed', async (t) => {
  const url = 'http://terms.example/context.jsonld';
  for (const how of ['expand', 'compact'])
    for (const [words, more] of [
      [[], {}],
      [['--safe'], { safe: true }],
      [['--context', url], { context: url }],
      [['--context', url.replace('http', 'HTTPS')], { context: url.replace('http', 'HTTPS') }],
      [['--context', 'context.json'], { context: CONTEXT }],
      [['--context', 'whole.jsonld', '--safe'], { context: CONTEXT, safe: true }],
    ] as const) {
      const { code, requests } = await run(t, [how, 'document.json', ...words], {
        result: [],
        warnings: [],
      });
      const path = `POST /api/v2/workbench/jsonld/${how}`;
      assert.deepEqual([code, requests], [0, [[path, { document: DOCUMENT, ...more }]]], words.join(' '));
    }
});

it('expand prints the result, and warnings separately, or with --json the whole answer', async (t) => {
  const answer = { result: { a: 1 }, warnings: [{ detail: 'lost \u001b' }] };
  const shown = await run(t, ['expand', 'document.json'], answer);
  assert.deepEqual([shown.out, shown.err], ['{\n  "a": 1\n}\n', 'Warning: lost \\u001b\n']);
  const whole = await run(t, ['expand', 'document.json', '--json'], answer);
  assert.deepEqual([JSON.parse(whole.out), whole.err], [answer, '']);
});

it('infer at a gateway sends the samples with every option, and accepts each form', async (t) => {
  const path = 'POST /api/v2/workbench/schema/infer';
  for (const [words, query] of [
    [[], 'form=keyvalues'],
    [['--form', 'ngsi-ld'], 'form=ngsi-ld'],
    [['--form', 'ngsiv2', '--enums'], 'form=ngsiv2&enum=true'],
    [['--form', 'geojson', '--model', 'A B', '--enums'], 'form=geojson&model=A%20B&enum=true'],
  ] as const) {
    const { code, requests } = await run(t, ['infer', 'document.json', ...words], {});
    assert.deepEqual([code, requests], [0, [[`${path}?${query}`, DOCUMENT]]]);
  }
  const wrong = await run(t, ['infer', 'document.json', '--form', 'normalized'], {});
  assert.deepEqual([wrong.code, wrong.requests], [2, []]);
});

it('files may begin with a byte order mark, including UTF-16 of PowerShell, and other encodings are refused', async (t) => {
  const folder = temporaryFolder();
  const asked = fakeGateway(t, () => jsonResponse({ result: [], warnings: [] }));
  const text = '{"id":"urn:a:é"}';
  for (const [bytes, code] of [
    [Buffer.from(`\ufeff${text}`), 0],
    [Buffer.from(`\ufeff${text}`, 'utf16le'), 0],
    [Buffer.from(text, 'latin1'), 2],
  ] as const) {
    const file = join(folder, 'document.json');
    writeFileSync(file, bytes);
    assert.equal(await new FakeContext().run('expand', file, '--gateway', GATEWAY), code);
  }
  const sent = asked.map(({ body }) => (JSON.parse(body) as { document: unknown }).document);
  assert.deepEqual(sent, [{ id: 'urn:a:é' }, { id: 'urn:a:é' }]);
});
