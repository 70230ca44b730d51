import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { callerHeaders } from '../../kong-plugins/ngsi-ld-purge/caller.js';
import { isPlainConnection } from '../../kong-plugins/ngsi-ld-purge/decide.js';
import { isGuardedRecord, resourcePatterns } from '../../kong-plugins/ngsi-ld-purge/path.js';
import { parsePurgePolicy } from '../../sidecar/http/new-purge.js';
import { classifyRequest } from '../../sidecar/ngsi-ld/request-path.js';
import { readKongFile, routeOf, type KongPlugin } from '../support/kong-router.js';
import { ROOT } from '../support/project.js';
import { findProgram } from '../support/reverse-proxies.js';
import { words } from '../support/words.js';

const read = (name: string) => readKongFile(readFileSync(join(ROOT, name), 'utf8'));
const { services, upstreams, consumers = [], plugins = [] } = read('deploy/kong-plugin-free.yml');
const OPEN = 'ngsi-ld-gateway';
const WITH_TOKEN = 'ngsi-ld-gateway-purge';
const TOKEN = 'X-Gateway-Token:${{ env "DECK_GATEWAY_TOKEN" }}';

/** The service to which a request is sent. */
const serviceFor = (method: string, path: string) => routeOf(services, method, path)?.service.name;

const pluginOf = (service: string, name: string): KongPlugin =>
  services.find((each) => each.name === service)?.plugins?.find((plugin) => plugin.name === name) ??
  assert.fail(`${service} has no ${name}`);

interface Transformation {
  readonly remove: { readonly headers: readonly string[] };
  readonly add?: { readonly headers: readonly string[] };
}
const transformationOf = ({ config }: KongPlugin) => config as unknown as Transformation;

it('kong-plugin-free.yml sends everything to the sidecar, and retries nothing', () => {
  assert.deepEqual(
    services.map(({ name, url, retries }) => [name, url, retries]),
    [
      [OPEN, 'http://sidecar:8080', 0],
      [WITH_TOKEN, 'http://sidecar:8080', 0],
    ],
  );
  assert.ok((services[1]?.read_timeout ?? 0) >= 3_600_000);
  assert.deepEqual(upstreams, read('kong.yml').upstreams);
});

it('kong-plugin-free.yml gives the token only to purges, writes of the schema service and reads of records', () => {
  for (const path of words(`
    /ngsi-ld/v1/entities?type=Car /ngsi-ld/v1/entities/ /ngsi-ld/v1/temporal/entities /ngsi-ld/v1//entities /ngsi-ld/v1/Entities
    /ngsi-ld/v1/entities;v=1 /ngsi-ld/v1/entities/urn:x/.. /ngsi-ld/v1/entities/urn:x%2F.. /ngsi-ld/v1/subscriptions /ngsi-ld
    /api/v2/domains/d /api/v2/purges/1
  `))
    assert.equal(serviceFor('DELETE', path), WITH_TOKEN, path);
  for (const method of ['POST', 'PUT', 'PATCH']) {
    assert.equal(serviceFor(method, '/api/v2/purges'), WITH_TOKEN);
    assert.equal(serviceFor(method, '/ngsi-ld/v1/entities'), OPEN);
  }
  for (const method of ['GET', 'HEAD'])
    for (const path of words(`
      /ngsi-ld/v1/entities /api/v2/domains /api/v2/openapi.json /api/v2/contexts/purges /api/v2/purges/1/events
      /api/v2/retention-policies /api/v2/write-policies/p /api/v2/write-checks /api/v2/scans/1 /api/v2/./purges
    `))
      assert.equal(
        serviceFor(method, path),
        isGuardedRecord(path.replace('/./', '/')) ? WITH_TOKEN : OPEN,
        `${method} ${path}`,
      );
  for (const path of ['/', '/metrics', '/health/ready', '/NGSI-LD/v1/entities'])
    assert.equal(serviceFor('DELETE', path), undefined, path);
});

it('kong-plugin-free.yml lets every caller delete one resource, by the patterns of the plugin', () => {
  const one = services[0]?.routes.find(({ name }) => name === 'ngsi-ld-delete-one');
  assert.deepEqual(
    one?.paths,
    resourcePatterns.map((pattern) => `~${pattern}`),
  );
  for (const path of words(`
    /ngsi-ld/v1/entities/urn:x:1 /ngsi-ld/v1/entities/urn%3Ax%3A1/attrs/a /ngsi-ld/v1/subscriptions/urn:s:1
  `)) {
    assert.equal(serviceFor('DELETE', path), OPEN, path);
    assert.deepEqual(classifyRequest('DELETE', path), { kind: 'pass' });
  }
});

it('kong-plugin-free.yml identifies each caller by a key, and gives the token only to callers in the group purgers', () => {
  for (const { name, plugins: own = [] } of services) {
    const names = own.map((plugin) => plugin.name);
    assert.deepEqual(names, [
      'pre-function',
      'correlation-id',
      'key-auth',
      ...(name === WITH_TOKEN ? ['acl'] : []),
      'request-transformer',
    ]);
    assert.deepEqual(pluginOf(name, 'key-auth').config, {
      key_names: ['X-API-Key'],
      key_in_query: false,
      hide_credentials: true,
    });
  }
  assert.deepEqual(pluginOf(WITH_TOKEN, 'acl').config['allow'], ['purgers']);
  assert.equal(transformationOf(pluginOf(OPEN, 'request-transformer')).add, undefined);
});

it('kong-plugin-free.yml removes the fields that the sidecar trusts before it sets them, and keeps those set by key-auth', () => {
  // key-auth replaces or removes these itself, before request-transformer runs.
  const byKeyAuth = words(`
    X-Consumer-ID X-Consumer-Custom-ID X-Consumer-Username X-Credential-Identifier X-Anonymous-Consumer
  `);
  const others = callerHeaders.filter((name) => !byKeyAuth.includes(name));
  const transformation = transformationOf(pluginOf(WITH_TOKEN, 'request-transformer'));
  assert.deepEqual(
    transformation.remove.headers.toSorted(),
    ['X-Gateway-Token', 'X-Purge-Policy', ...others].sort(),
  );
  assert.deepEqual(transformation.add?.headers, [TOKEN]);
  const open = transformationOf(pluginOf(OPEN, 'request-transformer'));
  assert.deepEqual(open.remove.headers, ['X-Gateway-Token', 'X-Purge-Policy']);
  // A plugin of a route would replace the same plugin of its service.
  for (const { plugins: own = [] } of services.flatMap(({ routes }) => routes))
    assert.ok(own.every(({ name }) => name === 'rate-limiting'));
});

/** Calls the function with each value of Connection, one in a line, and prints the status that it answers with, or 0. */
const PROGRAM = `
  local access = assert(loadstring(arg[1]))
  for value in io.lines() do
    local status = 0
    kong = {
      request = { get_headers = function() return { connection = value ~= "-" and value or nil } end },
      response = { exit = function(code) status = code end },
    }
    access()
    print(status)
  end
`;
const luajit = findProgram('luajit');

it(
  'kong-plugin-free.yml refuses requests that name other headers in Connection, as the plugin does',
  { skip: luajit === undefined ? 'luajit is not installed' : false },
  () => {
    // Otherwise Kong would remove the header with the policy of the caller.
    const values = ['-', 'keep-alive', 'close', 'Upgrade, HTTP2-Settings', 'TE,trailers', 'X-Purge-Policy'];
    values.push('keep-alive,x-purge-policy', ' , NGSILD-Tenant', 'Connection', 'keep-alive;X-Purge-Policy');
    for (const service of [OPEN, WITH_TOKEN]) {
      const { access } = pluginOf(service, 'pre-function').config as { access: readonly string[] };
      assert.equal(access.length, 1);
      const folder = mkdtempSync(join(tmpdir(), 'lua-'));
      const program = join(folder, 'program.lua');
      writeFileSync(program, PROGRAM);
      const output = execFileSync(luajit ?? '', [program, access[0] ?? ''], {
        input: values.join('\n'),
        encoding: 'utf8',
      });
      rmSync(folder, { recursive: true });
      const expected = values.map((value) => (value === '-' || isPlainConnection(value) ? '0' : '400'));
      assert.deepEqual(output.trim().split('\n'), expected);
      assert.equal(expected.filter((status) => status === '400').length, 5);
    }
  },
);

it('kong-plugin-free.yml limits a caller by a policy that the sidecar can read, and removes all fields that the service removes', () => {
  const service = transformationOf(pluginOf(WITH_TOKEN, 'request-transformer'));
  assert.ok(plugins.length > 0);
  for (const plugin of plugins) {
    assert.ok(consumers.some(({ username }) => username === plugin.consumer));
    assert.deepEqual([plugin.name, plugin.service], ['request-transformer', WITH_TOKEN]);
    const own = transformationOf(plugin);
    assert.deepEqual(own.remove, service.remove);
    const [token, policy = '', ...more] = own.add?.headers ?? [];
    assert.deepEqual([token, more], [TOKEN, []]);
    const [, value = ''] = /^X-Purge-Policy:(.*)$/.exec(policy) ?? [];
    assert.deepEqual(parsePurgePolicy(value), { maxAffected: 1000, dryRunOnly: true });
  }
});

/** The fields in Kong 3.10's schemas of these plugins, as far as they are used here. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  'pre-function': ['access'],
  'correlation-id': ['header_name', 'generator', 'echo_downstream'],
  'key-auth': ['key_names', 'hide_credentials', 'anonymous', 'key_in_header', 'key_in_query', 'key_in_body'],
  acl: ['allow', 'deny', 'hide_groups_header'],
  'rate-limiting': ['second', 'minute', 'hour', 'day', 'limit_by', 'policy'],
  'request-transformer': ['remove', 'rename', 'replace', 'add', 'append'],
};

it('kong-plugin-free.yml uses only plugins that come with Kong, and existing fields', () => {
  const routes = services.flatMap((service) => service.routes);
  const all = [...services, ...routes].flatMap((holder) => holder.plugins ?? []);
  for (const { name, config } of [...all, ...plugins]) {
    for (const field of Object.keys(config)) assert.ok(FIELDS[name]?.includes(field), `${name} ${field}`);
    if (name !== 'request-transformer') continue;
    const { remove, add } = config as unknown as Transformation;
    for (const header of remove.headers) assert.match(header, /^[a-zA-Z0-9-_]+$/);
    for (const header of add?.headers ?? []) assert.match(header, /^[a-zA-Z0-9-_]+:.+$/);
  }
  for (const route of routes)
    assert.deepEqual([route.strip_path, route.preserve_host], [false, true], route.name);
});
