import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  archiveType,
  isRead,
  MAX_BYTES,
  MAX_FILES,
  TooLargeError,
  uploadOf,
} from '../../../console/models/upload.js';

const named = (path: string, size = 2) => ({
  path,
  file: { name: path.slice(path.lastIndexOf('/') + 1), size },
});

it('files that an import reads are kept, and the others are counted', () => {
  const paths = ['City/Car/schema.json', 'City/README.md', 'City/.git/config.json', 'City/context.jsonld'];
  const upload = uploadOf(
    paths.map((path) => named(path)),
    3,
  );
  assert.ok(upload.kind === 'files');
  assert.deepEqual(
    upload.files.map(({ path }) => path),
    ['City/Car/schema.json', 'City/context.jsonld'],
  );
  assert.deepEqual([upload.left, upload.bytes], [5, 4]);
});

it('folders of tools are not read', () => {
  for (const path of ['node_modules/a/schema.json', '.github/a.json', '__MACOSX/a.json', 'a.yaml'])
    assert.ok(!isRead(path), path);
  assert.ok(isRead('A/B.JSON'));
});

it('one archive is sent unchanged', () => {
  const upload = uploadOf([named('models.tar.gz')]);
  assert.ok(upload.kind === 'archive');
  assert.equal(upload.mediaType, 'application/gzip');
  assert.deepEqual(['a.tgz', 'a.ZIP', 'a.gz', 'zip'].map(archiveType), [
    'application/gzip',
    'application/zip',
    undefined,
    undefined,
  ]);
});

it('files beyond the limits of an import are refused before they are sent', () => {
  const many = Array.from({ length: MAX_FILES + 1 }, (_, index) => named(`${index}.json`));
  assert.throws(() => uploadOf(many), new TooLargeError('files'));
  assert.equal(uploadOf(many.slice(1)).kind, 'files');
  for (const name of ['a.zip', 'a.json'])
    assert.throws(() => uploadOf([named(name, MAX_BYTES + 1)]), new TooLargeError('bytes'));
  for (const name of ['a.zip', 'a.json']) uploadOf([named(name, MAX_BYTES)]);
  assert.throws(() => uploadOf([named('a.json', MAX_BYTES), named('b.json', 1)]), new TooLargeError('bytes'));
  // Files that are not sent do not count.
  uploadOf([named('a.json', MAX_BYTES), named('b.yaml', 1)]);
});
