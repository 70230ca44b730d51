import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FakeKong } from '../support/fake-pdk.js';
import { KongWorker, type BoundPlugin } from '../support/kong-worker.js';
import { buildPlugin, PluginServer, type BuiltPlugin } from '../support/plugin-server.js';

const RESTARTS = 100;

const config = { sidecar_host: 'sidecar', gateway_token: 'the-secret-of-both' };
const callers: readonly (BoundPlugin & { readonly policy: string | undefined })[] = [
  { id: 'alice', config, policy: undefined },
  { id: 'bob', config: { ...config, dry_run_only: true }, policy: 'dry-run-only=?1' },
];

describe('a plugin server that is killed repeatedly', { timeout: 1_200_000 }, () => {
  let plugin: BuiltPlugin;
  let server: PluginServer;

  before(async () => {
    plugin = await buildPlugin();
  });
  after(async () => {
    await server.stop();
    await plugin.remove();
  });

  it("in a hundred restarts with two callers and two workers, no caller gets the other's policy", async () => {
    server = await PluginServer.start(plugin);
    const workers = [new KongWorker(server.socketPath), new KongWorker(server.socketPath)];
    const counts = { vouchedFor: 0, onItsOwn: 0, confused: 0 };
    let isOver = false;

    const traffic = async (worker: KongWorker, { policy, ...caller }: (typeof callers)[number]) => {
      while (!isOver) {
        const kong = new FakeKong({ consumer: { username: caller.id } });
        const error = await worker.access(caller, kong);
        const { headers } = kong.outcome;
        if (headers.has('x-gateway-token')) {
          const isOwn =
            headers.get('x-purge-policy') === policy && headers.get('x-consumer-username') === caller.id;
          counts[isOwn ? 'vouchedFor' : 'confused'] += 1;
        } else {
          // The request goes on to the sidecar, which refuses it.
          assert.ok(error !== undefined);
          counts.onItsOwn += 1;
        }
        // This also runs while the server is down, when every request fails at once.
        await nextTurn();
      }
    };

    const running = Promise.all(
      workers.flatMap((worker) => callers.map(async (caller) => traffic(worker, caller))),
    );
    for (let restart = 0; restart < RESTARTS; restart += 1) {
      const enough = counts.vouchedFor + 1 + Math.floor(Math.random() * 40);
      while (counts.vouchedFor < enough) await nextTurn();
      await server.stop();
      server = await PluginServer.start(plugin);
    }
    isOver = true;
    await running;
    assert.equal(counts.confused, 0);
    assert.ok(counts.vouchedFor > RESTARTS && counts.onItsOwn > 0, JSON.stringify(counts));
  });
});
