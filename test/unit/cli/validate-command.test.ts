import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import type { LocalModels } from '../../../sidecar/cli/context.js';
import { RepositoryUnclearError } from '../../../sidecar/schemas/repository/errors.js';
import type { ImportedFile } from '../../../sidecar/schemas/repository/shapes.js';
import {
  DeadlineExceededError,
  UnreadableBodyError,
  WorkbenchRefusedError,
} from '../../../sidecar/schemas/models/workbench-errors.js';
import { fakeGateway, FakeContext, GATEWAY, jsonResponse } from '../../support/cli-context.js';
import { folderOf } from '../../support/model-folders.js';

const verdict = (valid: boolean) => JSON.stringify({ valid, errors: [], warnings: [] });

/** The outcome of checking a text, by the text. */
const OUTCOMES: Readonly<Record<string, () => string>> = {
  good: () => verdict(true),
  bad: () => verdict(false),
  unreadable: () => {
    throw new UnreadableBodyError({ line: 2, column: 3, detail: 'no value', isTooDeep: false });
  },
  slow: () => {
    throw new DeadlineExceededError('late');
  },
  ambiguous: () => {
    throw new WorkbenchRefusedError('typeAmbiguous', 'Which?', [{ pointer: '', detail: 'has two models' }]);
  },
  unknown: () => {
    throw new WorkbenchRefusedError('notFound', 'None.', [{ pointer: '/1', detail: 'has no model' }]);
  },
  limited: () => {
    throw new WorkbenchRefusedError('limitExceeded', 'Too much.', [{ pointer: '/1', detail: 'is much' }]);
  },
  broken: () => {
    throw new Error('a fault of ours');
  },
};

/** Validates texts against a folder of models whose content is not read. */
async function validate(
  t: TestContext,
  texts: readonly string[],
  words: readonly string[] = [],
  { titles = ['City/Bench'], isUnclear = false } = {},
) {
  const files = folderOf(Object.fromEntries(texts.map((text, at) => [`${at}.json`, text])));
  const folder = folderOf({
    'Bench/schema.json': '{}',
    'Bench/meta.json': '{}',
    'Bench/examples/one.json': '{}',
    'example/two.json': '{}',
    'context.jsonld': '{}',
    'shared.json': '{}',
  });
  const [imported, asked]: [string[][], unknown[]] = [[], []];
  let closed = 0;
  const found = titles.map((model): Partial<ImportedFile> => ({ model, status: 'created' }));
  const check = (by: unknown, text: string, how: unknown) => {
    asked.push(by === undefined ? how : [by, how]);
    return (OUTCOMES[text] ?? assert.fail(text))();
  };
  const models = {
    transfer: {
      import: async ({ parts }: { parts: { name: string }[] }, { domain }: { domain?: string }) => {
        imported.push([domain ?? '-', ...parts.map(({ name }) => name.slice(name.indexOf('/') + 1))]);
        if (isUnclear && domain === undefined) throw new RepositoryUnclearError('Which domain?');
        return { files: [...found, { model: 'City/Refused', path: 'x', status: 'refused', reason: 'no' }] };
      },
    },
    workbench: {
      validateByType: async (text: string, how: unknown) => check(undefined, text, how),
      validate: async (key: unknown, text: string, how: unknown) => check(key, text, how),
    },
    close: async () => void (closed += 1),
  } as unknown as LocalModels;
  const context = new FakeContext({ models: async () => models });
  const names = texts.map((_, at) => join(files, `${at}.json`));
  const code = await context.run('validate', ...names, '--schema', folder, ...words);
  const out = context.out.replaceAll(`${files}/`, '');
  return { code, out, err: context.err.replaceAll(`${files}/`, ''), imported, asked, closed };
}

it('the exit code of validate is that of its worst file, in any order of files', async (t) => {
  const worst = [
    ['good', 0],
    ['bad', 3],
    ['unreadable', 2],
    ['slow', 1],
  ] as const;
  for (const [at, [one]] of worst.entries())
    for (const [other, code] of worst.slice(at)) {
      for (const texts of [
        [one, other],
        [other, one],
        [one, other, one],
      ]) {
        const done = await validate(t, texts);
        assert.deepEqual([done.code, done.closed], [code, 1], texts.join());
      }
    }
});

it('the reason why a file cannot be checked is an error for a single file, and otherwise a line of the results', async (t) => {
  for (const [text, code, why] of [
    ['unreadable', 2, 'line 2, column 3: no value'],
    ['slow', 1, 'Checking it took too long and was stopped.'],
    ['ambiguous', 2, 'The entity has two models: choose one with --model.'],
    ['unknown', 3, '/1 has no model.'],
    ['limited', 3, 'Too much.'],
  ] as const) {
    const alone = await validate(t, [text]);
    assert.deepEqual([alone.code, alone.out, alone.closed], [code, '', 1], text);
    assert.ok(alone.err.endsWith(`0.json: ${why}\n`), alone.err);
    const beside = await validate(t, [text, 'good']);
    assert.deepEqual([beside.code, beside.out, beside.closed], [code, '1.json: valid\n', 1], text);
    assert.ok(beside.err.endsWith(`0.json: ${why}\n`), beside.err);
    const json = await validate(t, [text, 'good'], ['--json']);
    assert.deepEqual(
      json.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
      [
        { file: '0.json', fault: why },
        { file: '1.json', answer: { valid: true, errors: [], warnings: [] } },
      ],
    );
  }
  assert.deepEqual((await validate(t, ['bad'], ['--json'])).out, `${verdict(false)}\n`);
});

it('validate closes its schema service also if a check or the models fail', async (t) => {
  const broken = await validate(t, ['good', 'broken']);
  assert.deepEqual([broken.code, broken.closed], [1, 1]);
  assert.match(broken.err, /a fault of ours/);
  const none = await validate(t, ['good'], [], { titles: [] });
  assert.deepEqual([none.code, none.closed], [2, 1]);
  assert.match(none.err, /There is no model in /);
});

it('validate uses the model of exactly the given name, and needs its domain if two have the name', async (t) => {
  const titles = ['City/ParkBench', 'City/Bench', 'Town/Lamp', 'City/Lamp'];
  const how = { form: undefined };
  for (const [model, key] of [
    ['Bench', { domain: 'City', name: 'Bench' }],
    ['City/Bench', { domain: 'City', name: 'Bench' }],
    ['Town/Lamp', { domain: 'Town', name: 'Lamp' }],
  ] as const) {
    const { code, asked } = await validate(t, ['good'], ['--model', model], { titles });
    assert.deepEqual([code, asked], [0, [[key, how]]], model);
  }
  for (const [model, why] of [
    ['Lamp', /There are several models Lamp in /],
    [
      'ench',
      /There is no model ench in .*\. Its models are City\/ParkBench, City\/Bench, Town\/Lamp, City\/Lamp\./,
    ],
    ['Refused', /There is no model Refused in /],
  ] as const) {
    const { code, err, asked } = await validate(t, ['good'], ['--model', model], { titles });
    assert.deepEqual([code, asked], [2, []], model);
    assert.match(err, why);
  }
  assert.deepEqual((await validate(t, ['good'], [], { titles })).asked, [how]);
});

it('validate stores the schemas of a folder without examples, contexts and settings, and names refused files', async (t) => {
  const parts = ['Bench/schema.json', 'shared.json'];
  const { imported, err } = await validate(t, ['good']);
  assert.deepEqual(imported, [['-', ...parts]]);
  assert.equal(err, 'Left out: x: no\n');
  const unclear = await validate(t, ['good'], [], { isUnclear: true });
  assert.deepEqual(
    [unclear.code, unclear.imported],
    [
      0,
      [
        ['-', ...parts],
        ['models', ...parts],
      ],
    ],
  );
});

it('validate accepts each form of entities, and opens no models for an unknown form', async (t) => {
  for (const form of ['normalized', 'concise', 'keyvalues', 'ngsiv2', 'geojson'])
    assert.deepEqual((await validate(t, ['good'], ['--form', form])).asked, [{ form }]);
  const { code, closed, imported } = await validate(t, ['good'], ['--form', 'xml']);
  assert.deepEqual([code, closed, imported], [2, 0, []]);
});

it('a list of entities has a line for each invalid entity and each warning, and then the counts', async (t) => {
  const answer = [
    { valid: true, errors: [], warnings: [] },
    { valid: false, errors: [{ pointer: '', line: 1, detail: 'no' }], warnings: [] },
    { valid: true, errors: [], warnings: [{ pointer: '/a/unitCode', line: 7, detail: 'old' }] },
    { valid: false, errors: [{ pointer: '/a', line: 9, detail: 'not a number' }], warnings: [] },
  ];
  const folder = folderOf({ 'all.json': '[]' });
  fakeGateway(t, () => jsonResponse(answer));
  const context = new FakeContext();
  const file = join(folder, 'all.json');
  assert.equal(await context.run('validate', file, '--gateway', GATEWAY), 3);
  assert.deepEqual(context.out.replaceAll(file, 'all').split('\n'), [
    'all[1]: not valid',
    '  (whole), line 1: no',
    'all[2]: valid',
    '  warning: /a/unitCode, line 7: old',
    'all[3]: not valid',
    '  /a, line 9: not a number',
    '2 valid, 2 not valid',
    '',
  ]);
});

it('validate stops after a refusal that applies to all files', async (t) => {
  const folder = folderOf({ 'a.json': '{"id":1}', 'b.json': '{"id":2}' });
  const files = ['a.json', 'b.json'].map((name) => join(folder, name));
  for (const [status, words, sent] of [
    [401, [], 1],
    [403, [], 1],
    [404, ['--model', 'City/Bench'], 1],
    // By type, another file may have a model.
    [404, [], 2],
    [400, ['--model', 'City/Bench'], 2],
  ] as const) {
    const asked = fakeGateway(t, () => jsonResponse({ title: 'No', detail: 'Not\nthis.' }, status));
    const context = new FakeContext();
    const code = await context.run('validate', ...files, ...words, '--gateway', GATEWAY);
    assert.deepEqual([code, asked.length], [4, sent], `${status} ${words.join(' ')}`);
    const names = sent === 1 ? [''] : files.map((file) => `${file}: `);
    const said = names.map((name) => `${name}The gateway answered ${status}: Not\nthis.\n`).join('');
    assert.ok(status === 401 ? context.err.startsWith(said) : context.err === said, context.err);
    t.mock.restoreAll();
  }
});

it('problems of one of several files are printed line by line, without control characters', async (t) => {
  const folder = folderOf({ 'a\u001b.json': '{}', 'b.json': '{}' });
  const problem = { title: 'No', detail: 'Not\u001bthis.', errors: [{ pointer: '/a', detail: 'is wrong' }] };
  fakeGateway(t, (_, nth) => (nth === 1 ? jsonResponse(problem, 400) : new Response(verdict(true))));
  const context = new FakeContext();
  const files = ['a\u001b.json', 'b.json'].map((name) => join(folder, name));
  assert.equal(await context.run('validate', ...files, '--gateway', GATEWAY), 4);
  assert.deepEqual(context.err.replaceAll(`${folder}/`, '').split('\n'), [
    'a\\u001b.json: The gateway answered 400: Not\\u001bthis.',
    '  /a: is wrong',
    '',
  ]);
  assert.ok(context.out.endsWith('b.json: valid\n'), context.out);
});

it('validate at a gateway asks for the given model and form, or for the models of the types', async (t) => {
  const file = join(folderOf({ 'one.json': '{"id":1}' }), 'one.json');
  const asked = fakeGateway(t, () => new Response(verdict(true)));
  const run = (...words: readonly string[]) =>
    new FakeContext({ env: { NGSILD_GATEWAY_URL: GATEWAY } }).run('validate', file, ...words);
  for (const words of [[], ['--form', 'keyvalues'], ['--model', 'City/A b']])
    assert.equal(await run(...words), 0);
  assert.deepEqual(
    asked.map(({ method, target, body }) => `${method} ${target} ${body}`),
    [
      'POST /api/v2/validate {"id":1}',
      'POST /api/v2/validate?form=keyvalues {"id":1}',
      'POST /api/v2/validate/City/A%20b {"id":1}',
    ],
  );
  for (const model of ['Bench', '/Bench', 'City/', 'City/Bench/1', ''])
    assert.equal(await run('--model', model), 2, model);
  assert.equal(asked.length, 3);
});
