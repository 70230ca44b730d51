import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { ArchiveUnavailableError, BucketStorage, type BucketOptions } from '../../sidecar/archive/index.js';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { givenBucket, noSwift, SwiftServer, type RealBucket } from '../support/swift-server.js';
import { entitiesOf, everyKind, purged, restored, withoutSystemTimes } from '../support/undo.js';

const given = givenBucket();
const skip = given === undefined && (noSwift() ?? false);

describe('archives in the bucket of a real S3 server', { skip }, () => {
  let server: RealBucket;
  let storage: BucketStorage;

  before(async () => {
    server = given ?? (await SwiftServer.start());
    storage = at();
  });
  after(async () => {
    await stopAll();
    await storage.close();
    await server.close();
  });

  function at(more: Partial<BucketOptions> = {}): BucketStorage {
    const { bucket, endpoint, keys } = server;
    return new BucketStorage({
      bucket,
      endpoint,
      prefix: 'gateway/x=1/',
      clock: { sleep: async () => {} },
      ...keys,
      ...more,
    });
  }

  it('an object in a bucket is read as it was written, a missing object is undefined, and removed objects are gone', async () => {
    const big = randomBytes(24 * 1024 * 1024);
    await storage.put('a/big', big);
    await storage.put('a/empty', Buffer.alloc(0));
    assert.ok((await storage.get('a/big'))?.equals(big));
    assert.equal((await storage.get('a/empty'))?.length, 0);
    assert.equal(await storage.get('a/none'), undefined);
    await storage.put('a/empty', Buffer.from('not any more'));
    assert.equal(String(await storage.get('a/empty')), 'not any more');
    await storage.remove('a');
    assert.deepEqual([await storage.get('a/big'), await storage.list('a')], [undefined, []]);
    await storage.remove('a');
  });

  it('lists of a bucket are complete over several pages, and contain only the given folder', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `list/${String(index).padStart(6, '0')}-x.gz`);
    await Promise.all([...names, 'list2/x'].map(async (name) => storage.put(name, Buffer.from(name))));
    assert.deepEqual(await storage.list('list'), names);
    const folders = Array.from({ length: 12 }, (_, index) => `folder-${String(index + 10)}`);
    await Promise.all(folders.map(async (name) => storage.put(`${name}/x`, Buffer.from('x'))));
    assert.deepEqual(await storage.folders(), [...folders, 'list', 'list2']);
    for (const folder of [...folders, 'list', 'list2']) await storage.remove(folder);
    assert.deepEqual(await storage.folders(), []);
  });

  const mistakes: readonly (readonly [string, Partial<BucketOptions>, RegExp])[] = [
    ['another secret', { secretAccessKey: 'wrong' }, /answered 403 SignatureDoesNotMatch/],
    ['another key', { accessKeyId: 'test:nobody' }, /answered 403/],
    ['a bucket that is not there', { bucket: 'nothere' }, /answers 404 NoSuchBucket/],
    ['another region', { region: 'us-east-1' }, /answers 400 AuthorizationHeaderMalformed.*check AWS_REGION/],
  ];
  for (const [what, options, says] of mistakes)
    it(`${what} is refused for reading and writing, and not mistaken for a missing archive`, async (test) => {
      if (given !== undefined && options.region !== undefined) {
        test.skip('not every server looks at the region');
        return;
      }
      const wrong = at(options);
      const isSaid = (error: unknown) => error instanceof ArchiveUnavailableError && says.test(error.message);
      await assert.rejects(wrong.put('a/x', Buffer.from('x')), isSaid);
      await assert.rejects(wrong.get('a/x'), isSaid);
      await assert.rejects(wrong.list('a'), isSaid);
      await wrong.close();
    });

  it('a purge archives to the bucket, encrypted, and its restore restores what it deleted', async () => {
    const broker: EmbeddedBroker = await startTestBroker();
    broker.entities.seed(4500, everyKind);
    const gateway = await startTestGateway({
      BROKER_URL: broker.url,
      ARCHIVE_URL: `s3://${server.bucket}/purges`,
      ARCHIVE_SECRET: 'a secret of sixteen or more',
      AWS_ENDPOINT_URL: server.endpoint.href,
      AWS_REGION: server.keys.region,
      AWS_ACCESS_KEY_ID: server.keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: server.keys.secretAccessKey,
    });
    const first = withoutSystemTimes(await entitiesOf(broker, 'type=Car'));
    const purge = await purged(gateway, 'type=Car&archive=required');
    assert.deepEqual([purge.deleted, purge.archive?.entities, broker.entities.count()], [4500, 4500, 0]);
    const restore = await restored(gateway, purge.id);
    assert.deepEqual([restore.state, restore.restored], ['succeeded', 4500]);
    assert.deepEqual(withoutSystemTimes(await entitiesOf(broker, 'type=Car')), first);
    assert.equal((await gateway.send('DELETE', `/api/v2/purges/${purge.id}/archive`)).status, 204);
    const left = at({ prefix: 'purges/' });
    assert.deepEqual(await left.folders(), []);
    await left.close();
  });
});
