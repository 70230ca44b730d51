import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import promises, {
  type FileHandle,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { after, afterEach, before, describe, it, mock } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import {
  ArchiveCipher,
  type ArchiveCounts,
  ArchiveUnavailableError,
  ArchiveUnreadableError,
  Archives,
  BucketStorage,
  digestOf,
  FolderStorage,
  instanceKey,
  parseLine,
  itemTexts,
  entityLine,
  type ArchiveStorage,
} from '../../../sidecar/archive/index.js';
import { bucketUrl } from '../../../sidecar/archive/bucket-storage.js';
import { parseArchiveUrl } from '../../../sidecar/shared/config/archive-url.js';
import { BUCKET_KEYS, StubBucket } from '../../support/stub-bucket.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const SECRET = 'a secret of sixteen or more';
const clock = { sleep: async () => {} };

function archivesOn(storage: ArchiveStorage, secrets: readonly string[] = []): Archives {
  return new Archives({ storage, cipher: new ArchiveCipher(secrets), keepDays: 30 });
}

function bucketStorage(
  bucket: StubBucket,
  more: { readonly secretAccessKey?: string; readonly timeoutMs?: number } = {},
) {
  return new BucketStorage({
    bucket: 'archive',
    prefix: 'gateway/x=1/',
    endpoint: bucket.endpoint,
    clock,
    ...BUCKET_KEYS,
    ...more,
  });
}

const wholes = (id: string, line: string) => entityLine(id, line).parts;

async function written(archives: Archives, purge: string, texts: readonly string[], epoch = 0) {
  const writer = await archives.writer({ purge, target: 'entities' }, epoch, wholes);
  for (const text of texts) await writer.add(entityLine(parseLine(text).id, text));
  await writer.flush();
  return writer;
}

async function linesOf(archives: Archives, purge: string, target: 'entities' | 'temporal' = 'entities') {
  const lines: string[] = [];
  for await (const { line } of archives.reader({ purge, target }).entities()) lines.push(line);
  return lines;
}

function entity(id: string, members: object = {}): string {
  return JSON.stringify({ id, type: 'T', ...members });
}

describe('ARCHIVE_URL', () => {
  const places: readonly (readonly [string, object])[] = [
    ['file:///var/archive', { kind: 'folder', path: '/var/archive' }],
    ['file:/var/archive', { kind: 'folder', path: '/var/archive' }],
    ['file:///var/a%20b/', { kind: 'folder', path: '/var/a b/' }],
    ['s3://bucket', { kind: 'bucket', bucket: 'bucket', prefix: '' }],
    ['s3://my-bucket.x/a/b=c/', { kind: 'bucket', bucket: 'my-bucket.x', prefix: 'a/b=c/' }],
  ];
  for (const [text, place] of places)
    it(`${text} is accepted`, () => assert.deepEqual(parseArchiveUrl(text), place));

  const mistakes = [
    '/var/archive',
    'http://bucket/x',
    'file:///',
    'file:archive',
    'file:./archive',
    'file://host/var',
    'file:///var%2Fx',
    's3://',
    's3:///x',
    's3://key:secret@bucket/x',
    's3://bucket/a/../b',
    's3://bucket/./b',
    's3://bucket/a//b',
    's3://bucket/a%2Fb',
    's3://bucket?x=1',
    's3://bucket/a#b',
    's3://bucket:9000/a',
  ];
  for (const text of mistakes)
    it(`${text} is rejected`, () => assert.throws(() => parseArchiveUrl(text), /^Error: must /));
});

describe('the lines of an archive', () => {
  it('an item of a page keeps its exact text, numbers included', () => {
    const items = [
      '{"id":"urn:1","a":1.10e2,"s":"}],[\\"{"}',
      '{"id":"urn:2","b":[[{"c":12345678901234567890}]]}',
    ];
    assert.deepEqual(itemTexts(`[\n  ${items.join(' ,\n')} ]`), items);
    assert.deepEqual(itemTexts('[ { "id" :\r\n\t"x" } ]'), ['{ "id" : "x" }']);
    assert.deepEqual(itemTexts('[]'), []);
  });

  it('pages are split into the exact texts of their items', () => {
    const page = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 8 });
    fc.assert(
      fc.property(page, fc.constantFrom(0, 1, '\t'), (items, indent) => {
        const texts = itemTexts(JSON.stringify(items, undefined, indent));
        assert.deepEqual(
          texts.map((text) => JSON.parse(text) as unknown),
          JSON.parse(JSON.stringify(items)),
        );
        assert.ok(texts.every((text) => !/[\r\n]/.test(text)));
      }),
    );
  });
});

describe('an encrypted segment', () => {
  it('has the format that docs/undo.md describes, byte by byte', async () => {
    const salt = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');
    const nonce = Buffer.from('101112131415161718191a1b', 'hex');
    const sealed = await new ArchiveCipher([SECRET]).encrypt(
      Buffer.from('plain'),
      'purge/segment',
      salt,
      nonce,
    );
    assert.equal(
      sealed.toString('hex'),
      '4e474c4441524331000102030405060708090a0b0c0d0e0f101112131415161718191a1bf86c6da1c88fb0b8f84d0581169f3f904d136344e1',
    );
    assert.equal((await new ArchiveCipher([SECRET]).decrypt(sealed, 'purge/segment')).toString(), 'plain');
  });

  it('is readable with the previous secret while the secret is being replaced, and with no other', async () => {
    const cipher = new ArchiveCipher([SECRET]);
    const sealed = await cipher.encrypt(Buffer.from('plain'), 'n', cipher.salt());
    const rotated = new ArchiveCipher(['another secret of sixteen', SECRET]);
    assert.equal((await rotated.decrypt(sealed, 'n')).toString(), 'plain');
    for (const secrets of [['another secret of sixteen'], []])
      await assert.rejects(
        new ArchiveCipher(secrets).decrypt(sealed, 'n'),
        /another ARCHIVE_SECRET|ARCHIVE_SECRET is not set/,
      );
    await assert.rejects(cipher.decrypt(sealed, 'renamed'), ArchiveUnreadableError);
    for (let at = 8; at < sealed.length; at += 7) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await assert.rejects(cipher.decrypt(changed, 'n'), ArchiveUnreadableError, `byte ${String(at)}`);
    }
  });
});

describe('archives in a folder and in a bucket', () => {
  const folder = temporaryFolder();
  let bucket: StubBucket;
  const storages: Record<string, () => ArchiveStorage> = {
    folder: () => new FolderStorage(folder),
    bucket: () => bucketStorage(bucket),
  };

  before(async () => {
    bucket = await StubBucket.open();
  });
  afterEach(() => {
    bucket.fault = () => false;
  });
  after(async () => {
    await bucket.close();
  });

  for (const [name, storage] of Object.entries(storages)) {
    it(`${name}: sealed entities are read back once each, also after a restart`, async () => {
      const archives = archivesOn(storage(), [SECRET]);
      await archives.check();
      const purge = randomUUID();
      const first = Array.from({ length: 9001 }, (_, index) => entity(`urn:${String(index)}`, { a: index }));
      const writer = await written(archives, purge, first);
      assert.equal(writer.counts.entities, 9001);
      assert.ok(writer.has('urn:0') && writer.has('urn:9000') && !writer.has('urn:9001'));
      // Another process continues: unchanged entities are not written again, changed ones are.
      const changed = entity('urn:7', { a: 'changed' });
      const next = await written(archives, purge, [entity('urn:8', { a: 8 }), changed, entity('urn:new')], 3);
      assert.equal(next.counts.entities, 9002);
      const lines = await linesOf(archives, purge);
      assert.equal(lines.length, 9002);
      assert.ok(lines.includes(changed) && !lines.includes(first[7] ?? ''));
      assert.deepEqual(await linesOf(archives, randomUUID()), []);
      await archives.erase(purge);
      assert.deepEqual(await linesOf(archives, purge), []);
      await archives.close();
    });

    it(`${name}: reading reports a segment that was truncated`, async () => {
      const store = storage();
      const archives = archivesOn(store);
      const purge = randomUUID();
      await written(archives, purge, [entity('urn:1', { text: 'x'.repeat(100) })]);
      const [segment = ''] = await archives.reader({ purge, target: 'entities' }).segments();
      const whole = (await store.get(segment)) ?? Buffer.alloc(0);
      for (const size of [0, 10, whole.length - 1]) {
        await store.put(segment, whole.subarray(0, size));
        await assert.rejects(linesOf(archives, purge), /damaged: segment .* cannot be unpacked/);
      }
      await store.put(segment, whole);
      assert.equal((await linesOf(archives, purge)).length, 1);
      await archives.close();
    });

    it(`${name}: reading notices a removed or replaced segment, from the list of segments or from the record`, async () => {
      const store = storage();
      const archives = archivesOn(store);
      const purge = randomUUID();
      for (const epoch of [0, 1, 2]) {
        const writer = await written(archives, purge, [entity(`urn:${String(epoch)}`)], epoch);
        if (epoch < 2) await writer.finish();
        else assert.deepEqual(writer.counts.segments, 3);
      }
      const drop = async (object: string) => {
        if (name === 'folder') await rm(join(folder, object));
        else bucket.objects.delete(`gateway/x=1/${object}`);
      };
      const read = async (said?: object) => {
        for await (const _line of archives.reader({ purge, target: 'entities', recorded: said }).lines());
      };
      const names = await archives.reader({ purge, target: 'entities' }).segments();
      const [first = '', second = '', third = ''] = names;
      const bytes = await Promise.all(
        names.map(async (segment) => (await store.get(segment)) ?? Buffer.alloc(0)),
      );
      // The last process was killed before it could list its segment, so only the record counts the segment.
      await drop(third);
      assert.equal(await store.get(third), undefined);
      await read();
      await assert.rejects(read({ segments: 3 }), /incomplete: it has 2 of at least 3 segments/);
      const settled = await archives.complete({ purge, target: 'entities' }, 3);
      await read(settled);
      await store.put(second, bytes[0] ?? Buffer.alloc(0));
      await assert.rejects(read(settled), /segment .*000001-000000.* was changed/);
      await store.put(second, bytes[1] ?? Buffer.alloc(0));
      await drop(first);
      await assert.rejects(read(), /1 of its 2 segments are missing \(000000-000000/);
      await store.put(first, bytes[0] ?? Buffer.alloc(0));
      await store.put(`${purge}/000003.sha256`, Buffer.from(''));
      await assert.rejects(read(settled), /the list of its segments is missing, or was changed/);
      await archives.close();
    });

    it(`${name}: a segment missing from the list of segments is not used if the record confirms the list`, async () => {
      const store = storage();
      const archives = archivesOn(store);
      const purge = randomUUID();
      const writer = await written(archives, purge, [entity('urn:1', { speed: 1 })]);
      await writer.finish();
      const said = writer.counts;
      const other = randomUUID();
      await written(archives, other, [entity('urn:1', { speed: 666 })]);
      const forged = (await store.get(`${other}/000000-000000.ndjson.gz`)) ?? assert.fail();
      await store.put(`${purge}/000001-000000.ndjson.gz`, forged);
      const lines: string[] = [];
      for await (const { line } of archives.reader({ purge, target: 'entities', recorded: said }).entities())
        lines.push(line);
      assert.deepEqual(lines, [entity('urn:1', { speed: 1 })]);
      await archives.close();
    });

    it(`${name}: entities archived by a killed process are restored, whether or not the process had listed them`, async () => {
      const store = storage();
      const archives = archivesOn(store);
      for (const isListed of [false, true]) {
        const purge = randomUUID();
        const first = await written(archives, purge, [entity('urn:1')]);
        await first.finish();
        const said = first.counts;
        const killed = await written(archives, purge, [entity('urn:2')], 1);
        if (isListed) await killed.finish();
        const last = await archives.writer({ purge, target: 'entities', recorded: said }, 2, wholes);
        assert.ok(last.has('urn:2'));
        await last.add(entityLine('urn:3', entity('urn:3')));
        await last.finish();
        const restored = async (counts: ArchiveCounts) => {
          const lines: string[] = [];
          const reader = archives.reader({ purge, target: 'entities', recorded: counts });
          for await (const { line } of reader.entities()) lines.push(line);
          return lines;
        };
        const all = [entity('urn:1'), entity('urn:2'), entity('urn:3')];
        assert.deepEqual(await restored(last.counts), all);
        assert.deepEqual(
          await restored(await archives.complete({ purge, target: 'entities', recorded: said }, 3)),
          all,
        );
      }
      await archives.close();
    });

    it(`${name}: a sweep removes archives that are due, and archives of other gateways once they are old`, async () => {
      const archives = archivesOn(storage());
      const [due, kept, foreign] = [randomUUID(), randomUUID(), randomUUID()];
      for (const purge of [due, kept, foreign]) await written(archives, purge, [entity('urn:1')]);
      const isDue = async (purge: string) => (purge === foreign ? undefined : purge === due);
      await archives.removeExpired(isDue, Date.now());
      const left = async () =>
        (await Promise.all([due, kept, foreign].map(async (purge) => linesOf(archives, purge)))).map(
          (lines) => lines.length,
        );
      assert.deepEqual(await left(), [0, 1, 1]);
      await archives.removeExpired(isDue, Date.now() + 32 * 86_400_000);
      assert.deepEqual(await left(), [0, 1, 0]);
      await archives.close();
    });
  }

  it('folder: files are readable by their owner only, and with gunzip if there is no secret', async () => {
    const archives = archivesOn(new FolderStorage(folder));
    const purge = randomUUID();
    await written(archives, purge, [entity('urn:1')]);
    const own = join(folder, purge);
    assert.equal((await stat(own)).mode & 0o777, 0o700);
    for (const file of await readdir(own)) assert.equal((await stat(join(own, file))).mode & 0o777, 0o600);
    const bytes = await readFile(join(own, '000000-000000.ndjson.gz'));
    assert.equal(gunzipSync(bytes).toString(), `${entity('urn:1')}\n`);
    assert.match(
      await readFile(join(own, 'archive.json'), 'utf8'),
      /"format":"ngsi-ld-gateway archive","version":1/,
    );
  });

  it('folder: archives can be kept on a network share that cannot sync folders', async () => {
    const failing = (code: string) => ({
      write: async (file: FileHandle, bytes: Uint8Array) => file.writeFile(bytes),
      sync: async (file: FileHandle) => {
        if ((await file.stat()).isDirectory()) throw Object.assign(new Error(code), { code });
      },
    });
    await archivesOn(new FolderStorage(folder, failing('EINVAL'))).check();
    await assert.rejects(archivesOn(new FolderStorage(folder, failing('EIO'))).check(), /EIO/);
  });

  it('folder: a symbolic link in place of an archive is not followed for writing, erasing or reading', async () => {
    const archives = archivesOn(new FolderStorage(folder));
    const elsewhere = temporaryFolder();
    const purge = randomUUID();
    await symlink(elsewhere, join(folder, purge));
    const writer = await archives.writer({ purge: randomUUID(), target: 'entities' }, 0, wholes);
    await writer.add(entityLine('urn:1', entity('urn:1')));
    await writer.flush();
    assert.ok(writer.has('urn:1'));
    await assert.rejects(written(archives, purge, [entity('urn:1')]), ArchiveUnavailableError);
    await archives.erase(purge);
    assert.deepEqual(await readdir(elsewhere), []);
    const linked = randomUUID();
    await mkdir(join(folder, linked));
    await writeFile(join(elsewhere, 'secret'), 'x');
    await symlink(join(elsewhere, 'secret'), join(folder, linked, '000000-000000.ndjson.gz'));
    assert.deepEqual(await linesOf(archives, linked), []);
  });

  it('folder: an archive that disappears while being listed has no segments, and listing without the root folder fails', async () => {
    const storage = new FolderStorage(folder);
    const purge = randomUUID();
    await written(archivesOn(storage), purge, [entity('urn:1')]);
    const gone = Object.assign(new Error('no such file or directory'), { code: 'ENOENT' });
    const listing = mock.method(promises, 'readdir', async () => Promise.reject(gone));
    syncBuiltinESMExports();
    try {
      assert.deepEqual(await storage.list(purge), []);
      await assert.rejects(storage.folders(), /the folder cannot be listed \(ENOENT\)/);
    } finally {
      listing.mock.restore();
      syncBuiltinESMExports();
    }
    assert.equal((await storage.list(purge)).length, 2);
  });

  it('folder: an unfinished file is ignored, and a truncated segment is reported', async () => {
    const archives = archivesOn(new FolderStorage(folder));
    const purge = randomUUID();
    await written(archives, purge, [entity('urn:1')]);
    await writeFile(join(folder, purge, '.unfinished-1'), 'torn');
    assert.equal((await linesOf(archives, purge)).length, 1);
    await truncate(join(folder, purge, '000000-000000.ndjson.gz'), 12);
    await assert.rejects(linesOf(archives, purge), ArchiveUnreadableError);
  });

  it('folder: reading an archive fails if the archive is erased in the meantime', async () => {
    const archives = archivesOn(new FolderStorage(folder));
    const purge = randomUUID();
    for (const epoch of [0, 1]) await written(archives, purge, [entity(`urn:${String(epoch)}`)], epoch);
    const lines = archives.reader({ purge, target: 'entities' }).entities();
    await lines.next();
    await archives.erase(purge);
    await assert.rejects(lines.next(), ArchiveUnreadableError);
  });

  it('folder: segments are found and ordered correctly also for process numbers of seven digits', async () => {
    const archives = archivesOn(new FolderStorage(folder));
    const purge = randomUUID();
    for (const epoch of [999_999, 1_000_000])
      await written(archives, purge, [entity('urn:1', { epoch })], epoch);
    assert.deepEqual(await linesOf(archives, purge), [entity('urn:1', { epoch: 1_000_000 })]);
    assert.equal((await archives.complete({ purge, target: 'entities' }, 1_000_001)).entities, 1);
  });

  it('folder: an archive that was given up no longer claims to have entities that changed afterwards', async () => {
    let isFull = false;
    const storage = new FolderStorage(folder, {
      write: async (file, bytes) => {
        if (isFull) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        await file.writeFile(bytes);
      },
      sync: async (file) => file.sync(),
    });
    const writer = await written(archivesOn(storage), randomUUID(), [entity('urn:1'), entity('urn:2')]);
    isFull = true;
    for (const id of ['urn:3', 'urn:4', 'urn:5']) {
      await writer.add(entityLine(id, entity(id)));
      await writer.flush();
    }
    assert.ok(writer.hasGivenUp);
    await writer.add(entityLine('urn:1', entity('urn:1', { changed: true })));
    await writer.add(entityLine('urn:2', entity('urn:2')));
    await writer.flush();
    assert.deepEqual([writer.has('urn:1'), writer.has('urn:2')], [false, true]);
  });

  it('folder: entities that could not be written or synced are not reported as archived', async () => {
    for (const failing of ['write', 'sync', 'sync of the folder']) {
      let isFull = false;
      const step = (name: string) => {
        if (isFull && name === failing)
          throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      };
      const storage = new FolderStorage(folder, {
        write: async (file, bytes) => (step('write'), file.writeFile(bytes)),
        sync: async (file) => {
          step((await file.stat()).isDirectory() ? 'sync of the folder' : 'sync');
          await file.sync();
        },
      });
      const archives = archivesOn(storage);
      const purge = randomUUID();
      const writer = await archives.writer({ purge, target: 'entities' }, 0, wholes);
      await writer.add(entityLine('urn:1', entity('urn:1')));
      await writer.flush();
      isFull = true;
      await writer.add(entityLine('urn:2', entity('urn:2')));
      await writer.add(entityLine('urn:1', entity('urn:1', { changed: true })));
      await writer.flush();
      assert.match(writer.failure?.message ?? '', /the disk is full/);
      assert.deepEqual([writer.has('urn:1'), writer.has('urn:2')], [false, false]);
      isFull = false;
      await writer.add(entityLine('urn:2', entity('urn:2')));
      await writer.flush();
      assert.ok(writer.has('urn:2') && !writer.hasGivenUp);
      assert.equal(writer.counts.entities, 2);
    }
  });

  it('bucket: a wrong key, a missing bucket and a redirect are refused at the first answer', async () => {
    const answers: readonly (readonly [ArchiveStorage, RegExp])[] = [
      [bucketStorage(bucket, { secretAccessKey: 'wrong' }), /answered 403 SignatureDoesNotMatch/],
      [
        new BucketStorage({
          bucket: 'nothere',
          prefix: '',
          endpoint: bucket.endpoint,
          clock,
          ...BUCKET_KEYS,
        }),
        /answered 404/,
      ],
    ];
    for (const [storage, says] of answers) {
      const before = bucket.requests.length;
      await assert.rejects(archivesOn(storage).check(), says);
      assert.equal(bucket.requests.length, before + 1);
      await storage.close();
    }
    bucket.fault = (_request, response) => {
      response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
      return true;
    };
    const storage = bucketStorage(bucket);
    await assert.rejects(archivesOn(storage).check(), /answered 307.*Redirects are not followed/);
    await storage.close();
  });

  it('bucket: an archive that cannot be removed is retried later, and does not prevent the removal of others', async () => {
    const notRemoved: string[] = [];
    const archives = new Archives({
      storage: bucketStorage(bucket),
      cipher: new ArchiveCipher([]),
      keepDays: 30,
      onNotRemoved: (error, purge) => notRemoved.push(`${purge} ${String(error)}`),
    });
    const [stuck, other] = ['0', 'f'].map((digit) => digit + randomUUID().slice(1)) as [string, string];
    for (const purge of [stuck, other])
      for (const epoch of [0, 1]) await written(archives, purge, [entity(`urn:${String(epoch)}`)], epoch);
    const left = () =>
      [...bucket.objects.keys()].filter((key) => key.includes(stuck) || key.includes(other)).sort();
    bucket.fault = ({ method, key }, response) => {
      const isStuck = method === 'DELETE' && key.includes(`${stuck}/000000-`);
      if (isStuck) response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
      return isStuck;
    };
    const isDue = async (purge: string) => (purge === stuck || purge === other ? undefined : false);
    const later = Date.now() + 32 * 86_400_000;
    await archives.removeExpired(isDue, later);
    assert.deepEqual(left(), [
      `gateway/x=1/${stuck}/000000-000000.ndjson.gz`,
      `gateway/x=1/${stuck}/archive.json`,
    ]);
    assert.equal(notRemoved.length, 1);
    assert.match(notRemoved[0] ?? '', new RegExp(`^${stuck} .*answered 403 AccessDenied`));
    bucket.fault = () => false;
    await archives.removeExpired(isDue, later);
    assert.deepEqual(left(), []);
    await archives.close();
  });

  it('the archive of a purge that takes longer than archives are kept is not removed by a gateway that does not know the purge', async () => {
    const dayMs = 86_400_000;
    const time = { ms: Date.now() };
    const archives = new Archives({
      storage: new FolderStorage(temporaryFolder()),
      cipher: new ArchiveCipher([]),
      keepDays: 1,
      clock: { now: () => time.ms },
    });
    const [long, dead] = [randomUUID(), randomUUID()];
    await written(archives, dead, [entity('urn:0')]);
    const writer = await archives.writer({ purge: long, target: 'entities' }, 0, wholes);
    for (let day = 0; day < 5; day += 1, time.ms += dayMs) {
      await writer.add(entityLine(`urn:${day}`, entity(`urn:${day}`)));
      await writer.flush();
      await archives.removeExpired(async () => undefined, time.ms);
    }
    assert.deepEqual(
      [(await linesOf(archives, long)).length, (await linesOf(archives, dead)).length],
      [5, 0],
    );
    // A day after the last day on which it was written, and one more.
    for (const [ms, lines] of [
      [time.ms + dayMs, 5],
      [time.ms + dayMs + 1, 0],
    ] as const) {
      await archives.removeExpired(async () => undefined, ms);
      assert.equal((await linesOf(archives, long)).length, lines);
    }
  });

  it('a process adds to an archive also if its database was restored, and gives it the number of a process before', async () => {
    const archives = archivesOn(new FolderStorage(temporaryFolder()));
    const purge = randomUUID();
    for (const name of ['before', 'after']) await written(archives, purge, [entity(`urn:${name}`)], 6);
    const writer = await written(archives, purge, [entity('urn:last')], 7);
    await writer.finish();
    assert.deepEqual(
      await linesOf(archives, purge),
      ['before', 'after', 'last'].map((name) => entity(`urn:${name}`)),
    );
    assert.equal(writer.counts.segments, 3);
  });

  it('what a later process archived is newer, although a copied or restored database gave it a lower number', async () => {
    const archives = archivesOn(new FolderStorage(temporaryFolder()));
    const purge = randomUUID();
    const stopped = await written(archives, purge, [entity('urn:1', { speed: 1 })], 8);
    await stopped.finish();
    await archives.complete({ purge, target: 'entities' }, 9);
    const last = await written(archives, purge, [entity('urn:1', { speed: 2 })], 3);
    await last.finish();
    for (const recorded of [undefined, last.counts]) {
      const lines: string[] = [];
      for await (const { line } of archives.reader({ purge, target: 'entities', recorded }).entities())
        lines.push(line);
      assert.deepEqual(lines, [entity('urn:1', { speed: 2 })]);
    }
  });

  it('bucket: a list is read also through a proxy that compresses although it must not', async () => {
    const storage = bucketStorage(bucket);
    bucket.fault = (_request, response) => {
      const list = '<ListBucketResult><Contents><Key>gateway/x=1/a/1</Key></Contents></ListBucketResult>';
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(list));
      return true;
    };
    assert.deepEqual(await storage.list('a'), ['a/1']);
    await storage.close();
  });

  it('bucket: removing an archive fails if the list of its objects is truncated or is not a list', async () => {
    const storage = bucketStorage(bucket);
    await storage.put('cut/1', Buffer.from('x'));
    for (const [list, says] of [
      [
        '<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>gateway/x=1/cut/1</Key></Contents></ListBucketResult>',
        /lists only a part/,
      ],
      ['<!doctype html><title>Sign in</title>', /did not answer with a list of objects/],
    ] as const) {
      bucket.fault = (_request, response) => {
        response.writeHead(200).end(list);
        return true;
      };
      await assert.rejects(storage.remove('cut'), says);
    }
    await storage.close();
  });

  it('bucket: an object outside the requested prefix is not deleted with an archive', async () => {
    const storage = bucketStorage(bucket);
    bucket.fault = ({ key }, response) => {
      if (key !== '') return false;
      const name = 'gateway/x=1/another/000000-000000.ndjson.gz';
      response
        .writeHead(200)
        .end(`<ListBucketResult><Contents><Key>${name}</Key></Contents></ListBucketResult>`);
      return true;
    };
    const before = bucket.requests.length;
    await assert.rejects(storage.remove('erased'), /outside the requested prefix/);
    assert.deepEqual(bucket.requests.slice(before), ['GET ']);
    await storage.close();
  });

  it('bucket: uploads carry an MD5 checksum, which Object Lock requires', async () => {
    const storage = bucketStorage(bucket);
    await storage.put('locked/1', Buffer.from('x'));
    assert.equal(bucket.headers['content-md5'], 'ndTkYSaMgDT1yFZOFVxnpg==');
    await storage.close();
  });

  it('bucket: the error for an object in cold storage says that the object must be restored first', async () => {
    bucket.fault = (_request, response) => {
      response.writeHead(403).end('<Error><Code>InvalidObjectState</Code></Error>');
      return true;
    };
    const storage = bucketStorage(bucket);
    await assert.rejects(storage.get('cold/1'), /403 InvalidObjectState.*restored in the bucket first/);
    bucket.fault = () => false;
    await storage.close();
  });

  it('bucket: a request that the bucket refused as too slow is sent again', async () => {
    let failures = 1;
    bucket.fault = (_request, response) => {
      failures -= 1;
      if (failures < 0) return false;
      response.writeHead(400).end('<Error><Code>RequestTimeout</Code></Error>');
      return true;
    };
    const storage = bucketStorage(bucket);
    await storage.put('late/1', Buffer.from('x'));
    assert.equal((await storage.get('late/1'))?.toString(), 'x');
    await storage.close();
  });

  it('bucket: a request is retried after 503 or a timeout, and then reported as failed', async () => {
    let failures = 2;
    bucket.fault = (_request, response) => {
      if (failures === 0) return false;
      failures -= 1;
      response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
      return true;
    };
    const storage = bucketStorage(bucket, { timeoutMs: 300 });
    await storage.put('a/b', Buffer.from('x'));
    failures = Infinity;
    await assert.rejects(storage.put('a/b', Buffer.from('x')), /answered 503 SlowDown/);
    // The bucket never answers.
    bucket.fault = () => true;
    await assert.rejects(storage.put('a/b', Buffer.from('x')), /does not answer in time/);
    // All retries together would take a minute.
    const patient = bucketStorage(bucket);
    await assert.rejects(archivesOn(patient).check(200), /did not answer within 0.2 seconds/);
    await patient.close();
    await storage.close();
    await assert.rejects(storage.put('a/b', Buffer.from('x')), ArchiveUnavailableError);
  });
});

it('a bucket has a host of its own in its URL if the certificate covers that host, and otherwise a path', () => {
  const region = 'eu-west-1';
  for (const [bucket, endpoint, root] of [
    ['city', undefined, 'https://city.s3.eu-west-1.amazonaws.com/'],
    ['archive.city.example', undefined, 'https://s3.eu-west-1.amazonaws.com/archive.city.example/'],
    ['a.b', new URL('http://minio:9000/s3/'), 'http://minio:9000/s3/a.b/'],
  ] as const)
    assert.equal(bucketUrl({ bucket, endpoint, region }), root);
});

describe('an archive whose purge was interrupted', () => {
  const folder = temporaryFolder();

  it('lines about the same entity are merged without losing any attribute', async () => {
    const archives = archivesOn(new FolderStorage(folder));
    const purge = randomUUID();
    const property = (value: number, more = {}) => ({ type: 'Property', value, ...more });
    const d1 = { datasetId: 'urn:d1' };
    await written(archives, purge, [
      entity('urn:1', { a: property(1), b: [property(2), property(3, d1)], list: [property(6)] }),
      entity('urn:2', { c: property(4) }),
    ]);
    const later = { b: property(33, d1), e: property(5), list: [property(66)] };
    await written(archives, purge, [entity('urn:1', later)], 1);
    const lines = await linesOf(archives, purge);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      [
        { id: 'urn:2', type: 'T', c: property(4) },
        {
          ...{ id: 'urn:1', type: 'T', a: property(1), b: [property(2), property(33, d1)] },
          ...{ list: [property(66)], e: property(5) },
        },
      ],
    );
  });

  it('an archive written with two secrets is readable as long as the older secret is configured as well', async () => {
    const next = 'another secret of sixteen';
    const [first, second, later] = [[SECRET], [next, SECRET], [next]].map((secrets) =>
      archivesOn(new FolderStorage(folder), secrets),
    ) as [Archives, Archives, Archives];
    const purge = randomUUID();
    await written(first, purge, [entity('urn:1')]);
    const writer = await written(second, purge, [entity('urn:1'), entity('urn:2')], 1);
    assert.equal(writer.counts.entities, 2);
    assert.deepEqual(await linesOf(second, purge), [entity('urn:1'), entity('urn:2')]);
    await assert.rejects(linesOf(later, purge), /another ARCHIVE_SECRET/);
    await assert.rejects(written(later, purge, [entity('urn:3')], 2), /another ARCHIVE_SECRET/);
  });

  it('instances of a history are identified by their ids, or by their content if they have none', () => {
    const one = { type: 'Property', value: 1, observedAt: '2026-01-01T00:00:00Z' };
    assert.equal(
      instanceKey({ ...one, createdAt: 'x' }, true),
      instanceKey({ ...one, modifiedAt: 'y' }, true),
    );
    assert.notEqual(instanceKey(one, true), instanceKey({ ...one, value: 2 }, true));
    assert.equal(instanceKey({ ...one, instanceId: 'urn:i' }, true), 'iurn:i');
    assert.equal(instanceKey(one, false), instanceKey({ ...one, value: 2 }, false));
  });

  it('a changed part counts as archived only once its new version is durable', async () => {
    const archives = archivesOn(new FolderStorage(folder));
    const writer = await written(archives, randomUUID(), [entity('urn:1')]);
    assert.ok(writer.isCurrent('urn:1', digestOf(entity('urn:1'))));
    await writer.add(entityLine('urn:1', entity('urn:1', { a: 1 })));
    assert.ok(!writer.has('urn:1'));
    await writer.flush();
    assert.ok(writer.has('urn:1'));
    assert.equal(writer.counts.entities, 1);
  });

  it('a part that changes back while its first version is stored counts as archived only once its last version is', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const storage = {
      list: async () => [],
      put: async (name: string) => {
        await released;
        if (name.includes('-000002.')) throw new ArchiveUnavailableError('The disk is full.');
      },
    };
    const archives = archivesOn(storage as unknown as ArchiveStorage);
    const writer = await archives.writer({ purge: randomUUID(), target: 'entities' }, 0, wholes);
    // Each fills a segment; the third cannot be stored.
    const [first, other] = ['first', 'other'].map((a) => entity('urn:1', { a: a.padEnd(8 * 2 ** 20) })) as [
      string,
      string,
    ];
    await writer.add(entityLine('urn:1', first));
    await writer.add(entityLine('urn:1', other));
    const last = writer.add(entityLine('urn:1', first));
    release();
    await last;
    await writer.flush();
    assert.ok(!writer.has('urn:1'), 'the archive has the other version last');
    await writer.add(entityLine('urn:1', first));
    await writer.flush();
    assert.ok(writer.has('urn:1'));
  });

  it('a part that changes faster than it can be stored is not reported as archived', async () => {
    const archives = archivesOn(new FolderStorage(folder));
    const writer = await written(archives, randomUUID(), [entity('urn:1')]);
    for (let a = 1; a <= 21; a += 1) await writer.add(entityLine('urn:1', entity('urn:1', { a })));
    await writer.flush();
    assert.ok(!writer.has('urn:1'), 'the archive has an older version alone');
    await writer.add(entityLine('urn:1', entity('urn:1', { a: 22 })));
    await writer.flush();
    assert.ok(writer.has('urn:1'));
  });
});
