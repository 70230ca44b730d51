import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { FakeContext } from '../support/cli-context.js';
import { stopAll, type TestGateway } from '../support/gateway-harness.js';
import { entitiesOf, everyKind, purged, startArchiving } from '../support/undo.js';

describe('undo on the command line', () => {
  let broker: EmbeddedBroker;
  let gateway: TestGateway;

  before(async () => {
    ({ broker, gateway } = await startArchiving());
  });
  after(stopAll);

  const contextOf = (isTerminal = false) =>
    new FakeContext({ env: { NGSILD_GATEWAY_URL: gateway.url }, isTerminal });
  const cars = async () => (await entitiesOf(broker, 'type=Car')).length;

  it('a confirmed purge covers only the entities that were shown: those that arrive during the question stay', async () => {
    broker.entities.seed(12, everyKind);
    const context = contextOf(true);
    context.onQuestion = (text) => {
      if (!text.includes('Delete 12 entities? [y/N]')) return;
      broker.entities.seed(3, (index) => everyKind(index + 100));
      context.stdin.write('y\n');
    };
    assert.equal(await context.run('purge', 'type=Car', '--archive', 'required'), 0, context.err);
    assert.match(context.out, /^Deleted 12 entities.*\n3 arrived during the purge and were not deleted\./);
    assert.equal(await cars(), 3);
  });

  it('purges archive writes the archive as gzipped NDJSON, and purges restore restores it', async () => {
    await gateway.purge('type=Car');
    broker.entities.seed(5, everyKind);
    const purge = await purged(gateway, 'type=Car&archive=required');
    const chunks: Buffer[] = [];
    const reading = contextOf();
    reading.stdout.write = ((chunk: Buffer) =>
      chunks.push(Buffer.from(chunk)) > 0) as typeof reading.stdout.write;
    assert.equal(await reading.run('purges', 'archive', purge.id), 0, reading.err);
    const lines = gunzipSync(Buffer.concat(chunks)).toString().trimEnd().split('\n');
    assert.equal(lines.length, 5);
    const dry = contextOf();
    assert.equal(await dry.run('purges', 'restore', purge.id.slice(0, 8), '--dry-run'), 0, dry.err);
    assert.match(dry.out, /^5 entities would be restored\. Nothing was created\./);
    const some = contextOf();
    assert.equal(await some.run('purges', 'restore', purge.id, '--id', everyKind(2).id), 0, some.err);
    assert.match(some.out, /^Restored 1 entity\.\nNote: createdAt and modifiedAt are new/);
    const absent = contextOf();
    assert.equal(await absent.run('purges', 'restore', purge.id, '--id', 'urn:x:1'), 3, absent.err);
    assert.match(
      absent.out,
      /^Restored 0 entities\.\nNote: The archive does not contain 1 of the ids: "urn:x:1"\./,
    );
    const rest = contextOf();
    assert.equal(await rest.run('purges', 'restore', purge.id, '--json'), 0, rest.err);
    const last = JSON.parse(rest.out.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
    assert.deepEqual([last['state'], last['restored'], last['alreadyThere']], ['succeeded', 4, 1]);
    assert.equal(await cars(), 5);
  });

  it('the purges commands refuse a purge without an archive, and do not write an archive to a terminal', async () => {
    const purge = await purged(gateway, 'type=Nothing&archive=required');
    for (const command of ['restore', 'archive']) {
      const context = contextOf();
      assert.equal(await context.run('purges', command, purge.id), 4, context.err);
      assert.match(context.err, /The purge \S+ has no archive/);
    }
    const terminal = contextOf();
    Object.assign(terminal.stdout, { isTTY: true });
    assert.equal(await terminal.run('purges', 'archive', purge.id), 2);
    // An archive is not JSON.
    assert.equal(await contextOf().run('purges', 'archive', purge.id, '--json'), 2);
  });
});
