import assert from 'node:assert/strict';
import { constants } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { IdFiles, IdRecorder } from '../../../sidecar/jobs/id-files.js';
import type { Item } from '../../../sidecar/purge/index.js';

const [A, B] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'] as const;

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'id-files-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const note = (recorder: IdRecorder, entityId: string) => recorder.note({ entityId }, 'deleted');

/** A file that takes nothing until it is told to, and what was written to it. */
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

describe('the files of recorded ids', () => {
  it('a file of recorded ids has one line for each item, with all that names it and what became of it', async (t) => {
    const files = new IdFiles(await folderOf(t));
    const recorder = files.recorder(A);
    const item: Item = {
      ...{ entityId: 'urn:é\n"1"', attribute: 'speed', datasetId: 'urn:d', instanceId: 'urn:i' },
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

  it('what a later process records of a purge comes after what is there', async (t) => {
    const folder = await folderOf(t);
    for (const id of ['urn:1', 'urn:2']) {
      const recorder = new IdFiles(folder).recorder(A);
      note(recorder, id);
      await recorder.close();
    }
    assert.match(await readFile(join(folder, `${A}.ndjson`), 'utf8'), /^.*urn:1.*\n.*urn:2.*\n$/);
  });

  it('a recorder that is closed goes on after what it has written', async (t) => {
    const folder = await folderOf(t);
    const recorder = new IdFiles(folder).recorder(A);
    for (const id of ['urn:1', 'urn:2']) {
      note(recorder, id);
      assert.equal(await recorder.close(), undefined);
      assert.equal(await recorder.close(), undefined);
    }
    assert.match(await readFile(join(folder, `${A}.ndjson`), 'utf8'), /^.*urn:1.*\n.*urn:2.*\n$/);
  });

  it('a file of recorded ids and its folder are for their owner only, and made when the first item is recorded', async (t) => {
    const folder = join(await folderOf(t), 'deep', 'ids');
    const files = new IdFiles(folder);
    const recorder = files.recorder(A);
    assert.equal(await recorder.close(), undefined);
    assert.equal(await files.has(A), false);
    await assert.rejects(stat(folder), { code: 'ENOENT' });
    note(recorder, 'urn:1');
    await recorder.close();
    assert.equal(await files.has(A), true);
    assert.equal((await stat(folder)).mode & 0o777, constants.S_IRWXU);
    assert.equal(
      (await stat(join(folder, `${A}.ndjson`))).mode & 0o777,
      constants.S_IRUSR | constants.S_IWUSR,
    );
  });

  it('only the id of a purge names a file of recorded ids', async (t) => {
    const folder = await folderOf(t);
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

  it('what was not recorded, or was removed, is not found, and nothing is removed twice', async (t) => {
    const files = new IdFiles(await folderOf(t));
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

  it('a folder that cannot be read is an error, and not an empty list', async (t) => {
    const folder = await folderOf(t);
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

  it('the files of purges without a record are removed, and no other file', async (t) => {
    const folder = await folderOf(t);
    for (const name of [`${A}.ndjson`, `${B}.ndjson`, `${B}.ndjsox`, 'notes.ndjson', B])
      await writeFile(join(folder, name), '');
    const asked: string[] = [];
    await new IdFiles(folder).sweep(async (id) => {
      asked.push(id);
      return id === A;
    });
    assert.deepEqual(asked.sort(), [A, B]);
    assert.deepEqual(
      (await readdir(folder)).sort(),
      [`${A}.ndjson`, B, `${B}.ndjsox`, 'notes.ndjson'].sort(),
    );
    await new IdFiles(join(folder, 'none')).sweep(async () => assert.fail('there is nothing'));
  });
});

describe('the recorder of ids', () => {
  it('a recorder opens its file once, and writes together what comes together', async () => {
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

  /** Lets each line count as so many bytes. */
  const weigh = (t: TestContext, bytes: number) =>
    t.mock.method(Buffer, 'byteLength', (lines: string) => bytes * (lines.split('\n').length - 1));

  it('a recorder keeps no more than 32 MiB for a slow disk, and goes on when that is written', async (t) => {
    weigh(t, 1024 * 1024);
    const { recorder, written, take } = slowFile();
    const lines = () => written.join('').split('\n').length - 1;
    for (let count = 0; count < 33; count += 1) note(recorder, 'urn:1');
    take();
    assert.equal(await recorder.close(), 'The recorded ids are incomplete: they are too many.');
    assert.equal(lines(), 32);
    for (let count = 0; count < 32; count += 1) note(recorder, 'urn:2');
    assert.equal(await recorder.close(), undefined);
    assert.equal(lines(), 64);
  });

  it('a recorder writes no more than 512 MiB of a purge', async (t) => {
    weigh(t, 32 * 1024 * 1024);
    const { recorder, written, take } = slowFile();
    take();
    for (let count = 0; count < 16; count += 1) {
      note(recorder, 'urn:1');
      assert.equal(await recorder.close(), undefined);
    }
    note(recorder, 'urn:2');
    assert.equal(await recorder.close(), 'The recorded ids are incomplete: they are too many.');
    assert.equal(written.length, 16);
  });

  it('what an earlier process recorded of a purge counts towards its 512 MiB', async (t) => {
    weigh(t, 32 * 1024 * 1024);
    const { recorder, written, take, state } = slowFile();
    state.former = 480 * 1024 * 1024;
    take();
    for (const missing of [undefined, 'The recorded ids are incomplete: they are too many.']) {
      note(recorder, 'urn:1');
      assert.equal(await recorder.close(), missing);
    }
    assert.equal(written.length, 1);
  });

  it('a list of ids that is full when it is taken over gets no line more', async (t) => {
    weigh(t, 1024 * 1024);
    const { recorder, written, take, state } = slowFile();
    state.former = 511 * 1024 * 1024;
    take();
    for (let count = 0; count < 20; count += 1) note(recorder, 'urn:1');
    assert.equal(await recorder.close(), 'The recorded ids are incomplete: they are too many.');
    assert.deepEqual([written, state.closed], [[], 1]);
  });

  it('a file whose size cannot be read is closed all the same', async () => {
    let closed = 0;
    const broken = {
      stat: async () => Promise.reject(new Error('no')),
      close: async () => void (closed += 1),
    };
    const recorder = new IdRecorder(async () => broken as unknown as FileHandle);
    note(recorder, 'urn:1');
    assert.equal(await recorder.close(), 'The recorded ids are incomplete: they could not be written.');
    assert.equal(closed, 1);
  });

  it('a disk that fails costs all later lines, and is reported once', async () => {
    const { recorder, written, state, take } = slowFile();
    state.failure = new Error('no space left');
    take();
    note(recorder, 'urn:1');
    await turn();
    await turn();
    note(recorder, 'urn:2');
    assert.equal(await recorder.close(), 'The recorded ids are incomplete: they could not be written.');
    assert.equal(await recorder.close(), undefined);
    assert.deepEqual([written, state.closed], [[], 1]);
  });

  it('a file that cannot be closed is reported as not written', async (t) => {
    const folder = await folderOf(t);
    const file = await open(join(folder, 'a'), 'a');
    t.mock.method(file, 'close', () => Promise.reject(new Error('quota')));
    const recorder = new IdRecorder(async () => file);
    note(recorder, 'urn:1');
    assert.equal(await recorder.close(), 'The recorded ids are incomplete: they could not be written.');
    t.mock.restoreAll();
    await file.close();
  });
});
