import assert from 'node:assert/strict';
import { constants } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { it, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { IdFiles, IdRecorder } from '../../../sidecar/jobs/id-files.js';
import type { Item } from '../../../sidecar/purge/index.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const [A, B] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'] as const;

const TOO_MANY = 'The recorded ids are incomplete: there are too many.';
const NOT_WRITTEN = 'The recorded ids are incomplete: they could not be written.';

const note = (recorder: IdRecorder, entityId: string) => recorder.note({ entityId }, 'deleted');

/** A file that accepts nothing until it is told to, and the text written to it. */
function slowFile() {
  const written: string[] = [];
  const state = { opened: 0, closed: 0, former: 0, failure: undefined as Error | undefined };
  let take = () => {};
  const isTaken = new Promise<void>((resolve) => (take = resolve));
  const file = {
    appendFile: async (lines: string) => {
      await isTaken;
      if (state.failure !== undefined) throw state.failure;
      written.push(lines);
    },
    close: async () => void (state.closed += 1),
    stat: async () => ({
      size: state.former + written.reduce((sum, lines) => sum + Buffer.byteLength(lines), 0),
    }),
  };
  const recorder = new IdRecorder(async () => {
    state.opened += 1;
    return file as unknown as FileHandle;
  });
  return { recorder, written, state, take };
}

it('a file of recorded ids has one line for each item, with all its names and its result', async () => {
  const files = new IdFiles(temporaryFolder());
  const recorder = files.recorder(A);
  const item: Item = {
    entityId: 'urn:é\n"1"',
    attribute: 'speed',
    datasetId: 'urn:d',
    instanceId: 'urn:i',
  };
  recorder.note(item, 'deleted');
  recorder.note({ entityId: 'urn:2' }, 'notDeleted');
  assert.equal(await recorder.close(), undefined);
  const lines = (await text((await files.read(A)) ?? assert.fail('nothing was recorded'))).split('\n');
  assert.equal(lines.pop(), '');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line) as object),
    [
      { ...item, outcome: 'deleted' },
      { entityId: 'urn:2', outcome: 'notDeleted' },
    ],
  );
});

it('ids recorded later for a purge are appended, by the same recorder or that of a later process', async () => {
  const folder = temporaryFolder();
  for (const ids of [
    ['urn:1', 'urn:2'],
    ['urn:3', 'urn:4'],
  ]) {
    const recorder = new IdFiles(folder).recorder(A);
    for (const id of ids) {
      note(recorder, id);
      assert.deepEqual([await recorder.close(), await recorder.close()], [undefined, undefined]);
    }
  }
  const lines = (await readFile(join(folder, `${A}.ndjson`), 'utf8')).trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => /urn:\d/.exec(line)?.[0]),
    ['urn:1', 'urn:2', 'urn:3', 'urn:4'],
  );
});

it('ids are appended to the last whole line of an earlier process, which was killed or had a full disk', async () => {
  for (const [before, kept] of [
    ['{"entityId":"urn:1"}\n{"entity', ['urn:1', 'urn:2']],
    ['{"entityId":"urn:1"}\n', ['urn:1', 'urn:2']],
    ['{"entity', ['urn:2']],
    ['', ['urn:2']],
  ] as const) {
    const folder = temporaryFolder();
    await writeFile(join(folder, `${A}.ndjson`), before);
    const files = new IdFiles(folder);
    const recorder = files.recorder(A);
    note(recorder, 'urn:2');
    assert.equal(await recorder.close(), undefined);
    const lines = (await text((await files.read(A)) ?? assert.fail('nothing was recorded')))
      .trimEnd()
      .split('\n');
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as Item).entityId),
      kept,
    );
  }
});

it('only whole lines of recorded ids are read, whether or not the process that wrote them is still there', async () => {
  for (const [written, read] of [
    ['{"entityId":"urn:1"}\n{"entity', '{"entityId":"urn:1"}\n'],
    ['{"entityId":"urn:1"}\n', '{"entityId":"urn:1"}\n'],
    ['{"entity', ''],
    ['', ''],
  ] as const) {
    const folder = temporaryFolder();
    await writeFile(join(folder, `${A}.ndjson`), written);
    assert.equal(await text((await new IdFiles(folder).read(A)) ?? assert.fail('nothing is read')), read);
  }
});

it('a file of recorded ids and its folder are readable by their owner only, and created with the first item', async () => {
  const folder = join(temporaryFolder(), 'deep', 'ids');
  const files = new IdFiles(folder);
  const recorder = files.recorder(A);
  assert.equal(await recorder.close(), undefined);
  assert.equal(await files.has(A), false);
  await assert.rejects(stat(folder), { code: 'ENOENT' });
  note(recorder, 'urn:1');
  await recorder.close();
  assert.equal(await files.has(A), true);
  assert.equal((await stat(folder)).mode & 0o777, constants.S_IRWXU);
  assert.equal((await stat(join(folder, `${A}.ndjson`))).mode & 0o777, constants.S_IRUSR | constants.S_IWUSR);
});

it('only the id of a purge names a file of recorded ids', async () => {
  const folder = temporaryFolder();
  await mkdir(join(folder, 'ids'));
  await writeFile(join(folder, 'secret.ndjson'), 'secret');
  await writeFile(join(folder, 'ids', `${A.toUpperCase()}x.ndjson`), 'other');
  const files = new IdFiles(join(folder, 'ids'));
  for (const id of ['../secret', '', `${A.toUpperCase()}x`, `x/../../secret`]) {
    assert.equal(await files.read(id), undefined, id);
    assert.equal(await files.remove(id), false, id);
  }
  assert.equal(await readFile(join(folder, 'secret.ndjson'), 'utf8'), 'secret');
});

it('a missing or removed list of ids is not found, and nothing is removed twice', async () => {
  const files = new IdFiles(temporaryFolder());
  assert.deepEqual(
    [await files.read(A), await files.has(A), await files.remove(A)],
    [undefined, false, false],
  );
  const recorder = files.recorder(A);
  note(recorder, 'urn:1');
  await recorder.close();
  assert.deepEqual([await files.remove(A), await files.remove(A)], [true, false]);
  assert.equal(await files.read(A), undefined);
});

it('a folder that cannot be read is an error, and not an empty list', async () => {
  const folder = temporaryFolder();
  const path = join(folder, `${A}.ndjson`);
  await mkdir(path);
  const files = new IdFiles(folder);
  await assert.rejects(files.remove(A));
  const loop = new IdFiles(join(folder, 'x'.repeat(300)));
  await assert.rejects(
    loop.sweep(async () => false),
    { code: 'ENAMETOOLONG' },
  );
  await assert.rejects(loop.read(A), { code: 'ENAMETOOLONG' });
  await assert.rejects(loop.remove(A), { code: 'ENAMETOOLONG' });
});

it('files of purges without a record are removed, and no other files', async () => {
  const folder = temporaryFolder();
  for (const name of [`${A}.ndjson`, `${B}.ndjson`, `${B}.ndjsox`, 'notes.ndjson', B])
    await writeFile(join(folder, name), '');
  const asked: string[] = [];
  await new IdFiles(folder).sweep(async (id) => {
    asked.push(id);
    return id === A;
  });
  assert.deepEqual(asked.sort(), [A, B]);
  assert.deepEqual((await readdir(folder)).sort(), [`${A}.ndjson`, B, `${B}.ndjsox`, 'notes.ndjson'].sort());
  await new IdFiles(join(folder, 'none')).sweep(async () => assert.fail('there is nothing'));
});

it('a file that cannot be removed does not prevent the removal of others', async () => {
  const folder = temporaryFolder();
  await mkdir(join(folder, `${A}.ndjson`));
  await writeFile(join(folder, `${B}.ndjson`), '');
  await assert.rejects(new IdFiles(folder).sweep(async () => false));
  assert.deepEqual(await readdir(folder), [`${A}.ndjson`]);
});

it('a recorder opens its file once, and writes simultaneous lines together', async () => {
  const { recorder, written, state, take } = slowFile();
  take();
  for (const id of ['urn:1', 'urn:2']) note(recorder, id);
  await turn();
  await turn();
  note(recorder, 'urn:3');
  await recorder.close();
  assert.deepEqual(
    written.map((lines) => lines.trimEnd().split('\n').length),
    [2, 1],
  );
  assert.deepEqual([state.opened, state.closed], [1, 1]);
});

/** Makes each line count as this many bytes. */
const weigh = (t: TestContext, bytes: number) =>
  t.mock.method(Buffer, 'byteLength', (lines: string) => bytes * (lines.split('\n').length - 1));

it('a recorder buffers 32 MiB at most for a slow disk, and continues once they are written', async (t) => {
  weigh(t, 1024 * 1024);
  const { recorder, written, take } = slowFile();
  const lines = () => written.join('').split('\n').length - 1;
  for (let count = 0; count < 33; count += 1) note(recorder, 'urn:1');
  take();
  assert.equal(await recorder.close(), TOO_MANY);
  assert.equal(lines(), 32);
  for (let count = 0; count < 32; count += 1) note(recorder, 'urn:2');
  assert.equal(await recorder.close(), undefined);
  assert.equal(lines(), 64);
});

it('a list holds at most 512 MiB, including the ids of an earlier process', async (t) => {
  for (const [lineMiB, formerMiB, fitting] of [
    [32, 0, 16],
    [32, 480, 1],
    // The list is full when it is taken over, or would be.
    [1, 511, 1],
    [32, 511, 0],
  ] as const) {
    t.mock.restoreAll();
    weigh(t, lineMiB * 1024 * 1024);
    const { recorder, written, take, state } = slowFile();
    state.former = formerMiB * 1024 * 1024;
    take();
    for (let count = 0; count <= fitting; count += 1) {
      note(recorder, 'urn:1');
      assert.equal(await recorder.close(), count < fitting ? undefined : TOO_MANY);
    }
    assert.equal(written.length, fitting);
    assert.equal(state.closed, state.opened);
  }
});

it('a failing disk loses all later lines, and is reported once', async () => {
  const { recorder, written, state, take } = slowFile();
  state.failure = new Error('no space left');
  take();
  note(recorder, 'urn:1');
  await turn();
  await turn();
  note(recorder, 'urn:2');
  assert.equal(await recorder.close(), NOT_WRITTEN);
  assert.equal(await recorder.close(), undefined);
  assert.deepEqual([written, state.closed], [[], 1]);
});

it('ids are reported as not written if their folder cannot be created', async () => {
  const recorder = new IdFiles('/proc/nobody/ids').recorder(A);
  note(recorder, 'urn:1');
  assert.equal(await recorder.close(), NOT_WRITTEN);
});

it('a file whose size cannot be read, or that cannot be closed, is reported as not written, and closed if possible', async () => {
  for (const broken of ['stat', 'close'] as const) {
    let closed = 0;
    const file = {
      stat: async () => ({ size: 0 }),
      appendFile: async () => {},
      close: async () => void (closed += 1),
      [broken]: () => Promise.reject(new Error('no')),
    };
    const recorder = new IdRecorder(async () => file as unknown as FileHandle);
    note(recorder, 'urn:1');
    assert.equal(await recorder.close(), NOT_WRITTEN);
    assert.equal(closed, broken === 'stat' ? 1 : 0);
  }
});
