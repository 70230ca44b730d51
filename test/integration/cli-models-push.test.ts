import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { cli, CliProcess } from '../support/cli-process.js';
import { stopAll } from '../support/gateway-harness.js';
import { folderOf, git, put } from '../support/model-folders.js';
import { completeRepository, entitySchema } from '../support/repositories.js';
import { startAnswering } from '../support/stub-gateway.js';
import { CAR, SLOW_CAR, startApi } from './api-client.js';

after(stopAll);

const push = (path: string, url: string, ...words: readonly string[]) =>
  cli(['models', 'push', path, '--gateway', url, ...words]);

interface ModelBody {
  readonly version: number;
  readonly context?: unknown;
  readonly description?: string;
  readonly schema: object;
}

it('models push leaves an imported model unchanged if its files are the same, and gives a changed one a new version', async () => {
  const { url, api } = await startApi();
  const folder = folderOf(completeRepository());
  git(folder, 'init');
  await cli(['models', 'import', folder, '--gateway', url]);
  for (const path of [join(folder, 'Lamp'), join(folder, 'Bench/schema.json')]) {
    const same = await push(path, url);
    assert.equal(same.code, 0, same.stderr);
    assert.match(same.stdout, /^dataModel\.City\/(?:Lamp|Bench) has not changed\.\n$/);
  }
  put(folder, {
    'Lamp/schema.json': entitySchema('Lamp', 'power', { properties: { on: { type: 'boolean' } } }),
  });
  const dry = await push(join(folder, 'Lamp'), url, '--dry-run');
  assert.equal(dry.code, 0, dry.stderr);
  assert.match(dry.stdout, /^ {2}compatible.*: \S+: property "on" is new$/m);
  const model = async () => (await api.get('/domains/dataModel.City/models/Lamp')).json() as ModelBody;
  assert.equal((await model()).version, 1);
  const { code, stdout } = await push(join(folder, 'Lamp'), url, '--json');
  const { outcome, version } = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
  assert.deepEqual([code, outcome, version], [0, 'version', 2]);
  assert.equal((await model()).context, 'dataModel.City-context');
  // Nothing is left for an import to do.
  assert.equal((await cli(['models', 'diff', folder, '--gateway', url])).code, 0);
});

it("models push sends the digits of a schema's numbers unchanged", async () => {
  const { url, api } = await startApi();
  const folder = folderOf({ 'schema.json': CAR }, 'Meter');
  const schema = JSON.stringify(CAR).replace('"speed":{', '"speed":{"maximum":9223372036854775807,');
  writeFileSync(join(folder, 'schema.json'), schema);
  assert.equal((await push(folder, url, '--domain', 'Grid')).code, 0);
  const served = await api.get('/domains/Grid/models/Meter/schema');
  assert.match(served.text, /"maximum":9223372036854775807,/);
  const again = await push(folder, url, '--domain', 'Grid');
  assert.match(again.stdout, /has not changed/);
});

it('models push creates domain and model, with description and context, from a folder outside any repository', async () => {
  const { url, api } = await startApi();
  const context = { speed: 'https://terms.example/speed' };
  const folder = folderOf(
    { 'schema.json': { ...CAR, description: 'A car.' }, 'context.jsonld': { '@context': context } },
    'Car',
  );
  const dry = await push(folder, url, '--domain', 'Traffic', '--dry-run');
  assert.equal(dry.code, 0, dry.stderr);
  assert.deepEqual((await api.get('/domains')).json(), []);
  const { code, stdout, stderr } = await push(folder, url, '--domain', 'Traffic');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^Traffic\/Car was created\.$/m);
  const model = (await api.get('/domains/Traffic/models/Car')).json() as ModelBody;
  assert.deepEqual([model.description, model.context], ['A car.', context]);
  // The same schema under another name, given as a single file.
  writeFileSync(join(folder, 'other.json'), JSON.stringify({ ...CAR, title: 'not a name' }));
  const named = await push(join(folder, 'other.json'), url, '--domain', 'Traffic', '--model', 'Other');
  assert.equal(named.code, 0, named.stderr);
  assert.equal((await api.get('/domains/Traffic/models/Other')).status, 200);
});

it('models push uses the settings of an export, but not the context that the model was served with', async () => {
  const { url, api } = await startApi();
  const schema = entitySchema('Car', 'speed');
  const folder = folderOf({
    'domains/D/Car/schema.json': CAR,
    'domains/D/Car/meta.json': { description: 'Ours', compatibility: 'backward', status: 'published' },
    'domains/D/Car/context.jsonld': { '@context': { speed: 'https://served.example/speed' } },
    'domains/D/Other/schema.json': schema,
  });
  const { code, stderr } = await push(join(folder, 'domains/D/Car'), url);
  assert.equal(code, 0, stderr);
  const model = (await api.get('/domains/D/models/Car')).json() as ModelBody & { compatibility: string };
  assert.deepEqual([model.description, model.compatibility, model.context], ['Ours', 'backward', undefined]);
});

it('models push asks before a change that may refuse entities; without a terminal it needs --yes', async () => {
  const { url, api } = await startApi();
  const folder = folderOf({ 'schema.json': CAR }, 'Car');
  const at = ['--domain', 'D'] as const;
  await push(folder, url, ...at);
  put(folder, { 'schema.json': SLOW_CAR });
  const version = async () => ((await api.get('/domains/D/models/Car')).json() as ModelBody).version;
  const piped = await push(folder, url, ...at);
  assert.equal(piped.code, 2);
  assert.match(piped.stderr, /^ {2}narrowing.*maximum.*\n[^]*add --yes\. Nothing was changed\.$/m);
  for (const [answer, code] of [
    ['n\r', 130],
    ['\u0003', 130],
    ['y\r', 0],
  ] as const) {
    assert.equal(await version(), 1);
    const asked = await CliProcess.onTerminal(['models', 'push', folder, '--gateway', url, ...at]);
    await asked.until(/Update D\/Car\? \[y\/N\] /);
    asked.type(answer);
    assert.equal((await asked.ended).code, code, asked.stdout);
  }
  assert.equal(await version(), 2);
  put(folder, { 'schema.json': { ...SLOW_CAR, required: ['id', 'type', 'speed'] } });
  const yes = await push(folder, url, ...at, '--yes');
  assert.equal(yes.code, 0, yes.stderr);
  assert.equal(await version(), 3);
});

it('models push shows the differences that the gateway refuses, and exits with 4', async () => {
  const { url, api } = await startApi();
  await api.post('/domains', { name: 'D' });
  await api.post('/domains/D/models', { name: 'Car', schema: CAR, compatibility: 'backward' });
  const folder = folderOf({ 'schema.json': SLOW_CAR }, 'Car');
  const { code, stderr } = await push(folder, url, '--domain', 'D', '--yes');
  assert.equal(code, 4);
  assert.match(stderr, /^narrowing.*maximum[^]*The gateway answered 409/m);
});

it('models push says that a model may have been changed if the answer was lost', async () => {
  const change = { overall: 'compatible', differences: [] };
  const dry = JSON.stringify({ outcome: 'version', version: 2, change, warnings: [] });
  const url = await startAnswering(({ method, url: target }) => {
    if (method === 'GET') return { text: '{}' };
    return target.includes('dryRun') ? { text: dry } : 'reset';
  });
  const { code, stderr } = await push(folderOf({ 'schema.json': CAR }, 'Car'), url, '--domain', 'D');
  assert.equal(code, 1);
  assert.match(stderr, /D\/Car may have been changed/);
});

it('models push exits with 2 unless it finds one readable model, and sends nothing', async () => {
  let requests = 0;
  const url = await startAnswering(() => ({ text: String((requests += 1)) }));
  const folder = folderOf({
    'README.md': 'x',
    'Broken/schema.json': '{"type":',
    'Huge/schema.json': `{"title":"${'x'.repeat(1_100_000)}"}`,
    'List/schema.json': '[]',
    'no name/schema.json': CAR,
    'Car/schema.json': CAR,
    'Car/context.jsonld': '{"@context":',
    'Lone/schema.json': CAR,
  });
  git(folder, 'init');
  mkdirSync(join(folder, 'Loop'));
  symlinkSync('schema.json', join(folder, 'Loop/schema.json'));
  symlinkSync('..', join(folder, 'Loop/around'));
  const at = (path: string) => join(folder, path);
  for (const [path, words, pattern] of [
    ['nowhere', [], /nowhere does not exist\./],
    ['README.md', ['--domain', 'D'], /is not a model/],
    ['.', [], /has no schema\.json/],
    ['Broken', ['--domain', 'D'], /line 1/],
    ['Huge', ['--domain', 'D'], /has more than [\d,]+ bytes/],
    ['no name', ['--domain', 'D'], /neither is a valid name/],
    ['Car', ['--domain', 'D'], /context\.jsonld/],
    ['Loop', ['--domain', 'D'], /Loop/],
    ['Lone', ['--domain', 'a/b'], /"a\/b" is not a name/],
    ['Lone', ['--domain', 'D', '--model', '..'], /"\.\." is not a name/],
  ] as const) {
    const { code, stdout, stderr } = await push(at(path), url, ...words);
    assert.deepEqual([code, stdout], [2, ''], stderr);
    assert.match(stderr, pattern);
  }
  assert.equal(requests, 0);
});
