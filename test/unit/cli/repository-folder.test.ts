import assert from 'node:assert/strict';
import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { CliError } from '../../../sidecar/cli/exit-codes.js';
import { isFolder, readFolders, readUpload } from '../../../sidecar/cli/repository-folder.js';
import { MAX_FILE_BYTES } from '../../../sidecar/schemas/repository/collector.js';
import { folderOf } from '../../support/model-folders.js';

const folderWith = (...names: readonly string[]) =>
  folderOf(Object.fromEntries(names.map((name) => [name, '{}'])));

async function readingOf(folder: string): Promise<{ paths: string[]; leftOut: readonly string[] }> {
  const { files, leftOut } = await readFolders([folder]);
  return { paths: files.map(({ path }) => path), leftOut: [...leftOut.values()] };
}

it('the JSON files of a folder are read in the order of their names, without files of tools', async () => {
  const json = ['B/schema.json', 'a/context.jsonld', 'a/b.json', 'a/b/c.json', 'z.json'];
  const folder = folderWith(...json, 'a/readme.md', '.git/x.json', 'a/node_modules/x.json');
  assert.deepEqual(await readingOf(folder), {
    paths: ['B/schema.json', 'a/b/c.json', 'a/b.json', 'a/context.jsonld', 'z.json'].map(
      (name) => `city/${name}`,
    ),
    leftOut: [],
  });
});

it('a file at the maximum depth is read, and a deeper file is skipped and named', async () => {
  const deep = Array.from({ length: 31 }, () => 'd').join('/');
  const folder = folderWith(`${deep}/in.json`, `${deep}/e/out.json`);
  assert.deepEqual(await readingOf(folder), {
    paths: [`city/${deep}/in.json`],
    leftOut: [`city/${deep}/e is more than 31 folders deep.`],
  });
});

it('a file of the maximum size is read, and a larger file is skipped, and named if models use it', async () => {
  const folder = folderWith('in.json', 'out.json', 'Car/schema.json');
  truncateSync(join(folder, 'in.json'), MAX_FILE_BYTES);
  for (const path of ['out.json', 'Car/schema.json']) truncateSync(join(folder, path), MAX_FILE_BYTES + 1);
  const { paths, leftOut } = await readingOf(folder);
  assert.deepEqual(paths, ['city/in.json']);
  assert.match(leftOut.join(), /^city\/Car\/schema\.json has more than [\d,]+ bytes\.$/);
});

it('names that are not UTF-8 are skipped and named', { skip: process.platform !== 'linux' }, async () => {
  const folder = folderWith('a.json');
  const nameIn = (name: string) => Buffer.from(`${folder}/${name}`, 'latin1');
  writeFileSync(nameIn('l\xe4nge.json'), '{}');
  writeFileSync(nameIn('l\xe4nge.txt'), '');
  mkdirSync(nameIn('gr\xf6\xdfe'));
  writeFileSync(nameIn('gr\xf6\xdfe/schema.json'), '{}');
  const { paths, leftOut } = await readingOf(folder);
  assert.deepEqual(paths, ['city/a.json']);
  assert.deepEqual(leftOut, [
    'city/gr\ufffd\ufffde is not a name in UTF-8.',
    'city/l\ufffdnge.json is not a name in UTF-8.',
  ]);
});

it('links to files and folders are skipped and named, whatever their target', async () => {
  const folder = folderWith('a.json', 'b/c.json');
  symlinkSync(join(folder, 'a.json'), join(folder, 'file.json'));
  symlinkSync(join(folder, 'b'), join(folder, 'folder'));
  symlinkSync(join(folder, 'nowhere'), join(folder, 'none.json'));
  linkSync(join(folder, 'a.json'), join(folder, 'hard.json'));
  const { paths, leftOut } = await readingOf(folder);
  assert.deepEqual(paths, ['city/a.json', 'city/b/c.json', 'city/hard.json']);
  assert.deepEqual(
    leftOut,
    ['file.json', 'folder', 'none.json'].map((name) => `city/${name} is a link, and links are not followed.`),
  );
});

it('an upload is either folders of different names or one archive', async () => {
  const [one, other, empty] = [folderWith('a.json'), folderWith('b.json'), folderWith()];
  const file = join(one, 'a.json');
  for (const [paths, why] of [
    [[one, other], /Two folders have the name city/],
    [[one, file], /a\.json is not a folder: an archive must be imported alone\./],
    [[file, file], /a\.json is not a folder/],
    [[file], /a\.json is neither a folder, nor a tar\.gz, nor a zip\./],
    [[empty], /No JSON files found in /],
    [[join(one, 'none')], /none does not exist\./],
  ] as const)
    await assert.rejects(readUpload(paths), (error) => error instanceof CliError && why.test(error.message));
  const archive = join(one, 'city.zip');
  for (const [bytes, mediaType] of [
    [[0x50, 0x4b, 0x03, 0x04], 'application/zip'],
    [[0x1f, 0x8b, 0x08, 0x00], 'application/gzip'],
  ] as const) {
    writeFileSync(archive, Uint8Array.from(bytes));
    const upload = await readUpload([archive]);
    assert.deepEqual([upload.mediaType, [...upload.bytes], upload.leftOut.size], [mediaType, bytes, 0]);
  }
});

it('a path that is neither a file nor a folder is refused, because reading it may never end', async () => {
  await assert.rejects(isFolder('/dev/null'), /\/dev\/null is neither a folder nor a file\./);
});
