import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReplyTooLargeError, type BrokerReply } from '../../../../sidecar/purge/broker/index.js';
import { BrokerRefusedError } from '../../../../sidecar/purge/errors.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import { EntityPaths } from '../../../../sidecar/purge/proof/index.js';
import { replyOf } from '../broker/replies.js';
import { contextOf } from '../hand-made-context.js';

const ODD = 'urn:a?b';

/** The paths of a broker that answers a GET of an entity's path, and what it was asked. */
function pathsOf(answer: (path: string, nth: number) => BrokerReply) {
  const asked: string[] = [];
  const { requester } = contextOf({
    brokerQuery: { resource: entities('ids'), selection: [] },
    broker: ({ method, path }) => {
      assert.equal(method, 'GET');
      asked.push(path);
      return answer(path, asked.length);
    },
  });
  return { paths: new EntityPaths(requester, '/entities'), asked };
}

describe('the path of an entity', () => {
  it('the path of an entity needs no proof where no server could read it otherwise', async () => {
    const { paths, asked } = pathsOf(() => replyOf(500));
    assert.deepEqual(await paths.safePathOf('urn:a:1'), { path: '/entities/urn%3Aa%3A1' });
    assert.deepEqual(asked, []);
  });

  it('the path of an entity is safe once a GET of it was answered with the same id', async () => {
    for (const reply of [
      replyOf(200, { id: ODD }),
      replyOf(200, { '@id': ODD }),
      replyOf(203, { id: ODD }),
      replyOf(206, { id: ODD }),
    ]) {
      const { paths, asked } = pathsOf(() => reply);
      assert.deepEqual(await paths.safePathOf(ODD), { path: '/entities/urn%3Aa%3Fb' });
      assert.deepEqual(await paths.safePathOf(ODD), { path: '/entities/urn%3Aa%3Fb' });
      assert.deepEqual(asked, ['/entities/urn%3Aa%3Fb'], 'asked once');
    }
  });

  it('the path of an entity is not safe after any other answer, and the item is refused', async () => {
    for (const [reply, why] of [
      [replyOf(200, { id: 'urn:a' }), /with urn:a\./],
      [replyOf(200, [{ id: ODD }]), /something other than an entity/],
      [replyOf(200, {}), /something other than an entity/],
      [replyOf(200, ODD), /something other than an entity/],
      [replyOf(201, { id: ODD }), /with status 201/],
      [replyOf(404, { id: ODD }), /with status 404/],
      [replyOf(400), /with status 400/],
      [replyOf(403, { id: ODD }), /with status 403/],
      [replyOf(302), /cannot be used: .*[^.]\. Nothing/],
    ] as const) {
      const { paths } = pathsOf(() => reply);
      const safe = await paths.safePathOf(ODD);
      assert.ok('doubt' in safe && safe.doubt.kind === 'refused');
      const { status, detail = '' } = safe.doubt.problem;
      assert.equal(status, 501);
      assert.match(detail, why);
    }
  });

  it('the path of an entity is refused with at most 200 characters of the id that was shown instead', async () => {
    const { paths } = pathsOf(() => replyOf(200, { id: `urn:${'x'.repeat(1000)}` }));
    const safe = await paths.safePathOf(ODD);
    assert.ok('doubt' in safe && safe.doubt.kind === 'refused');
    assert.match(safe.doubt.problem.detail ?? '', /with urn:x{196}\. Nothing/);
  });

  it('the proof of a path concerns one item, whose failures are not taken for those of the broker', async () => {
    const { paths } = pathsOf(() => replyOf(500));
    for (let round = 0; round < 10; round += 1) {
      const safe = await paths.safePathOf(ODD);
      assert.ok('doubt' in safe && safe.doubt.kind === 'retryable');
    }
  });

  it('the path of an entity is not remembered as unsafe: it is proven again for the final retry', async () => {
    const { paths, asked } = pathsOf((_path, nth) => (nth === 1 ? replyOf(404) : replyOf(200, { id: ODD })));
    assert.ok('doubt' in (await paths.safePathOf(ODD)));
    assert.ok('path' in (await paths.safePathOf(ODD)));
    assert.equal(asked.length, 2);
  });

  it('the path of an entity may be proven later where the tries of the proof ran out', async () => {
    const { paths } = pathsOf(() => replyOf(503));
    const safe = await paths.safePathOf(ODD);
    assert.ok('doubt' in safe && safe.doubt.kind === 'retryable');
    assert.equal(safe.doubt.problem.status, 503);
  });

  it('the path of an entity is not safe where the answer cannot be read', async () => {
    const { paths } = pathsOf(() => {
      throw new ReplyTooLargeError('too large');
    });
    const safe = await paths.safePathOf(ODD);
    assert.ok('doubt' in safe && safe.doubt.kind === 'refused');
  });

  it('the path of an entity ends the purge where the caller may not ask, or anything unforeseen happens', async () => {
    await assert.rejects(pathsOf(() => replyOf(401)).paths.safePathOf(ODD), BrokerRefusedError);
    const { paths } = pathsOf(() => {
      throw new TypeError('a mistake');
    });
    await assert.rejects(paths.safePathOf(ODD), TypeError);
  });

  it('the path of an entity does not exist where it leads to something else once it is decoded', async () => {
    for (const id of ['urn:a/attrs/b', 'urn:a/..', 'urn:\ud800']) {
      const { paths, asked } = pathsOf(() => replyOf(200, { id }));
      const safe = await paths.safePathOf(id);
      assert.ok('doubt' in safe && safe.doubt.kind === 'refused');
      assert.deepEqual(asked, []);
    }
  });

  it('the path of an entity is remembered as proven for ten thousand ids at most', async () => {
    const { paths, asked } = pathsOf((path) => replyOf(200, { id: decodeURIComponent(path.slice(10)) }));
    for (let index = 0; index <= 10_000; index++) await paths.safePathOf(`urn:a?${index}`);
    const before = asked.length;
    await paths.safePathOf('urn:a?9999');
    assert.equal(asked.length, before);
    await paths.safePathOf('urn:a?10000');
    assert.equal(asked.length, before + 1);
  });
});
