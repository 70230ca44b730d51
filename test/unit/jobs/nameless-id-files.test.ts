import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { it, type TestContext } from 'node:test';
import { NamelessIdFiles } from '../../../sidecar/jobs/nameless-id-files.js';

const [A, B] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'] as const;

function open(t: TestContext): NamelessIdFiles {
  const files = new NamelessIdFiles();
  t.after(() => files.close());
  return files;
}

async function record(files: NamelessIdFiles, purge: string, ...ids: readonly string[]): Promise<void> {
  const recorder = files.recorder(purge);
  for (const entityId of ids) recorder.note({ entityId }, 'deleted');
  assert.equal(await recorder.close(), undefined);
}

const read = async (files: NamelessIdFiles, purge: string) => {
  const lines = await text((await files.read(purge)) ?? assert.fail('nothing was recorded'));
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { entityId: string }).entityId);
};

it('ids in files without names are appended, and can be read as often as wanted', async (t) => {
  const files = open(t);
  const many = Array.from({ length: 5000 }, (_, number) => `urn:ngsi-ld:Car:${String(number)}`);
  await record(files, A, ...many);
  await record(files, B, 'urn:b');
  await record(files, A, 'urn:last');
  for (let time = 0; time < 20; time += 1) assert.equal((await read(files, A)).length, 5001);
  assert.deepEqual([(await read(files, A)).at(-1), await read(files, B)], ['urn:last', ['urn:b']]);
});

it('lists without names are there from the first line until they are removed', async (t) => {
  const files = open(t);
  await record(files, A);
  assert.deepEqual(
    [await files.has(A), await files.read(A), await files.remove(A)],
    [false, undefined, false],
  );
  for (const purge of [A, B]) await record(files, purge, 'urn:1');
  await files.sweep(async (purge) => purge === B);
  assert.deepEqual([await files.has(A), await files.has(B)], [false, true]);
  assert.deepEqual([await files.remove(B), await files.remove(B), await files.has(B)], [true, false, false]);
});

it('a file without a name that cannot be created makes the list incomplete, and is tried again later', async (t) => {
  const files = open(t);
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = '/nowhere';
  const recorder = files.recorder(A);
  recorder.note({ entityId: 'urn:1' }, 'deleted');
  assert.match((await recorder.close()) ?? '', /they could not be written/);
  if (TMPDIR === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = TMPDIR;
  assert.equal(await files.has(A), false);
  await record(files, A, 'urn:2');
  assert.deepEqual(await read(files, A), ['urn:2']);
});
