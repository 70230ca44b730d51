import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { fieldDefinitions } from '../../kong-plugins/ngsi-ld-purge/config-schema.js';
import { FakeKong } from '../support/fake-pdk.js';
import { PATIENT, startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { AUDIENCE, OpenIdProvider } from '../support/openid-provider.js';
import { startRecordingBroker } from '../support/recording-broker.js';
import { ApiClient, makeModel } from './api-client.js';
import {
  buildPlugin,
  dumpPlugins,
  PluginServer,
  type BuiltPlugin,
  type Link,
} from '../support/plugin-server.js';
import { itAtLength } from '../support/thoroughness.js';
import { ROOT } from '../support/project.js';

const config = {
  sidecar_host: 'sidecar',
  sidecar_port: 8080,
  gateway_token: 'the-secret',
  max_affected: 1000,
  connect_timeout_ms: 5000,
  read_timeout_ms: 600_000,
  allow_temporal: true,
  dry_run_only: false,
  __key__: 'plugins:ngsi-ld-purge:1::::',
  __seq__: 1,
  __plugin_id: '1',
  route_id: '2',
};

interface PluginInfo {
  readonly Name: string;
  readonly Phases: readonly string[];
  readonly Priority: number;
  readonly Version: string;
  readonly Schema: {
    readonly fields: readonly {
      readonly config: { readonly fields: readonly Record<string, { description: string }>[] };
    }[];
  };
}

describe('the built plugin in the real plugin server', { timeout: 800_000 }, () => {
  let plugin: BuiltPlugin;
  let server: PluginServer;
  let link: Link;

  before(async () => {
    plugin = await buildPlugin();
    server = await PluginServer.start(plugin);
    link = await server.connect();
  });
  after(async () => {
    await stopAll();
    await server.stop();
    await plugin.remove();
  });

  it('the built plugin prints nothing but JSON if Kong asks for its description', async () => {
    assertHoldsThePlugin(await dumpPlugins(plugin, plugin.prefix));
  });

  it('the built plugin loads from whichever folder the plugin server is started in, even that of this project', async () => {
    assertHoldsThePlugin(await dumpPlugins(plugin, ROOT));
  });

  it('the built plugin reports its name, phase, priority and a schema that describes every field', async () => {
    const info = (await link.call('GetPluginInfo', 'ngsi-ld-purge')) as PluginInfo;
    assert.deepEqual([info.Name, info.Phases, info.Priority], ['ngsi-ld-purge', ['access'], 15]);
    assert.match(info.Version, /^\d+\.\d+\.\d+$/);
    const fields = info.Schema.fields[0]?.config.fields ?? [];
    assert.equal(fields.length, Object.keys(fieldDefinitions).length);
    for (const field of fields) assert.ok(Object.values(field)[0]?.description);
  });

  it('the built plugin sends a purge to the sidecar with its policy and caller, and replaces forged ones', async () => {
    const headers = {
      Host: 'gw.example:8000',
      'X-Gateway-Token': 'forged',
      'X-Purge-Policy': 'max-affected=999999',
      'X-Consumer-Username': 'forged',
      'X-Authenticated-Userid': 'forged',
    };
    const kong = new FakeKong({
      rawPath: '/ngsi-ld/v1/entities',
      headers,
      consumer: { id: 'c-1', username: 'Zoë', custom_id: null },
      credential: { id: 'k-1', key: 'the-api-key' },
    });
    await link.access(await link.startInstance(config), kong);
    const { target, retries, timeouts, headers: sent, answer } = kong.outcome;
    assert.deepEqual(
      { target, retries, timeouts, answer },
      { target: 'sidecar:8080', retries: 0, timeouts: [5000, 60_000, 600_000], answer: undefined },
    );
    assert.deepEqual(
      [...sent],
      [
        ['host', 'gw.example:8000'],
        ['x-purge-policy', 'max-affected=1000'],
        ['x-consumer-id', 'c-1'],
        ['x-consumer-username', 'Zoë'],
        ['x-credential-identifier', 'k-1'],
        ['x-gateway-token', 'the-secret'],
      ],
    );
  });

  it('the built plugin tells the sidecar the caller of a write; write policies ignore callers named by clients', async () => {
    const broker = await startRecordingBroker(() => ({ status: 204 }));
    const gateway = await startTestGateway({
      BROKER_URL: broker.url,
      GATEWAY_TOKEN: 'the-secret',
      WRITE_CHECK: 'enforce',
      LOG_LEVEL: 'silent',
      ...PATIENT,
    });
    const api = await ApiClient.of(gateway.url, { 'x-gateway-token': 'the-secret' });
    await makeModel(api, 'D', 'Car');
    await api.put('/write-policies/zoe', { mode: 'off', callers: ['Zoë'] });
    const instance = await link.startInstance({ ...config, vouch_for_writes: true });
    const rawPath = '/ngsi-ld/v1/entities';
    const forged = { 'X-Gateway-Token': 'the-secret', 'X-Consumer-Username': 'Zoë' };
    /** Sends a write to the sidecar, through the plugin or directly. */
    const write = async (consumer: string | undefined, isPastPlugin = false) => {
      const kong = new FakeKong({
        method: 'POST',
        rawPath,
        headers: forged,
        ...(consumer === undefined ? {} : { consumer: { id: 'c', username: consumer } }),
      });
      if (isPastPlugin) await kong.pdk.service.request.setHeaders({ 'X-Gateway-Token': [] });
      else await link.access(instance, kong);
      const { host: _host, ...headers } = Object.fromEntries(kong.outcome.headers);
      const named = headers['x-consumer-username'];
      const utf8 =
        named === undefined ? {} : { 'x-consumer-username': Buffer.from(named).toString('latin1') };
      const answer = await gateway.send('POST', rawPath, {
        headers: { ...headers, ...utf8, 'content-type': 'application/json' },
        body: JSON.stringify({ id: 'urn:ngsi-ld:Car:1', type: 'Car', speed: 'fast' }),
      });
      return answer.status;
    };
    assert.deepEqual([await write('Zoë'), await write('Ann'), await write(undefined)], [204, 400, 400]);
    assert.equal(await write(undefined, true), 400, 'where the plugin has failed, nobody is vouched for');
    const [passed] = broker.requests;
    assert.equal(passed?.headers['x-gateway-token'], undefined);
  });

  it('a signed-in user behind the built plugin has their own roles and tenants, and the record names user and address', async () => {
    const provider = await OpenIdProvider.start({
      vera: { preferred_username: 'vera', roles: ['viewer'], tenants: ['a'] },
      paul: { preferred_username: 'paul', roles: ['purger'], tenants: ['a'] },
    });
    const broker = await startTestBroker();
    broker.entities.seed(3, (index) => ({ id: `urn:ngsi-ld:Car:${String(index)}`, type: 'Car' }), 'a');
    const gateway = await startTestGateway({
      BROKER_URL: broker.url,
      GATEWAY_TOKEN: config.gateway_token,
      TRUSTED_PROXIES: '127.0.0.1',
      AUTH_ISSUER: provider.issuer,
      AUTH_AUDIENCE: AUDIENCE,
      AUTH_ROLES_CLAIM: 'roles',
      AUTH_TENANTS_CLAIM: 'tenants',
    });
    const instance = await link.startInstance(config);
    const purge = async (user: string, tenant: string) => {
      const authorization = `Bearer ${await provider.tokenOf(user)}`;
      const asked = { authorization, 'ngsild-tenant': tenant, 'x-forwarded-for': '192.0.2.7' };
      const kong = new FakeKong({ headers: asked });
      await link.access(instance, kong);
      const { host: _host, ...headers } = Object.fromEntries(kong.outcome.headers);
      assert.equal(headers['x-gateway-token'], config.gateway_token);
      return gateway.purge('type=Car', headers);
    };
    const refused = await purge('vera', 'a');
    assert.deepEqual(
      [refused.status, refused.problem().type],
      [403, 'urn:ngsi-ld-gateway:problem:role-missing'],
    );
    assert.equal((await purge('paul', 'b')).problem().type, 'urn:ngsi-ld-gateway:problem:tenant-refused');
    assert.equal(broker.entities.count('a'), 3);
    const purged = await purge('paul', 'a');
    assert.deepEqual([purged.status, purged.headers.get('purge-deleted')], [204, '3']);
    const headers = { authorization: `Bearer ${await provider.tokenOf('vera')}`, 'ngsild-tenant': 'a' };
    const record = await gateway.send('GET', `/api/v2/purges/${purged.headers.get('purge-id') ?? ''}`, {
      headers,
    });
    const { caller, clientAddress } = record.json() as Readonly<Record<string, unknown>>;
    assert.deepEqual([caller, clientAddress], ['paul', '192.0.2.7']);
  });

  it('the built plugin refuses an ambiguous path with a problem, and keeps working', async () => {
    const instance = await link.startInstance(config);
    const refused = new FakeKong({ rawPath: '/ngsi-ld/v1//entities', path: '/ngsi-ld/v1/entities' });
    await link.access(instance, refused);
    assert.equal(refused.outcome.answer?.status, 400);
    assert.equal(refused.outcome.answer.headers['Content-Type'], 'application/problem+json');
    assert.match(refused.outcome.answer.body, /"instance":"\/ngsi-ld\/v1\/\/entities"/);
    const next = new FakeKong({});
    await link.access(instance, next);
    assert.equal(next.outcome.target, 'sidecar:8080');
  });

  it('the built plugin answers 503 if a PDK call fails', async () => {
    const instance = await link.startInstance(config);
    for (const method of ['request.getMethod', 'client.getConsumer', 'service.setTarget']) {
      const kong = new FakeKong({}).trouble(method, { kind: 'throw' });
      await link.access(instance, kong);
      assert.equal(kong.outcome.answer?.status, 503, method);
    }
  });

  it('the built plugin starts with an invalid configuration, and then refuses requests', async () => {
    const kong = new FakeKong({});
    await link.access(
      await link.startInstance({ sidecar_host: 'http://sidecar:8080/ bad', __key__: 'k' }),
      kong,
    );
    assert.equal(kong.outcome.answer?.status, 500);
  });

  itAtLength('the built plugin does not use more memory with each of thousands of purges', async () => {
    const links = await Promise.all(Array.from({ length: 4 }, () => server.connect()));
    const instance = await link.startInstance(config);
    const memory = async (): Promise<Memory> => ({
      heapBytes: await server.heapBytes(),
      residentKb: await residentKb(server.pid),
    });
    const purge = async (count: number): Promise<void> => {
      await Promise.all(
        links.map(async (each) => {
          for (let done = 0; done < count / links.length; done += 1) {
            await each.access(instance, new FakeKong({ rawPath: '/ngsi-ld/v1/entities' }));
          }
        }),
      );
    };
    // A leak grows in every round, while caches and the collector's own memory stop growing.
    let before = await memory();
    const rounds: Memory[] = [];
    do {
      await purge(1_500);
      const after = await memory();
      rounds.push({
        heapBytes: after.heapBytes - before.heapBytes,
        residentKb: after.residentKb - before.residentKb,
      });
      before = after;
    } while (!isSteady(rounds.at(-1)) && rounds.length < 10);
    assert.ok(isSteady(rounds.at(-1)), `every round of purges grew: ${JSON.stringify(rounds)}`);
  });
});

function assertHoldsThePlugin({ stdout, stderr }: { stdout: string; stderr: string }): void {
  const dump = JSON.parse(stdout) as PluginInfo[];
  assert.deepEqual(
    dump.map((info) => info.Name),
    ['ngsi-ld-purge'],
  );
  assert.equal(stderr, '');
}

interface Memory {
  readonly heapBytes: number;
  readonly residentKb: number;
}

/** Whether a round of 1,500 purges kept less than an event, that is a kilobyte, for each purge. */
function isSteady(growth: Memory | undefined): boolean {
  return growth !== undefined && growth.heapBytes < 500_000 && growth.residentKb < 5_000;
}

/** Returns the resident memory of a process, in kB; 0 if the system does not report it. */
async function residentKb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}
