import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import {
  MAX_FILE_BYTES,
  RepositoryCollector,
  type Repository,
  type RepositoryLimits,
} from '../../../../sidecar/schemas/repository/collector.js';
import {
  ArchiveUnreadableError,
  RepositoryTooLargeError,
} from '../../../../sidecar/schemas/repository/errors.js';
import { isRead, readPath } from '../../../../sidecar/schemas/repository/file-paths.js';
import { readTarGz } from '../../../../sidecar/schemas/repository/tar.js';
import { readZip } from '../../../../sidecar/schemas/repository/zip.js';
import { type Entry, tarGz, zip, type ZipEntry } from '../../../support/archives.js';
import { column } from '../../../support/columns.js';
import { words } from '../../../support/words.js';

const LIMITS: RepositoryLimits = { packedBytes: 1_000_000, unpackedBytes: 16_000_000, files: 20_000 };

/** Reads an archive of each kind. */
const READERS = {
  'tar.gz': async (entries: readonly Entry[], limits = LIMITS): Promise<Repository> => {
    const collector = new RepositoryCollector(limits);
    await readTarGz(await tarGz(entries), collector);
    return collector.result();
  },
  zip: async (entries: readonly Entry[], limits = LIMITS): Promise<Repository> => {
    const collector = new RepositoryCollector(limits);
    await readZip(zip(entries.map(zipped)), collector);
    return collector.result();
  },
};

function zipped({ name, content = '', type }: Entry): ZipEntry {
  switch (type) {
    case 'directory':
      return { name: `${name}/`, mode: 0o40755 };
    case 'symlink':
      return { name, mode: 0o120777, content: 'elsewhere' };
    case 'fifo':
      return { name, mode: 0o010644 };
    default:
      return { name, content, mode: 0o100644 };
  }
}

function contents({ files }: Repository): Readonly<Record<string, string>> {
  return Object.fromEntries(files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]));
}

for (const [kind, read] of Object.entries(READERS)) {
  describe(`a ${kind}`, () => {
    it(`a ${kind} yields its JSON files, in the order of their paths, and the number of all others`, async () => {
      const repository = await read([
        { name: 'b/schema.json', content: '{"b":1}' },
        { name: 'a', type: 'directory' },
        { name: './a/context.jsonld', content: '{}' },
        { name: 'README.md', content: 'text' },
        { name: '.git/config.json', content: '{}' },
        { name: 'node_modules/x/y.json', content: '{}' },
      ]);
      assert.deepEqual(contents(repository), { 'a/context.jsonld': '{}', 'b/schema.json': '{"b":1}' });
      assert.deepEqual(repository.refused, []);
      assert.equal(repository.ignored, 3);
      assert.deepEqual(column(repository.files, 'path'), ['a/context.jsonld', 'b/schema.json']);
    });

    it(`a ${kind} cannot name a file outside of it, whether by .., an absolute path or a drive`, async () => {
      const names = ['../up.json', 'a/../../up.json', '/etc/x.json', 'C:/x.json', 'a//b.json', 'a/./b.json'];
      const { files, refused } = await read(names.map((name) => ({ name, content: '{}' })));
      assert.deepEqual(files, []);
      assert.deepEqual(column(refused, 'path'), names);
    });

    it(`links and devices of a ${kind} are refused, and nothing is read through them`, async () => {
      const { files, refused } = await read([
        { name: 'link.json', type: 'symlink', linkname: '/etc/passwd' },
        { name: 'pipe.json', type: 'fifo' },
        { name: 'good.json', content: '{}' },
      ]);
      assert.deepEqual(column(files, 'path'), ['good.json']);
      assert.deepEqual(refused, [
        { path: 'link.json', reason: 'It is a link, and links are not followed.' },
        { path: 'pipe.json', reason: 'It is neither a file nor a folder.' },
      ]);
    });

    it(`two files of a ${kind} with the same path are both ignored`, async () => {
      const { files, refused } = await read([
        { name: 'a.json', content: '{"first":1}' },
        { name: './a.json', content: '{"second":1}' },
        { name: 'a.json', content: '{"third":1}' },
      ]);
      assert.deepEqual(files, []);
      assert.equal(refused.length, 2);
      assert.match(refused[0]?.reason ?? '', /more than once/);
    });

    it(`a ${kind} is read up to its limits, and refused beyond them`, async () => {
      const entries = Array.from({ length: 5 }, (_, index) => ({ name: `${index}.json`, content: '{}' }));
      assert.equal((await read(entries, { ...LIMITS, files: 5 })).files.length, 5);
      await assert.rejects(read(entries, { ...LIMITS, files: 4 }), RepositoryTooLargeError);
      const big = [{ name: 'big.json', content: 'x'.repeat(200_000) }];
      await assert.rejects(read(big, { ...LIMITS, unpackedBytes: 100_000 }), RepositoryTooLargeError);
    });

    it(`a ${kind} may have as many folders as files in addition, and links count as files`, async () => {
      const folders = (count: number): readonly Entry[] =>
        Array.from({ length: count }, (_, index) => ({ name: `f${index}`, type: 'directory' }));
      const files: readonly Entry[] = [
        { name: 'a.json', content: '{}' },
        { name: 'link.json', type: 'symlink', linkname: 'a.json' },
        { name: '.git/x', content: '' },
      ];
      const limits = { ...LIMITS, files: 3 };
      assert.equal((await read([...folders(3), ...files], limits)).files.length, 1);
      await assert.rejects(read([...folders(4), ...files], limits), RepositoryTooLargeError);
      await assert.rejects(read(files, { ...LIMITS, files: 2 }), RepositoryTooLargeError);
    });

    it(`files of a ${kind} that no import needs are not read`, async () => {
      const { files, refused } = await read([
        { name: 'big.json', content: ' '.repeat(MAX_FILE_BYTES + 1) },
        { name: 'fits.json', content: ' '.repeat(MAX_FILE_BYTES) },
      ]);
      assert.deepEqual(column(files, 'path'), ['fits.json']);
      assert.match(refused[0]?.reason ?? '', /more than 1048576 bytes/);
    });
  });
}

describe('a hostile archive', () => {
  it('the decompression of an archive that expands without limit is stopped early', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const collector = new RepositoryCollector({ ...LIMITS, unpackedBytes: 1024 * 1024 });
    await assert.rejects(readTarGz(bomb, collector), /more than 1048576 bytes/);
  });

  it('a small archive may be compressed to one two-hundredth, and the unpacked bytes of a tar are counted exactly', async () => {
    const name = 'a.json';
    const packed = await tarGz([{ name, content: Buffer.alloc(1024 * 1024, ' ') }]);
    assert.ok(packed.length * 200 < 1024 * 1024);
    const unpacked = gunzipSync(packed).length;
    const read = async (unpackedBytes: number) => {
      const collector = new RepositoryCollector({ ...LIMITS, unpackedBytes });
      await readTarGz(packed, collector);
      return collector.result().files.length;
    };
    assert.equal(await read(unpacked), 1);
    await assert.rejects(read(unpacked - 1), RepositoryTooLargeError);
  });

  it('a truncated archive, or a file that is not an archive, is unreadable', async () => {
    const whole = await tarGz([{ name: 'a.json', content: 'x'.repeat(5000) }]);
    for (const bytes of [
      whole.subarray(0, 60),
      Buffer.from('no archive'),
      gzipSync('no tar, though it is gzip'),
    ])
      await assert.rejects(readTarGz(bytes, new RepositoryCollector(LIMITS)), ArchiveUnreadableError);
    const packed = zip([{ name: 'a.json', content: '{}' }]);
    for (const bytes of [packed.subarray(0, 50), Buffer.from('no archive'), Buffer.alloc(0)])
      await assert.rejects(readZip(bytes, new RepositoryCollector(LIMITS)), ArchiveUnreadableError);
  });

  it('a zip cannot misstate the size or the content of a file', async () => {
    const short = zip([{ name: 'a.json', content: 'x'.repeat(100_000), size: 10 }]);
    await assert.rejects(readZip(short, new RepositoryCollector(LIMITS)), ArchiveUnreadableError);
    const collector = new RepositoryCollector(LIMITS);
    await readZip(zip([{ name: 'a.json', content: '{}', crc: 1 }]), collector);
    assert.match(collector.result().refused[0]?.reason ?? '', /checksum/);
  });

  it('a zip may mark a folder by its type only, and a tar may have files of the type for contiguous storage', async () => {
    const collector = new RepositoryCollector(LIMITS);
    const entries = [
      { name: 'folder.json', mode: 0o40755 },
      { name: 'plain.json', content: '{}', mode: 0 },
    ];
    await readZip(zip(entries), collector);
    const contiguous = { name: 'fixed.json', content: '{}', type: 'contiguous-file' } as const;
    await readTarGz(await tarGz([contiguous]), collector);
    const { files, refused } = collector.result();
    assert.deepEqual(column(files, 'path'), ['fixed.json', 'plain.json']);
    assert.deepEqual(refused, []);
  });

  it('a zip may have names in UTF-8 without a flag, and other names in code page 437', async () => {
    const collector = new RepositoryCollector(LIMITS);
    const entries = [
      { name: 'größe.json', content: '{}', flags: 0 },
      { name: 'länge.json', content: '{}' },
      { name: Buffer.from('h\x94he.json', 'latin1'), content: '{}', flags: 0 },
    ];
    await readZip(zip(entries), collector);
    const { files, refused } = collector.result();
    assert.deepEqual(column(files, 'path'), ['größe.json', 'höhe.json', 'länge.json']);
    assert.deepEqual(refused, []);
  });

  it('encrypted files of a zip, and files with unknown methods, are refused', async () => {
    const collector = new RepositoryCollector(LIMITS);
    await readZip(
      zip([
        { name: 'a.json', content: '{}', flags: 0x801 },
        { name: 'b.json', content: '{}', method: 99 },
        { name: 'c.json', content: '{}' },
      ]),
      collector,
    );
    const { files, refused } = collector.result();
    assert.deepEqual(column(files, 'path'), ['c.json']);
    assert.deepEqual(column(refused, 'path'), ['a.json', 'b.json']);
  });

  it('reading an archive stops if its sender disconnects', async () => {
    const left = AbortSignal.abort(new Error('gone'));
    const bytes = await tarGz([{ name: 'a.json', content: '{}' }]);
    await assert.rejects(readTarGz(bytes, new RepositoryCollector(LIMITS), left), /gone/);
    const packed = zip([{ name: 'a.json', content: '{}' }]);
    await assert.rejects(readZip(packed, new RepositoryCollector(LIMITS), left), /gone/);
  });

  it('an archive of any bytes is read or refused with its own error, and never crashes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
        for (const read of [
          () => readTarGz(gzipSync(bytes), new RepositoryCollector(LIMITS)),
          () => readZip(Buffer.from(bytes), new RepositoryCollector(LIMITS)),
        ])
          await read().catch((error: unknown) => {
            assert.ok(error instanceof ArchiveUnreadableError, String(error));
          });
      }),
      { numRuns: 50 },
    );
  });
});

describe('the path of a file', () => {
  it('the path of a file never leads out of its folder, whatever its name', () => {
    const segment = fc.constantFrom('..', '.', '', 'a', 'b.json', '\\', 'C:', '\u0000', 'é');
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 8 }), (segments) => {
        const read = readPath(segments.join('/'));
        if ('fault' in read) return;
        assert.ok(!read.path.split('/').includes('..'));
        assert.ok(!/^[/\\]|^[A-Za-z]:|\\|[\u0000-\u001f]/.test(read.path));
      }),
    );
  });

  it('the path of a file tells that the file belongs to a tool', () => {
    for (const path of words(`
      domains/Trees/Oak/schema.json context.jsonld tsconfigs.json my-tsconfig.json tsconfig/schema.json
    `))
      assert.ok(isRead(path), path);
    for (const path of words(`
      node_modules/Tree/schema.json domains/Trees/node_modules/schema.json domains/Trees/.cache/schema.json
      __MACOSX/domains/Trees/Oak/schema.json tsconfig.json models/tsconfig.build.json jsconfig.json
    `))
      assert.ok(!isRead(path), path);
  });

  it('the path of a file is limited', () => {
    assert.ok('fault' in readPath('x'.repeat(1025)));
    assert.ok('path' in readPath('x'.repeat(1024)));
    const folders = (count: number) => 'x/'.repeat(count);
    assert.ok('path' in readPath(`${folders(32)}a.json`));
    assert.ok('fault' in readPath(`${folders(33)}a.json`));
    assert.ok('fault' in readPath('\ufffd.json'));
  });
});

describe('documents by their URLs', () => {
  it('two documents of one URL are both ignored', () => {
    const collector = new RepositoryCollector(LIMITS);
    const [once, twice] = ['https://a.example/once.json', 'https://a.example/twice.json'];
    for (const url of [once, twice, twice]) {
      const path = collector.enterUrl(url);
      if (path !== undefined) collector.keep(path, Buffer.from('{}'));
    }
    const { files, refused } = collector.result();
    assert.deepEqual(column(files, 'path'), [once]);
    assert.deepEqual(refused, [{ path: twice, reason: 'It occurs more than once.' }]);
  });

  it('documents by their URLs count as files', () => {
    const collector = new RepositoryCollector({ ...LIMITS, files: 3 });
    collector.enter('a.json', 'file');
    for (const name of ['b', 'c']) collector.enterUrl(`https://a.example/${name}`);
    assert.throws(() => collector.enterUrl('https://a.example/d'), RepositoryTooLargeError);
  });

  it('a name that is too long is refused with its beginning', () => {
    const collector = new RepositoryCollector(LIMITS);
    for (const length of [300, 301]) collector.refuse('x'.repeat(length), 'it is broken');
    assert.deepEqual(collector.result().refused, [
      { path: 'x'.repeat(300), reason: 'It is broken.' },
      { path: `${'x'.repeat(300)}…`, reason: 'It is broken.' },
    ]);
  });
});
