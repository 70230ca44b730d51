import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { cli, jsonLines } from '../support/cli-process.js';
import { stopAll } from '../support/gateway-harness.js';
import { folderOf, git, put } from '../support/model-folders.js';
import { cityRepository, commonSchema, completeRepository, entitySchema } from '../support/repositories.js';
import { startApi } from './api-client.js';

after(stopAll);

const GOOD = { id: 'urn:ngsi-ld:Bench:1', type: 'Bench', name: 'By the river', seats: 3, colour: 'red' };
const BAD = { ...GOOD, seats: 'three', colour: 'blue' };
const LAMP = { id: 'urn:ngsi-ld:Lamp:1', type: 'Lamp', power: 60 };

/** A clone with shared documents. */
let folder: string;
/** Files of entities. */
let files: string;
/** A gateway with the models of the clone. */
let url: string;

const file = (name: string) => join(files, name);

before(async () => {
  folder = folderOf(completeRepository());
  git(folder, 'init');
  files = folderOf({
    'good.jsonld': GOOD,
    'bad.json': BAD,
    'both.json': [GOOD, BAD],
    'lamp.json': LAMP,
    'car.json': { id: 'urn:c:1', type: 'Car' },
    'broken.json': '{"id": ',
    'text.json': '"Bench"',
  });
  ({ url } = await startApi());
  await cli(['models', 'import', folder, '--domain', 'City', '--gateway', url]);
});

it('validate accepts the schema of a model or its folder, uses the documents around it, and needs no gateway', async () => {
  for (const schema of [join(folder, 'Bench'), join(folder, 'Bench/schema.json')]) {
    const good = await cli(['validate', file('good.jsonld'), '--schema', schema]);
    assert.deepEqual([good.code, good.stdout], [0, `${file('good.jsonld')}: valid\n`], good.stderr);
    const bad = await cli(['validate', file('bad.json'), '--schema', schema]);
    assert.equal(bad.code, 3, bad.stderr);
    assert.match(bad.stdout, /bad\.json: not valid\n(?: {2}.*\n)*? {2}\/seats, line 5: must be a number/);
    // The rule is in a document that the schema names by a URL.
    assert.match(bad.stdout, /^ {2}\/colour, line 6: must be/m);
  }
  const away = { NGSILD_GATEWAY_URL: 'http://127.0.0.1:9' };
  const environment = await cli(['validate', file('good.jsonld'), '--schema', join(folder, 'Bench')], away);
  assert.equal(environment.code, 0, environment.stderr);
});

it('validate without a gateway prints the same as a gateway does for the same model', async () => {
  for (const [names, ...more] of [
    [['good.jsonld', 'bad.json', 'both.json']],
    [['good.jsonld', 'bad.json', 'both.json'], '--json', '--form', 'keyvalues'],
    [['bad.json'], '--json'],
    [['both.json'], '--form', 'normalized'],
  ] as const) {
    const validate = (...by: readonly string[]) =>
      cli(['validate', ...names.map((name) => file(name)), ...more, ...by]);
    const here = await validate('--schema', join(folder, 'Bench'));
    const there = await validate('--gateway', url, '--model', 'City/Bench');
    assert.deepEqual(here, there, [...names, ...more].join(' '));
    assert.equal(here.code, 3);
  }
});

it('validate accepts several files, including standard input, and arrays of entities', async () => {
  const names = [file('good.jsonld'), '-', file('both.json'), file('broken.json'), file('text.json')];
  const words = ['validate', ...names, '--schema', join(folder, 'Bench')];
  const { code, stdout, stderr } = await cli(words, {}, JSON.stringify(BAD));
  assert.equal(code, 2);
  assert.match(
    stdout,
    /good\.jsonld: valid\n-: not valid\n[^]*both\.json\[1\]: not valid\n[^]*1 valid, 1 not/,
  );
  assert.match(stderr, /broken\.json: line 1, column \d+: .*\n.*text\.json: The body is neither an entity/);
  const json = await cli([...words, '--json'], {}, JSON.stringify(BAD));
  const lines = jsonLines(json.stdout);
  assert.deepEqual(
    lines.map(({ file: of }) => of),
    names,
  );
  assert.equal((lines[1]?.['answer'] as { valid: boolean } | undefined)?.valid, false);
  assert.equal((lines[2]?.['answer'] as readonly unknown[] | undefined)?.length, 2);
  assert.equal(typeof lines[3]?.['fault'], 'string');
  const readable = ['validate', ...names.slice(0, 3), '--schema', join(folder, 'Bench')];
  assert.equal((await cli(readable, {}, JSON.stringify(GOOD))).code, 3);
  const text = await cli(['validate', file('text.json'), '--schema', join(folder, 'Bench')]);
  assert.equal(text.code, 3);
});

it('validate checks the other files if one cannot be read or is refused by the gateway', async () => {
  const here = ['--schema', join(folder, 'Bench')];
  const there = ['--gateway', url, '--model', 'City/Bench'];
  for (const [name, by, code, why] of [
    ['nowhere.json', here, 2, /^\S*nowhere\.json does not exist\.\n$/],
    ['nowhere.json', there, 2, /nowhere\.json does not exist/],
    ['broken.json', there, 4, /broken\.json: The gateway answered 400/],
  ] as const) {
    const words = ['validate', file(name), file('bad.json'), ...by];
    const plain = await cli(words);
    assert.equal(plain.code, code, plain.stderr);
    assert.match(plain.stderr, why);
    assert.match(plain.stdout, /bad\.json: not valid/);
    const lines = jsonLines((await cli([...words, '--json'])).stdout);
    assert.deepEqual(
      lines.map((line) => Object.keys(line)),
      [
        ['file', 'fault'],
        ['file', 'answer'],
      ],
    );
  }
  const away = await cli([
    'validate',
    file('good.jsonld'),
    file('bad.json'),
    '--gateway',
    'http://127.0.0.1:9',
  ]);
  assert.deepEqual([away.code, away.stderr.match(/cannot be reached/g)?.length], [1, 1]);
});

it('validate reads shared documents from further --schema folders, and names those that are missing', async () => {
  const incomplete = folderOf(cityRepository());
  git(incomplete, 'init');
  const bench = join(incomplete, 'Bench');
  const missing = await cli(['validate', file('good.jsonld'), '--schema', bench]);
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /missing: https:\/\/models\.example\/shared\/common-schema\.json/);
  assert.match(missing.stderr, /Add another --schema/);
  const shared = folderOf({ 'common-schema.json': commonSchema() }, 'shared');
  const found = await cli(['validate', file('good.jsonld'), '--schema', bench, '--schema', shared]);
  assert.equal(found.code, 0, found.stderr);
  const whole = await cli(['validate', file('good.jsonld'), '--schema', incomplete, '--schema', shared]);
  assert.equal(whole.code, 0, whole.stderr);
});

it("validate with a folder of models uses the model of each entity's type, or the model given by name", async () => {
  const byType = (name: string, ...more: readonly string[]) =>
    cli(['validate', file(name), '--schema', folder, ...more]);
  assert.equal((await byType('lamp.json')).code, 0);
  const bad = await byType('both.json', '--json');
  assert.equal(bad.code, 3);
  const [, second] = JSON.parse(bad.stdout) as readonly { valid: boolean; models: readonly string[] }[];
  assert.deepEqual([second?.valid, second?.models], [false, ['dataModel.City/Bench']]);
  for (const model of ['Bench', 'dataModel.City/Bench'])
    assert.equal((await byType('lamp.json', '--model', model)).code, 3, model);
  const none = await byType('good.jsonld', '--model', 'Car');
  assert.equal(none.code, 2);
  assert.match(none.stderr, /no model Car .*dataModel\.City\/Bench/);
  const unknown = await byType('car.json');
  assert.equal(unknown.code, 3);
  assert.match(unknown.stderr, /car\.json: The entity has no model for its type "Car"/);
});

it('validate does not need the documents that the context of a model names', async () => {
  const other = folderOf(completeRepository());
  put(other, { 'Bench/context.jsonld': { '@context': 'https://elsewhere.example/context.jsonld' } });
  git(other, 'init');
  for (const schema of [other, join(other, 'Bench')])
    assert.equal((await cli(['validate', file('good.jsonld'), '--schema', schema])).code, 0);
});

it('validate needs --model for a schema that has neither a folder name nor a title', async () => {
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' };
  const unnamedFolder = folderOf({ 'bench.json': schema }, '_');
  const words = ['validate', file('good.jsonld'), '--schema', join(unnamedFolder, 'bench.json')];
  const unnamed = await cli(words);
  assert.equal(unnamed.code, 2);
  assert.match(unnamed.stderr, /--model/);
  assert.equal((await cli([...words, '--model', 'Bench'])).code, 0);
});

it('validate says which schema it cannot use and where the fault is, and exits with 2', async () => {
  const faulty = folderOf({
    'Bench/schema.json': entitySchema('Bench', 'seats', { allOf: [{}], type: 'objct' }),
  });
  const { code, stderr } = await cli(['validate', file('good.jsonld'), '--schema', join(faulty, 'Bench')]);
  assert.equal(code, 2);
  assert.match(stderr, /Bench\/schema\.json:\d+: the schema cannot be used\. .*\/type/);
  for (const words of [
    [join(faulty, 'None')],
    [folderOf({ 'README.md': 'x' })],
    [join(faulty, 'Bench'), '--form', 'xml'],
    [join(faulty, 'Bench'), '--gateway', 'http://127.0.0.1:9'],
    [join(faulty, 'Bench'), '--model', 'no name'],
  ])
    assert.equal((await cli(['validate', file('good.jsonld'), '--schema', ...words])).code, 2, words[0]);
});

it('validate without a schema and without a gateway names both options', async () => {
  for (const more of [[], ['--model', 'City/Bench']]) {
    const { code, stderr } = await cli(['validate', file('good.jsonld'), ...more]);
    assert.equal(code, 2);
    assert.match(stderr, /--schema PATH[^]*--gateway URL/);
  }
  const { stdout } = await cli(['validate', '--help']);
  assert.match(stdout, /ngsi-ld-gateway validate \S+ --schema \S+/);
});

it('validate through a gateway finds the models by type if no model is given', async () => {
  assert.equal((await cli(['validate', file('lamp.json'), '--gateway', url])).code, 0);
  assert.equal((await cli(['validate', file('bad.json'), file('lamp.json'), '--gateway', url])).code, 3);
});
