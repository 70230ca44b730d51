import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, it } from 'node:test';
import { MAX_FILE_BYTES } from '../../sidecar/schemas/repository/collector.js';
import type { ImportReport } from '../../sidecar/schemas/repository/transfer.js';
import { tarGz } from '../support/archives.js';
import { cli, CliProcess, ensureCliBuilt, jsonLines } from '../support/cli-process.js';
import { stopAll } from '../support/gateway-harness.js';
import { folderOf, git, put } from '../support/model-folders.js';
import {
  cityRepository,
  commonSchema,
  completeRepository,
  entitySchema,
  entriesOf,
} from '../support/repositories.js';
import { makeModel, startApi } from './api-client.js';

after(stopAll);

it('models import imports a clone with one command, and changes nothing the second time', async () => {
  const { url, api } = await startApi();
  const folder = folderOf(completeRepository());
  git(folder, 'init');
  const first = await cli(['models', 'import', folder, '--gateway', url]);
  assert.equal(first.code, 0, first.stderr);
  assert.match(
    first.stdout,
    /^ {2}city\/Bench\/examples\/example-wrong\.jsonld:4: \/seats must be a number/m,
  );
  assert.match(
    first.stdout,
    /2 models in dataModel\.City\. Files: 7 created, 0 updated, 0 unchanged, 0 refused\./,
  );
  const again = await cli(['models', 'import', folder, '--gateway', url, '--json']);
  const { summary } = JSON.parse(again.stdout) as ImportReport;
  assert.deepEqual([summary.created, summary.updated, summary.unchanged], [0, 0, 7]);
  assert.equal((await api.get('/domains/dataModel.City/models/Bench')).status, 200);
});

it('models import prints refused files with their lines, and exits with 3', async () => {
  const { url } = await startApi();
  const { code, stdout } = await cli(['models', 'import', folderOf(cityRepository()), '--gateway', url]);
  assert.equal(code, 3);
  assert.match(
    stdout,
    /^ {2}city\/Bench\/schema\.json:\d+: Documents that the schema refers to are missing: https:/m,
  );
});

it('models import accepts several folders, and archives', async () => {
  const { url } = await startApi();
  const shared = folderOf({ 'common-schema.json': commonSchema() }, 'shared');
  const both = await cli([
    'models',
    'import',
    folderOf(cityRepository()),
    shared,
    '--gateway',
    url,
    '--dry-run',
  ]);
  assert.equal(both.code, 0, both.stdout);
  assert.match(both.stdout, /6 would be created/);
  const archive = `${folderOf({ x: '' })}.bin`;
  writeFileSync(archive, await tarGz(entriesOf(completeRepository())));
  const packed = await cli(['models', 'import', archive, '--gateway', url, '--domain', 'Own']);
  assert.equal(packed.code, 0, packed.stderr);
  assert.match(packed.stdout, /2 models in Own/);
});

it('models import exits with 2 for a wrong call, and with 4 if the gateway refuses it', async () => {
  const { url } = await startApi({ GATEWAY_TOKEN: 'the-shared-secret' });
  const empty = folderOf({ 'README.md': 'x' });
  for (const path of ['/nowhere/at/all', empty, join(empty, 'README.md')]) {
    const { code, stderr } = await cli(['models', 'import', path, '--gateway', url]);
    assert.equal(code, 2, stderr);
    assert.ok(stderr.includes(path), stderr);
  }
  const folder = folderOf(completeRepository());
  assert.equal((await cli(['models', 'import', folder, '--gateway', url])).code, 4);
  const token = { NGSILD_GATEWAY_TOKEN: 'the-shared-secret' };
  assert.equal((await cli(['models', 'import', folder, '--gateway', url], token)).code, 0);
});

it('models export writes an archive that another gateway can import, and keeps the old file if it fails', async () => {
  const { url } = await startApi();
  await cli(['models', 'import', folderOf(completeRepository()), '--gateway', url]);
  const file = join(folderOf({ x: '' }), 'all.tgz');
  const { code, stderr } = await cli(['models', 'export', '-o', file, '--gateway', url]);
  assert.equal(code, 0, stderr);
  const piped = await cli(['models', 'export', '--domain', 'dataModel.City', '-o', '-', '--gateway', url]);
  assert.equal(piped.code, 0);
  const { url: other } = await startApi();
  const imported = await cli(['models', 'import', file, '--gateway', other]);
  assert.match(imported.stdout, /2 models in dataModel\.City/);
  assert.equal(imported.code, 0);
  const before = readFileSync(file);
  assert.equal((await cli(['models', 'export', '--domain', 'None', '-o', file, '--gateway', url])).code, 4);
  assert.ok(before.equals(readFileSync(file)));
  assert.ok(!existsSync(`${file}.partial`));
});

it('models export ends quietly and with 0 if the reader of its output stops early', async () => {
  const { url } = await startApi();
  await cli(['models', 'import', folderOf(completeRepository()), '--gateway', url]);
  const program = await ensureCliBuilt();
  const child = spawn(process.execPath, [program, 'models', 'export', '-o', '-', '--gateway', url]);
  child.stdout.destroy();
  const [stderr] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  assert.deepEqual([child.exitCode, stderr], [0, '']);
});

it(
  'models export says once, in one line, that its output cannot be written',
  { skip: existsSync('/dev/full') ? false : 'there is no /dev/full' },
  async () => {
    const { url } = await startApi();
    await cli(['models', 'import', folderOf(completeRepository()), '--gateway', url]);
    const program = await ensureCliBuilt();
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [program, 'models', 'export', '-o', '-', '--gateway', url], {
      stdio: ['ignore', full, 'pipe'],
    });
    const [stderr] = await Promise.all([text(child.stderr as Readable), once(child, 'exit')]);
    closeSync(full);
    assert.deepEqual([child.exitCode, stderr.split('\n').length], [1, 2]);
    assert.match(stderr, /^The output could not be written: ENOSPC/);
  },
);

it('models are listed by domain, type and attribute, and shown with their versions, schema and examples', async () => {
  const { url } = await startApi();
  await cli(['models', 'import', folderOf(completeRepository()), '--gateway', url]);
  const models = async (...words: readonly string[]) => cli(['models', ...words, '--gateway', url]);
  const { stdout } = await models('list');
  assert.match(stdout, /^MODEL +VERSION +STATUS .*\ndataModel\.City\/Bench +1 +published .*\n.*\/Lamp /);
  for (const [words, found] of [
    [['--domain', 'dataModel.City'], 2],
    [['--domain', 'other'], 0],
    [['--type', 'Lamp'], 1],
    [['bench'], 1],
  ] as const)
    assert.equal(jsonLines((await models('list', ...words, '--json')).stdout).length, found, words.join(' '));
  const shown = await models('get', 'dataModel.City/Bench@1');
  assert.match(
    shown.stdout,
    /^dataModel\.City\/Bench, version 1\n[^]*\nversion 1 +\d{4}-[^]*"properties": \{/,
  );
  const context = /^context +(\S+)$/m.exec(shown.stdout)?.[1] ?? '';
  assert.equal((await fetch(context)).headers.get('content-type'), 'application/ld+json');
  assert.match(
    (await models('get', 'dataModel.City/Bench', '-o', 'yaml')).stdout,
    /^domain: dataModel\.City\n/,
  );
  const examples = await models('examples', 'dataModel.City/Bench');
  assert.match(
    examples.stdout,
    /^NAME +FORM +BYTES\nexample-wrong\.jsonld +keyvalues +\d+\nexample\.jsonld /,
  );
  const example = await models('examples', 'dataModel.City/Bench', 'example.jsonld');
  assert.deepEqual(JSON.parse(example.stdout), completeRepository()['Bench/examples/example.jsonld']);
  assert.deepEqual(
    [(await models('examples', 'Bench')).code, (await models('examples', 'dataModel.City/Bench', 'x')).code],
    [2, 4],
  );
  assert.deepEqual([(await models('get', 'Bench')).code, (await models('get', 'a/b')).code], [2, 4]);
});

it('models check finds mistakes without a gateway, and prints text, JSON or annotations', async () => {
  const folder = folderOf(completeRepository());
  const text = await cli(['models', 'check', folder]);
  assert.equal(text.code, 3, text.stderr);
  assert.match(text.stdout, /city\/Bench\/examples\/example-wrong\.jsonld:4/);
  const json = await cli(['models', 'check', folder, '--json']);
  const { summary, files } = JSON.parse(json.stdout) as ImportReport;
  assert.equal(summary.examples.invalid, 1);
  // The name that an import gives the model.
  assert.ok(files.some(({ model }) => model === 'dataModel.City/Bench'));
  const github = await cli(['models', 'check', folder, '--format', 'github']);
  const path = join(folder, 'Bench/examples/example-wrong.jsonld');
  assert.match(
    github.stdout,
    new RegExp(`^::error file=${path},line=4,title=Example is not valid::/seats`, 'm'),
  );
  rmSync(path);
  assert.equal((await cli(['models', 'check', folder])).code, 0);
});

it('models check ends its own process, with its worker threads', async () => {
  const folder = folderOf(completeRepository());
  const { code, stdout, stderr } = await (await CliProcess.start(['models', 'check', folder])).ended;
  assert.equal(code, 3, stderr);
  assert.match(stdout, /city\/Bench\/examples\/example-wrong\.jsonld:4/);
});

it('models check reports changes since a revision, and fails for changes beyond the allowed ones', async () => {
  const folder = folderOf(completeRepository());
  rmSync(join(folder, 'Bench/examples/example-wrong.jsonld'));
  git(folder, 'init');
  git(folder, 'add', '.');
  git(folder, 'commit', '-m', 'first');
  put(folder, {
    'Lamp/schema.json': { ...entitySchema('Lamp', 'power'), required: ['id', 'type', 'power'] },
  });
  const check = (...words: readonly string[]) =>
    cli(['models', 'check', folder, '--against', 'HEAD', ...words]);
  const plain = await check('--format', 'github');
  assert.equal(plain.code, 0, plain.stdout);
  assert.match(plain.stdout, /^::warning file=\S*Lamp\/schema\.json,title=Change%3A narrowing::/m);
  const strict = await check('--fail-on', 'narrowing', '--format', 'github');
  assert.equal(strict.code, 3);
  assert.match(strict.stdout, /^::error file=/m);
  assert.equal((await check('--fail-on', 'never')).code, 0);
  // Documents that models share may be in a folder outside git.
  const shared = folderOf({ 'common-schema.json': commonSchema() }, 'data-models');
  rmSync(join(folder, 'shared'), { recursive: true });
  git(folder, 'add', '.');
  git(folder, 'commit', '-m', 'second');
  put(folder, { 'Lamp/schema.json': entitySchema('Lamp', 'power') });
  const both = await cli(['models', 'check', folder, shared, '--against', 'HEAD', '--json']);
  const { files, summary } = JSON.parse(both.stdout) as ImportReport;
  assert.deepEqual([both.code, summary.updated, summary.created], [0, 1, 0], both.stdout + both.stderr);
  assert.equal(files.find(({ status }) => status === 'updated')?.model, 'dataModel.City/Lamp');
  for (const revision of ['nowhere', '--output=x'])
    assert.equal((await cli(['models', 'check', folder, `--against=${revision}`])).code, 2);
  // The folder of another user, as in a container: git says on several lines what to do.
  const foreign = await cli(['models', 'check', folder, '--against=HEAD'], {
    GIT_TEST_ASSUME_DIFFERENT_OWNER: '1',
  });
  assert.match(foreign.stderr, /dubious ownership.*\n.*\n {2}git config --global --add safe\.directory /);
});

it('models check since a revision compares files that git archives omit, and names removed models', async () => {
  const lit = (type: string) => ({
    type: 'object',
    properties: { type: { type: 'string' }, power: { type } },
  });
  const folder = folderOf({
    '.gitattributes': 'Lamp export-ignore\n',
    'Lamp/schema.json': lit('number'),
    'Pole/schema.json': lit('number'),
  });
  git(folder, 'init');
  git(folder, 'add', '.');
  git(folder, 'commit', '-m', 'first');
  put(folder, { 'Lamp/schema.json': lit('string') });
  rmSync(join(folder, 'Pole'), { recursive: true });
  const words = ['models', 'check', folder, '--against', 'HEAD'];
  const { code, stdout } = await cli(words);
  assert.equal(code, 3, stdout);
  assert.match(stdout, /city\/Lamp: breaking/);
  assert.match(stdout, /^The model city\/Pole is no longer in the folders\./m);
  const { gone } = JSON.parse((await cli([...words, '--json'])).stdout) as { readonly gone: unknown };
  assert.deepEqual(gone, ['city/Pole']);
  assert.match(
    (await cli([...words, '--format', 'github'])).stdout,
    /^::warning title=Model is gone::The model city\/Pole /m,
  );
  // A moved folder does not count as a folder of new models.
  git(folder, 'mv', 'Lamp', 'Light');
  assert.equal((await cli(['models', 'check', join(folder, 'Light'), '--against', 'HEAD'])).code, 2);
});

it("models check since a revision compares files after git's filters", async () => {
  const lit = (type: string) => ({
    type: 'object',
    properties: { type: { type: 'string' }, power: { type } },
  });
  const root = folderOf({ '.gitattributes': 'models/Lamp/*.json filter=turned export-ignore\n' });
  const folder = join(root, 'models');
  put(root, {
    'models/Lamp/schema.json': lit('number'),
    'models/Lamp/examples/a.json': {},
    'models/Pole/schema.json': lit('number'),
  });
  git(root, 'init');
  git(root, 'config', 'filter.turned.clean', "tr '{}' '}{'");
  git(root, 'config', 'filter.turned.smudge', `tr '{}' '}{'; printf '     '`);
  git(root, 'add', '.');
  git(root, 'commit', '-m', 'first');
  put(root, { 'models/Lamp/schema.json': lit('string') });
  const words = ['models', 'check', folder, '--against', 'HEAD'];
  const filtered = await cli(words);
  assert.deepEqual([filtered.code, filtered.stderr], [3, ''], filtered.stdout);
  assert.match(filtered.stdout, /models\/Lamp: breaking/);
  assert.match(filtered.stdout, /0 would be created, 1 would be updated, 1 unchanged, 0 refused/);

  // Without the filter, the earlier content is unknown.
  put(root, { '.gitattributes': '' });
  const unknown = await cli(words);
  assert.equal(unknown.code, 3, unknown.stdout);
  assert.match(unknown.stdout, /^models\/Lamp\/schema\.json: The change is unknown, because /m);
  const { uncompared } = JSON.parse((await cli([...words, '--json'])).stdout) as { uncompared: unknown };
  assert.deepEqual(uncompared, ['models/Lamp/schema.json']);
  const github = await cli([...words, '--format', 'github']);
  assert.match(github.stdout, /^::error file=\S*models\/Lamp\/schema\.json,title=Not compared::The change /m);
  const lenient = await cli([...words, '--fail-on', 'never', '--format', 'github']);
  assert.equal(lenient.code, 0, lenient.stdout);
  assert.match(lenient.stdout, /^::warning file=\S*schema\.json,title=Not compared::/m);
});

it('models check since a revision fails if models could not be compared because their context was invalid', async () => {
  const lit = (type: string) => ({ type: 'object', title: 'Lamp', properties: { power: { type } } });
  const root = folderOf({});
  const context = (type: string) => ({
    '@context': { power: { '@id': 'https://a.example/p', '@type': type } },
  });
  put(root, { 'Lamp/schema.json': lit('number'), 'context.jsonld': context('DateTime') });
  git(root, 'init');
  git(root, 'add', '.');
  git(root, 'commit', '-m', 'first');
  put(root, { 'Lamp/schema.json': lit('string'), 'context.jsonld': context('@id') });
  const { code, stdout } = await cli(['models', 'check', root, '--against', 'HEAD']);
  assert.equal(code, 3, stdout);
  assert.match(stdout, /Lamp\/schema\.json: The change is unknown/);

  // A schema that was invalid itself is a new one.
  put(root, { 'Lamp/schema.json': lit('nothing') });
  git(root, 'commit', '-am', 'second');
  put(root, { 'Lamp/schema.json': lit('string') });
  const { code: corrected, stdout: report } = await cli(['models', 'check', root, '--against', 'HEAD']);
  assert.equal(corrected, 0, report);
});

it('models check since a revision finds the repository of the folder, also in a git hook', async () => {
  const root = folderOf({});
  const lit = (type: string) => ({
    type: 'object',
    properties: { type: { type: 'string' }, power: { type } },
  });
  put(root, { 'models/Lamp/schema.json': lit('number'), 'others/Lamp/schema.json': lit('string') });
  git(root, 'init');
  git(root, 'add', '.');
  git(root, 'commit', '-m', 'first');
  put(root, { 'models/Lamp/schema.json': lit('string') });
  const words = ['models', 'check', join(root, 'models'), '--against', 'HEAD'];
  for (const GIT_DIR of [join(root, '.git'), '.git']) {
    const { code, stdout, stderr } = await cli(words, { GIT_DIR });
    assert.deepEqual([code, stderr], [3, ''], stdout);
    assert.match(stdout, /models\/Lamp: breaking/);
  }
  // GIT_DIR together with GIT_WORK_TREE selects that repository.
  const other = folderOf({ 'models/Lamp/schema.json': lit('string') }, 'other');
  const named = { GIT_DIR: join(root, '.git'), GIT_WORK_TREE: other };
  const { code, stdout } = await cli(['models', 'check', join(other, 'models'), '--against', 'HEAD'], named);
  assert.equal(code, 3, stdout);
  assert.match(stdout, /models\/Lamp: breaking/);
});

it('models check since a revision compares the folder in a git hook with a relative GIT_WORK_TREE', async () => {
  const root = folderOf({
    'models/Lamp/schema.json': { properties: { power: { type: 'number' } } },
    'others/Lamp/schema.json': { properties: { power: { type: 'string' } } },
  });
  git(root, 'init');
  git(root, 'add', '.');
  git(root, 'commit', '-m', 'first');
  put(root, { 'models/Lamp/schema.json': { properties: { power: { type: 'string' } } } });
  const words = ['models', 'check', join(root, 'models'), '--against', 'HEAD'];
  const repository = join(root, '.git');
  const GIT_WORK_TREE = relative('.', root);
  for (const named of [{ GIT_DIR: repository }, { GIT_DIR: relative('.', repository) }, {}]) {
    const { code, stdout, stderr } = await cli(words, { ...named, GIT_WORK_TREE });
    assert.deepEqual([code, stderr], [3, ''], stdout);
    assert.match(stdout, /models\/Lamp: breaking/);
    assert.doesNotMatch(stdout, /others/);
  }
});

it('models check since a revision does not report a model as removed if its file cannot be read', async () => {
  const lit = { type: 'object', properties: { type: { type: 'string' } } };
  const titled = (title: string) => ({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title,
    ...lit,
  });
  const folder = folderOf({
    'Broken/schema.json': lit,
    'Large/schema.json': lit,
    'Linked/schema.json': lit,
    'Gone/schema.json': lit,
    'Moved/schema.json': lit,
    'titled.json': titled('Before'),
  });
  git(folder, 'init');
  git(folder, 'add', '.');
  git(folder, 'commit', '-m', 'first');
  rmSync(join(folder, 'Gone'), { recursive: true });
  renameSync(join(folder, 'Linked'), `${folder}-elsewhere`);
  symlinkSync(`${folder}-elsewhere`, join(folder, 'Linked'));
  mkdirSync(join(folder, 'other'));
  renameSync(join(folder, 'Moved'), join(folder, 'other/Moved'));
  writeFileSync(join(folder, 'Broken/schema.json'), '{');
  truncateSync(join(folder, 'Large/schema.json'), MAX_FILE_BYTES + 1);
  put(folder, { 'titled.json': titled('After') });
  const { code, stdout } = await cli(['models', 'check', folder, '--against', 'HEAD']);
  assert.equal(code, 3, stdout);
  assert.deepEqual(
    stdout.match(/(?<=The model )\S+(?= is no longer in the folders)/g),
    ['city/Gone', 'city/Before'],
    stdout,
  );
});

it('models check since a revision accepts folders of several repositories that have models of the same name', async () => {
  const lamp = (repository: string, ...attributes: readonly string[]) => ({
    $id: `https://cities.example/${repository}/Lamp/schema.json`,
    type: 'object',
    properties: { type: { const: 'Lamp' }, ...Object.fromEntries(attributes.map((name) => [name, true])) },
  });
  const mine = folderOf({ 'Lamp/schema.json': lamp('mine', 'power') }, 'mine');
  const theirs = folderOf({ 'Lamp/schema.json': lamp('theirs', 'height') }, 'theirs');
  git(mine, 'init');
  git(mine, 'add', '.');
  git(mine, 'commit', '-m', 'first');
  put(mine, { 'Lamp/schema.json': lamp('mine', 'power', 'colour') });
  const { code, stdout, stderr } = await cli([
    'models',
    'check',
    mine,
    theirs,
    '--against',
    'HEAD',
    '--json',
  ]);
  const { summary } = JSON.parse(stdout) as ImportReport;
  assert.deepEqual([code, summary.updated, summary.unchanged, summary.refused, stderr], [0, 1, 1, 0, '']);
});

it('models check fails for a changed IRI in the context of a folder, compared with a revision or with a gateway', async () => {
  const { url, api } = await startApi();
  const terms = (speed: string) => ({ '@context': { speed: `https://terms.example/${speed}` } });
  const car = { type: 'object', properties: { type: { const: 'Car' }, speed: { type: 'number' } } };
  const folder = folderOf({ 'Car/schema.json': car, 'context.jsonld': terms('speed') });
  git(folder, 'init');
  git(folder, 'add', '.');
  git(folder, 'commit', '-m', 'first');
  await cli(['models', 'import', folder, '--gateway', url, '--domain', 'Traffic']);
  await makeModel(api, 'Other', 'Van', car, { context: 'Traffic-context' });
  put(folder, { 'context.jsonld': terms('velocity') });
  for (const words of [
    ['--against', 'HEAD'],
    ['--gateway', url, '--domain', 'Traffic'],
  ]) {
    const { code, stdout } = await cli(['models', 'check', folder, ...words]);
    assert.equal(code, 3, stdout);
    assert.match(
      stdout,
      /Car: breaking\n.*breaking, meaning: \/properties\/speed: "speed" means \S+velocity, /,
    );
  }
  const words = ['models', 'check', folder, '--gateway', url, '--domain', 'Traffic', '--format', 'github'];
  const github = (await cli(words)).stdout;
  assert.match(github, /^::error file=\S*Car\/schema\.json,title=Change%3A breaking::\/properties\/speed: /m);
  assert.match(
    github,
    /^::error title=Change of a dependent%3A breaking::Other\/Van: \/properties\/speed: "speed" means /m,
  );
  const lenient = await cli(['models', 'check', folder, '--against', 'HEAD', '--fail-on', 'never']);
  assert.equal(lenient.code, 0, lenient.stdout);
});
