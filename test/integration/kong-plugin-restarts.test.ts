import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { FakeKong } from '../support/fake-pdk.js';
import { KongWorker, type BoundPlugin } from '../support/kong-worker.js';
import {
  buildPlugin,
  KONG_PDK_PROGRAM,
  PluginServer,
  RpcError,
  type BuiltPlugin,
} from '../support/plugin-server.js';
import { itAtLength } from '../support/thoroughness.js';

const config = { sidecar_host: 'sidecar', gateway_token: 'the-secret-of-both' };
const alice: BoundPlugin = { id: 'alice', config };
const bob: BoundPlugin = { id: 'bob', config: { ...config, dry_run_only: true } };

describe('a restart of the plugin server', { timeout: 300_000 }, () => {
  let plugin: BuiltPlugin;
  const servers: PluginServer[] = [];

  const start = async (program?: string): Promise<PluginServer> => {
    const server = await PluginServer.start(plugin, program);
    servers.push(server);
    return server;
  };

  before(async () => {
    plugin = await buildPlugin();
  });
  after(async () => {
    for (const server of servers) await server.stop();
    await plugin.remove();
  });

  /**
   * Sends a purge by a caller through a worker. Returns the policy with which it reached the
   * sidecar, if it had the token.
   */
  const purge = async (worker: KongWorker, caller: BoundPlugin): Promise<string | undefined> => {
    const kong = new FakeKong({ consumer: { username: caller.id } });
    assert.equal(await worker.access(caller, kong), undefined);
    const { headers } = kong.outcome;
    assert.equal(headers.get('x-gateway-token'), 'the-secret-of-both');
    assert.equal(headers.get('x-consumer-username'), caller.id);
    return headers.get('x-purge-policy');
  };

  it('a new plugin server knows no instance or event of the earlier process, and says so as Kong expects', async () => {
    const first = await start();
    const link = await first.connect();
    const known: { instance: number; event: number }[] = [];
    for (let count = 0; count < 5; count += 1) {
      const instance = await link.startInstance(config);
      const { EventId } = (await link.call('HandleEvent', { InstanceId: instance, EventName: 'access' })) as {
        EventId: number;
      };
      known.push({ instance, event: EventId });
    }
    for (const { instance, event } of known)
      for (const id of [instance, event]) {
        // Lua has no larger integers.
        assert.ok(Number.isSafeInteger(id + 1e9), String(id));
        assert.ok(id >= 2 ** 47, String(id));
      }
    await first.stop();
    const next = await (await start()).connect();
    for (let count = 0; count < 5; count += 1) await next.startInstance(config);
    for (const { instance, event } of known) {
      await assert.rejects(
        next.call('HandleEvent', { InstanceId: instance, EventName: 'access' }),
        (error) => error instanceof RpcError && /^no plugin instance/.test(error.message),
      );
      await assert.rejects(
        next.call('Step', { EventId: event, Data: 'DELETE' }),
        (error) => error instanceof RpcError && /^event id \d+ not found/.test(error.message),
      );
    }
  });

  it("after a restart of the plugin server, no caller gets another caller's policy", async () => {
    let server = await start();
    const [one, two] = [new KongWorker(server.socketPath), new KongWorker(server.socketPath)];
    // If instances were numbered from 0, the second one would be bob's for worker two, and alice's
    // after a restart.
    const before = [one, two].map((worker) => [worker, bob] as const);
    const again = [one, two].flatMap((worker) => [bob, alice].map((caller) => [worker, caller] as const));
    for (const requests of [[...before, ...again], again, [...again].reverse(), again]) {
      for (const [worker, caller] of requests)
        assert.equal(await purge(worker, caller), caller === bob ? 'dry-run-only=?1' : undefined);
      await server.stop();
      server = await start();
    }
  });

  it('a restart while the plugin queries Kong leaves the request without a token', async () => {
    let server = await start();
    const worker = new KongWorker(server.socketPath);
    const kong = new FakeKong();
    const between = {
      pdk: {
        ...kong.pdk,
        client: {
          ...kong.pdk.client,
          getConsumer: async () => {
            await server.stop();
            server = await start();
            // Another event, which would also be the first of its process.
            const link = await server.connect();
            const InstanceId = await link.startInstance(config);
            await link.call('HandleEvent', { InstanceId, EventName: 'access' });
            return { username: 'bob' };
          },
        },
      },
    };
    assert.match((await worker.access(bob, between))?.message ?? '', /^event id \d+ not found/);
    assert.equal(kong.outcome.headers.has('x-gateway-token'), false);
  });

  it("without the launcher, kong-pdk's own program gives a caller another caller's policy", async () => {
    const first = await start(KONG_PDK_PROGRAM);
    const worker = new KongWorker(first.socketPath);
    assert.equal(await purge(worker, bob), 'dry-run-only=?1');
    await first.stop();
    const next = await start(KONG_PDK_PROGRAM);
    await (await next.connect()).startInstance(alice.config);
    assert.equal(await purge(worker, bob), undefined, 'a kong-pdk that needs no launcher any more');
  });
});

/** How many connections Linux allows to wait; 0 on other systems. */
const longestQueue = existsSync('/proc/sys/net/core/somaxconn')
  ? Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'))
  : 0;

describe('the launcher of the plugin server', { timeout: 300_000 }, () => {
  let plugin: BuiltPlugin;
  let server: PluginServer;

  before(async () => {
    plugin = await buildPlugin();
    server = await PluginServer.start(plugin);
  });
  after(async () => {
    await server.stop();
    await plugin.remove();
  });

  it('the plugin server reads a message that arrives in two pieces, wherever it is split', async () => {
    const [cut, whole] = [await server.connect(), await server.connect()];
    const step = { Data: 'DELETE', EventId: 2 ** 48 };
    for (let bytes = 1; bytes < 60; bytes += 1) {
      const answer = cut.callInPieces('Step', step, bytes, async () =>
        whole.call('GetPluginInfo', 'ngsi-ld-purge'),
      );
      await assert.rejects(answer, (error) => error instanceof RpcError && /not found/.test(error.message));
    }
  });

  it('the plugin server answers the second of two messages, when Kong does not wait for an answer to the first', async () => {
    const link = await server.connect();
    for (let count = 0; count < 3; count += 1)
      await assert.rejects(
        link.callTwice('Step', { Data: 'DELETE', EventId: 2 ** 48 }),
        (error) => error instanceof RpcError && /not found/.test(error.message),
      );
    const kong = new FakeKong();
    await link.access(await link.startInstance(config), kong);
    assert.equal(kong.outcome.headers.get('x-gateway-token'), config.gateway_token);
  });

  it(
    'as many connections as the system allows wait for a busy plugin server',
    { skip: longestQueue < 700 && 'the system allows few connections to wait' },
    async () => {
      server.signal('SIGSTOP');
      try {
        const links = await Promise.all(Array.from({ length: 600 }, () => server.connect()));
        for (const link of links) link.close();
      } finally {
        server.signal('SIGCONT');
      }
    },
  );

  it('a plugin server exits if another one has taken its socket, as after a crash of a worker of Kong', async () => {
    const own = { ...plugin, prefix: await mkdtemp(join(plugin.prefix, 'own-')) };
    const first = await PluginServer.start(own);
    const next = await PluginServer.start(own);
    try {
      assert.equal(await first.ended(), 0);
      const link = await next.connect();
      const kong = new FakeKong();
      await link.access(await link.startInstance(config), kong);
      assert.equal(kong.outcome.headers.get('x-gateway-token'), config.gateway_token);
      await rm(next.socketPath);
      assert.equal(await next.ended(), 0, 'without a socket, it would never be used again');
    } finally {
      await first.stop();
      await next.stop();
    }
  });

  it('the plugin server keeps working if a connection of Kong breaks before its answer', async () => {
    const link = await server.connect();
    const InstanceId = await link.startInstance(config);
    for (let count = 0; count < 20; count += 1) {
      const broken = await server.connect();
      const call = broken.call('HandleEvent', { InstanceId, EventName: 'access' });
      broken.close();
      await assert.rejects(call);
    }
    const kong = new FakeKong();
    await link.access(InstanceId, kong);
    assert.equal(kong.outcome.headers.get('x-gateway-token'), config.gateway_token);
  });

  itAtLength(
    'the plugin server keeps a limited number of events that Kong never ends, and stays usable',
    async () => {
      const links = await Promise.all(Array.from({ length: 4 }, () => server.connect()));
      const [link = assert.fail()] = links;
      const InstanceId = await link.startInstance(config);
      const refusedPath = { rawPath: '/ngsi-ld/v1//entities', path: '/ngsi-ld/v1/entities' };
      const abandon = async (events: number): Promise<number> => {
        await Promise.all(
          links.map(async (each) => {
            for (let count = 0; count < 25; count += 1) {
              const refused = new FakeKong(refusedPath);
              await each.access(InstanceId, refused);
              assert.equal(refused.outcome.answer?.status, 400);
            }
            // A single message for each, to be quick, after which Kong disconnects.
            for (let count = 0; count < events; count += 1)
              await each.call('HandleEvent', { InstanceId, EventName: 'access' });
          }),
        );
        return server.heapBytes();
      };
      const full = await abandon(2_500);
      // Without a limit, another three thousand would take 3 MB.
      assert.ok((await abandon(750)) - full < 1.5e6);
      const kong = new FakeKong();
      await link.access(InstanceId, kong);
      assert.equal(kong.outcome.headers.get('x-gateway-token'), config.gateway_token);
    },
  );
});
