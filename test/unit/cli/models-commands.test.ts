import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import type { ImportReport } from '../../../sidecar/schemas/repository/shapes.js';
import {
  fakeGateway,
  FakeContext,
  GATEWAY,
  jsonResponse,
  type AskedGateway,
} from '../../support/cli-context.js';
import { folderOf } from '../../support/model-folders.js';

const ENV = { NGSILD_GATEWAY_URL: GATEWAY };

/** A temporary folder with these files. */
const BENCH = { 'Bench/schema.json': JSON.stringify({ title: 'Bench', type: 'object' }) };

const REPORT: ImportReport = {
  summary: {
    dryRun: true,
    domains: ['City'],
    created: 0,
    updated: 0,
    unchanged: 1,
    refused: 0,
    ignored: 0,
    models: 1,
    examples: { valid: 1, invalid: 0, unchecked: 0, kept: 1, leftOut: 0 },
  },
  files: [{ path: 'city/Bench/schema.json', model: 'City/Bench', status: 'unchanged' }],
  dependents: [],
};
const summary = (members: Partial<ImportReport['summary']>) => ({
  summary: { ...REPORT.summary, ...members },
});
const [FILE = assert.fail()] = REPORT.files;
const ONE = { domain: 'Other', model: 'Lamp' };

it('models check fails for each kind of fault, and models import for refused models', async (t) => {
  const folder = folderOf(BENCH);
  const fault = { path: 'city/Bench/examples/a.json', pointer: '/seats', detail: 'must be a number' };
  const invalid = { valid: 1, invalid: 1, unchecked: 0, kept: 2, leftOut: 0 };
  for (const [members, check, imported] of [
    [{}, 0, 0],
    // The wrong folder, for example.
    [{ files: [] }, 3, 0],
    [summary({ refused: 1 }), 3, 3],
    [
      {
        ...summary({ examples: invalid }),
        files: [{ ...FILE, examples: { kept: 2, valid: 1, invalid: [fault] } }],
      },
      3,
      0,
    ],
    [
      { files: [FILE, { ...FILE, examples: { kept: 2, valid: 1, invalid: [], unchecked: ['a.json'] } }] },
      3,
      0,
    ],
    [{ dependents: [{ ...ONE, status: 'updated' }] }, 0, 0],
    [
      {
        dependents: [
          { ...ONE, status: 'updated' },
          { ...ONE, status: 'refused' },
        ],
      },
      3,
      3,
    ],
    [{ files: [{ ...FILE, status: 'updated', change: 'narrowing' }] }, 0, 0],
    [{ files: [FILE, { ...FILE, status: 'updated', change: 'breaking' }] }, 3, 0],
    [{ dependents: [{ ...ONE, status: 'updated', change: 'breaking' }] }, 3, 0],
  ] as const) {
    fakeGateway(t, () => jsonResponse({ ...REPORT, ...members }));
    const codes: (number | undefined)[] = [];
    for (const how of ['check', 'import'])
      codes.push(await new FakeContext().run('models', how, folder, '--gateway', GATEWAY));
    assert.deepEqual(codes, [check, imported], JSON.stringify(members));
    t.mock.restoreAll();
  }
});

it('models check fails for a file that it skips, and models import reports the file', async (t) => {
  const folder = folderOf(BENCH);
  symlinkSync(join(folder, 'Bench/schema.json'), join(folder, 'linked.json'));
  fakeGateway(t, () => jsonResponse(REPORT));
  const check = new FakeContext();
  assert.equal(await check.run('models', 'check', folder, '--gateway', GATEWAY), 3);
  assert.match(check.out, /^city\/linked\.json is a link, and links are not followed\.$/m);
  const imported = new FakeContext();
  assert.equal(await imported.run('models', 'import', folder, '--gateway', GATEWAY), 0);
  assert.equal(imported.err, 'city/linked.json is a link, and links are not followed.\n');
});

it('models import writes, while check, diff and a dry run only read, each in the named domain', async (t) => {
  const folder = folderOf(BENCH);
  const asked = fakeGateway(t, () => jsonResponse(REPORT));
  for (const [how, ...more] of [['import'], ['import', '--dry-run'], ['diff'], ['check']] as const) {
    const words = ['models', how, folder, ...more, '--gateway', GATEWAY];
    await new FakeContext().run(...words);
    await new FakeContext().run(...words, '--domain', 'A&B');
  }
  assert.deepEqual(
    asked.map(({ method, target, headers }) => [method, target, headers.get('content-type')].join(' ')),
    ['', '?dryRun=true', '?dryRun=true', '?dryRun=true'].flatMap((query) =>
      [query, `${query === '' ? '?' : `${query}&`}domain=A%26B`].map(
        (more) => `POST /api/v2/import${more} application/gzip`,
      ),
    ),
  );
});

it('models check accepts either a revision or a gateway, and sends nothing if both are given', async (t) => {
  const asked = fakeGateway(t, () => jsonResponse(REPORT));
  const words = ['models', 'check', folderOf(BENCH), '--gateway', GATEWAY, '--against', 'HEAD'];
  assert.deepEqual([await new FakeContext().run(...words), asked.length], [2, 0]);
});

it('an interrupted export leaves the file unchanged and no other files next to it', async (t) => {
  const folder = folderOf({ 'models.tar.gz': 'before' });
  const file = join(folder, 'models.tar.gz');
  let isWhole = false;
  fakeGateway(t, () => {
    const parts = [Buffer.from('new'), Buffer.from(' archive')];
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const part = parts.shift();
        if (part !== undefined) controller.enqueue(part);
        else if (isWhole) controller.close();
        else controller.error(new Error('cut'));
      },
    });
    return new Response(body);
  });
  const exporting = () => new FakeContext({ env: ENV }).run('models', 'export', '-o', file);
  assert.deepEqual([await exporting(), readFileSync(file, 'utf8')], [1, 'before']);
  assert.deepEqual(readdirSync(folder), ['models.tar.gz']);
  isWhole = true;
  assert.deepEqual([await exporting(), readFileSync(file, 'utf8')], [0, 'new archive']);
  assert.ok(!existsSync(`${file}.partial`));

  const context = new FakeContext({ env: ENV });
  assert.deepEqual([await context.run('models', 'export', '-o', '-'), context.out], [0, 'new archive']);
  const terminal = new FakeContext({ env: ENV });
  Object.assign(terminal.stdout, { isTTY: true });
  assert.deepEqual([await terminal.run('models', 'export', '-o', '-'), terminal.out], [2, '']);
});

const PUSH = {
  outcome: 'version',
  version: 2,
  warnings: [],
  change: { overall: 'compatible', differences: [] as object[] },
};
const MODEL = '/api/v2/domains/City/models/Bench';

/** Pushes a model to a gateway that has this model and answers everything else with a function. */
async function push(
  t: TestContext,
  words: readonly string[],
  answer: (request: AskedGateway) => Response | undefined,
  context = new FakeContext({ env: ENV }),
) {
  const folder = join(folderOf(BENCH), 'Bench');
  const asked = fakeGateway(t, (request) => {
    const given = answer(request);
    if (given !== undefined) return given;
    return request.method === 'GET' ? jsonResponse({}, 200, { etag: '"e1"' }) : jsonResponse(PUSH);
  });
  const code = await context.run('models', 'push', folder, '--domain', 'City', ...words);
  t.mock.restoreAll();
  const requests = asked.map(({ method, target, headers }) =>
    [method, target, headers.get('if-match') ?? headers.get('if-none-match') ?? ''].join(' ').trimEnd(),
  );
  return { code, requests, out: context.out, err: context.err };
}

it('a model is updated on the condition of the compared ETag, even if a proxy has weakened it', async (t) => {
  for (const etag of ['"e1"', 'W/"e1"']) {
    const { code, requests } = await push(t, [], ({ method }) =>
      method === 'GET' ? jsonResponse({}, 200, { etag }) : undefined,
    );
    assert.equal(code, 0);
    assert.deepEqual(requests, [`GET ${MODEL}`, `PUT ${MODEL}?dryRun=true "e1"`, `PUT ${MODEL} "e1"`]);
  }
});

it('a model is not updated if its answer has no usable ETag', async (t) => {
  for (const headers of [{}, { etag: 'e1' }, { etag: '""' }, { etag: 'w/"e1"' }]) {
    const { code, requests } = await push(t, ['--yes'], ({ method }) =>
      method === 'GET' ? jsonResponse({}, 200, headers) : undefined,
    );
    assert.deepEqual([code, requests], [1, [`GET ${MODEL}`]], JSON.stringify(headers));
  }
});

it('a missing model is created after its domain, on the condition that it is still missing', async (t) => {
  const put = [`PUT ${MODEL}?dryRun=true *`, `PUT ${MODEL} *`];
  const missing = jsonResponse({ title: 'Not there' }, 404);
  const nothing = (request: AskedGateway) =>
    request.method === 'GET'
      ? missing.clone()
      : request.method === 'POST'
        ? jsonResponse({}, 201)
        : undefined;
  const withDomain = await push(t, [], (request) =>
    request.target === MODEL ? nothing(request) : undefined,
  );
  const without = await push(t, [], nothing);
  const dry = await push(t, ['--dry-run'], nothing);
  const looks = [`GET ${MODEL}`, 'GET /api/v2/domains/City'];
  assert.deepEqual(withDomain.requests, [...looks, ...put]);
  assert.deepEqual(without.requests, [...looks, 'POST /api/v2/domains', ...put]);
  assert.deepEqual(dry.requests, looks);
  assert.deepEqual([withDomain.code, without.code, dry.code], [0, 0, 0]);
});

it('a refused push leaves no empty domain behind', async (t) => {
  const missing = jsonResponse({ title: 'Not there' }, 404);
  const { code, requests } = await push(t, [], ({ method }) =>
    method === 'GET'
      ? missing.clone()
      : jsonResponse({ detail: 'No.' }, method === 'POST' ? 201 : method === 'PUT' ? 400 : 204),
  );
  assert.equal(code, 4);
  assert.deepEqual(requests.slice(-2), [`PUT ${MODEL}?dryRun=true *`, 'DELETE /api/v2/domains/City']);
});

it('a change that may refuse entities needs a confirmation or --yes, and other changes need none', async (t) => {
  for (const overall of ['compatible', 'narrowing', 'breaking']) {
    const answer = ({ method }: AskedGateway) =>
      method === 'PUT' ? jsonResponse({ ...PUSH, change: { ...PUSH.change, overall } }) : undefined;
    const isHarmless = overall === 'compatible';
    const alone = await push(t, [], answer);
    assert.deepEqual([alone.code, alone.requests.length], isHarmless ? [0, 3] : [2, 2], overall);
    const sure = await push(t, ['--yes'], answer);
    assert.deepEqual([sure.code, sure.requests.length], [0, 3], overall);
    for (const [word, code] of [
      ['y', 0],
      ['n', 130],
    ] as const) {
      const context = new FakeContext({ env: ENV, isTerminal: true });
      context.onQuestion = (text) => void (text.includes('[y/N]') && context.stdin.write(`${word}\n`));
      const asking = await push(t, [], answer, context);
      assert.equal(asking.code, isHarmless ? 0 : code, `${overall} ${word}`);
      assert.equal(asking.requests.length, isHarmless || word === 'y' ? 3 : 2);
      assert.equal(context.listening, 0);
    }
  }
});

it('each outcome of a push has its own sentence, and an update without changes is not sent', async (t) => {
  for (const [outcome, done, dry] of [
    ['created', 'was created', 'would be created'],
    ['unchanged', 'has not changed', 'has not changed'],
    ['settings', 'has new settings', 'would get new settings'],
    ['version', 'now has version 2', 'would get version 2'],
    ['replaced', 'has a new draft', 'would get a new draft'],
  ] as const) {
    const answer = ({ method }: AskedGateway) =>
      method === 'PUT' ? jsonResponse({ ...PUSH, outcome }) : undefined;
    const pushed = await push(t, [], answer);
    const looked = await push(t, ['--dry-run'], answer);
    assert.deepEqual([pushed.code, pushed.out], [0, `City/Bench ${done}.\n`]);
    assert.deepEqual([looked.code, looked.out], [0, `City/Bench ${dry}.\n`]);
    assert.deepEqual([pushed.requests.length, looked.requests.length], [outcome === 'unchanged' ? 2 : 3, 2]);
  }
});

it('an answer that is not a report of an update is not treated as a harmless change', async (t) => {
  for (const wrong of [
    { outcome: undefined },
    { change: { ...PUSH.change, overall: 'other' } },
    { change: { overall: 'compatible' } },
    { change: undefined },
    { change: { ...PUSH.change, differences: {} } },
    { warnings: undefined },
  ].map((members) => JSON.stringify({ ...PUSH, ...members }))) {
    const { code, requests, err } = await push(t, ['--yes'], ({ method }) =>
      method === 'PUT' ? new Response(wrong) : undefined,
    );
    assert.deepEqual([code, requests.length], [1, 2], wrong);
    assert.match(err, /^The gateway answered with something that is not /);
  }
});
