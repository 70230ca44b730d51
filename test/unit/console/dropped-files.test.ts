import assert from 'node:assert/strict';
import { it } from 'node:test';
import { bodyOf, chosenFiles, droppedFiles } from '../../../console/models/dropped-files.js';

type Tree = { readonly [name: string]: Tree | string };

/** A dropped entry. As in browsers, its reader returns a few entries at a time, and none at the end. */
function entryOf(name: string, content: Tree | string): FileSystemEntry {
  if (typeof content === 'string') {
    const file = (done: (file: File) => void, fail: (error: Error) => void) => {
      if (content === 'unreadable') fail(new Error('it is gone'));
      else done(new File([content], name));
    };
    return { name, isFile: true, file } as unknown as FileSystemEntry;
  }
  const createReader = () => {
    const left = Object.entries(content).map(([one, inner]) => entryOf(one, inner));
    return { readEntries: (done: (entries: FileSystemEntry[]) => void) => done(left.splice(0, 2)) };
  };
  return { name, isFile: false, createReader } as unknown as FileSystemEntry;
}

/** The data transfer of a drop. */
function dropped(tree: Tree, loose: readonly File[] = []): DataTransfer {
  const items = Object.entries(tree).map(([name, content]) => ({
    kind: 'file',
    webkitGetAsEntry: () => entryOf(name, content),
  }));
  const text = { kind: 'string', webkitGetAsEntry: () => assert.fail('this is not a file') };
  return { items: [text, ...items], files: loose } as unknown as DataTransfer;
}

const pathsOf = async (data: DataTransfer) => {
  const { files, left } = await droppedFiles(data);
  return [files.map(({ path }) => path), left];
};

it('all files of all folders are found, with their paths, and folders of tools are counted but not read', async () => {
  const tree = {
    City: {
      'a.json': '1',
      'b.json': '2',
      'c.json': '3',
      '.git': { 'x.json': '1' },
      Car: { deep: { 'schema.json': '4' } },
      node_modules: { y: { 'z.json': '5' } },
    },
    'loose.json': '6',
  };
  assert.deepEqual(await pathsOf(dropped(tree)), [
    ['City/a.json', 'City/b.json', 'City/c.json', 'City/Car/deep/schema.json', 'loose.json'],
    2,
  ]);
});

it('files without an entry are read by their names, and only if there are no entries', async () => {
  const loose = [new File(['1'], 'x.json'), new File(['2'], 'y.json')];
  assert.deepEqual(await pathsOf(dropped({}, loose)), [['x.json', 'y.json'], 0]);
  assert.deepEqual(await pathsOf(dropped({ 'a.json': '1' }, loose)), [['a.json'], 0]);
});

it('a file that cannot be read is an error, and is not skipped', async () => {
  await assert.rejects(droppedFiles(dropped({ 'a.json': 'unreadable' })), /it is gone/);
});

it('files of a chosen folder have their paths', () => {
  const inFolder = Object.assign(new File([], 'a.json'), { webkitRelativePath: 'City/a.json' });
  const alone = Object.assign(new File([], 'b.json'), { webkitRelativePath: '' });
  const list = [inFolder, alone] as unknown as FileList;
  assert.deepEqual(
    chosenFiles(list).map(({ path }) => path),
    ['City/a.json', 'b.json'],
  );
  assert.deepEqual(chosenFiles(null), []);
});

it('files are sent with their paths, and an archive unchanged', async () => {
  const file = new File(['{}'], 'a.json');
  const { body, headers } = bodyOf({
    kind: 'files',
    left: 0,
    bytes: 2,
    files: [
      { path: 'City/a.json', file },
      { path: 'Sea/a.json', file },
    ],
  });
  assert.ok(body instanceof FormData);
  assert.deepEqual(
    [...body].map(([name, value]) => [name, (value as File).name]),
    [
      ['file0', 'City/a.json'],
      ['file1', 'Sea/a.json'],
    ],
  );
  assert.deepEqual(headers, {});
  const archive = bodyOf({ kind: 'archive', file, mediaType: 'application/zip' });
  assert.equal(archive.body, file);
  assert.deepEqual(archive.headers, { 'content-type': 'application/zip' });
});
