import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { join } from 'node:path';
import { parse } from 'yaml';
import {
  fieldDefinitions,
  parseConfig,
  type FieldDefinition,
} from '../../kong-plugins/ngsi-ld-purge/config-schema.js';
import { Plugin } from '../../kong-plugins/ngsi-ld-purge/index.js';
import { FakeKong, type FakeRequest } from '../support/fake-pdk.js';
import { readKongFile, routeOf, type KongRoute } from '../support/kong-router.js';
import { ROOT } from '../support/project.js';

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const page = read('docs/kong.md');

it('docs/kong.md lists exactly the fields of the configuration, with type and default', () => {
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (string|integer|boolean)(, required)? \| (\S*) ?\|/gm)];
  assert.deepEqual(
    rows.map(([, name, type, required, value]) => [name, type, required !== undefined, value]),
    Object.entries<FieldDefinition>(fieldDefinitions).map(([name, field]) => {
      const value = 'default' in field ? String(field.default) : undefined;
      const demanded = field.required === true && value === undefined;
      return [name, field.type, demanded, value ?? (demanded ? '' : 'none')];
    }),
  );
});

it('docs/kong.md lists every route of kong.yml, with its service and whether the plugin is enabled for the route', () => {
  const { services } = readKongFile(read('kong.yml'));
  assert.ok(services.some(({ routes }) => routes.length > 0));
  for (const service of services) {
    for (const route of service.routes) {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${route.name}\` |`)) ?? '';
      assert.match(
        row,
        new RegExp(
          `${service.name.replace('ngsi-ld-', '')}(\\*\\*)? \\| ${route.plugins ? 'yes' : 'none'} \\|$`,
        ),
        route.name,
      );
    }
  }
});

it('docs/kong.md states the actual number of round trips for each kind of request', async () => {
  const rows = [...page.matchAll(/^\| (?!Request)(.+?) \| .+ \| (?:(\d+) to )?(\d+) \|$/gm)];
  const policies = [{}, { gateway_token: 'the-secret' }, { gateway_token: 'the-secret', max_affected: 1 }];
  const tripsOf = async (request: FakeRequest, vouches: boolean): Promise<readonly number[]> => {
    const counts = policies.map(async (policy) => {
      const kong = new FakeKong(request);
      await new Plugin({ sidecar_host: 'sidecar', vouch_for_writes: vouches, ...policy }).access(kong.pdk);
      // Kong never replies to an exit.
      return kong.methods.filter((method) => method !== 'response.exit').length;
    });
    return Promise.all(counts);
  };
  const kinds: readonly (readonly [start: string, ...requests: FakeRequest[]])[] = [
    [
      'write under `/ngsi-ld`',
      { method: 'POST', rawPath: '/ngsi-ld/v1/entities/urn:x:1/attrs' },
      { rawPath: '/ngsi-ld/v1/entities/urn:x:1/attrs/a' },
    ],
    ['DELETE, exactly a collection', {}],
    ['write under `/api/v2`', { method: 'POST', rawPath: '/api/v2/domains' }],
    ['DELETE of a collection that', { rawPath: '//ngsi-ld/v1/entities', path: '/ngsi-ld/v1/entities' }],
    ['DELETE of exactly one resource', { rawPath: '/ngsi-ld/v1/entities/urn:x:1' }],
    ['any other DELETE under', { rawPath: '/ngsi-ld/v1/entities;x' }],
    ['anything else', { method: 'GET' }, { method: 'GET', rawPath: '/ngsi-ld/v1/entities/urn:x:1' }],
  ];
  assert.equal(rows.length, kinds.length);
  for (const [index, [start, ...requests]] of kinds.entries()) {
    const [, title = '', least, most = ''] = rows[index] ?? [];
    assert.ok(title.startsWith(start), title);
    const vouches = title.includes('`vouch_for_writes`');
    const trips = (await Promise.all(requests.map((request) => tripsOf(request, vouches)))).flat();
    assert.deepEqual([Math.min(...trips), Math.max(...trips)], [Number(least ?? most), Number(most)], title);
  }
});

it('the restriction of docs/kong.md to dry runs refuses every request that may delete something, and no other', () => {
  const [, routes = '', plugins = ''] =
    /### Allow only dry runs[^]*?```yaml\n([^]*?)```[^]*?```yaml\n([^]*?)```/.exec(page) ?? [];
  const written = parse(plugins) as {
    plugins: { name: string; consumer: string; route?: string; config: object }[];
  };
  const ended = written.plugins
    .filter(({ name }) => name === 'request-termination')
    .map(({ route }) => route);
  for (const { consumer } of written.plugins) assert.equal(consumer, 'trainee');
  const own = written.plugins.find(({ name }) => name === 'ngsi-ld-purge');
  assert.ok(own !== undefined && parseConfig(own.config).ok && own.route === undefined);
  const services = readKongFile(read('kong.yml')).services.map((service) =>
    service.name === 'ngsi-ld-broker'
      ? {
          ...service,
          routes: [
            ...service.routes.map((route) =>
              route.name === 'ngsi-ld' ? { ...route, methods: ['GET', 'HEAD', 'OPTIONS'] } : route,
            ),
            ...(parse(routes) as KongRoute[]),
          ],
        }
      : service,
  );
  const isEnded = (method: string, path: string) =>
    ended.includes(routeOf(services, method, path)?.route.name);
  for (const [method, path] of [
    ['DELETE', '/ngsi-ld/v1/entities/urn:x:1'],
    ['DELETE', '/ngsi-ld/v1/entities/urn:x:1/attrs/speed'],
    ['DELETE', '/ngsi-ld/v1/entities/http%3A%2F%2Fexample.org%2Fcar'],
    ['DELETE', '/ngsi-ld/v1/subscriptions/urn:x:1'],
    ['POST', '/ngsi-ld/v1/entityOperations/delete'],
    ['POST', '/ngsi-ld/v1//EntityOperations/delete/'],
    ['PATCH', '/ngsi-ld/v1/entities/urn:x:1'],
    ['PUT', '/ngsi-ld/v1/entities/urn:x:1'],
  ] as const)
    assert.ok(isEnded(method, path), `${method} ${path}`);
  for (const [method, path] of [
    ['DELETE', '/ngsi-ld/v1/entities?type=Car&dryRun=true'],
    ['GET', '/ngsi-ld/v1/entities?type=Car'],
    ['POST', '/api/v2/purges'],
  ] as const)
    assert.ok(!isEnded(method, path), `${method} ${path}`);
});

it('docs/kong.md has a startup probe for Kubernetes that succeeds once the plugin adds the token', () => {
  const [, probes = ''] = /### When it is ready[^]*?```yaml\n([^]*?)```/.exec(page) ?? [];
  const { startupProbe, readinessProbe } = parse(probes) as Record<
    'startupProbe' | 'readinessProbe',
    { httpGet: { path: string } }
  >;
  const { services } = readKongFile(read('kong.yml'));
  const asked = startupProbe.httpGet.path;
  assert.equal(routeOf(services, 'GET', asked)?.route.plugins?.[0]?.name, 'ngsi-ld-purge');
  assert.ok(read('docker-compose.yml').includes(`${asked}'`), 'as the health check of the stack does');
  assert.equal(readinessProbe.httpGet.path, '/status/ready');
});

it('docs/kong.md turns kong.yml into a file that decK limits to its own tag', () => {
  const [, from = '', to = ''] = /^sed 's\/(.+?)\/(.+?)\/' kong\.yml/m.exec(page) ?? [];
  const forKong = read('kong.yml');
  const forDeck = forKong.replace(new RegExp(from, 'gm'), to);
  // decK refuses a file with a _comment, and Kong without a database refuses a file with an _info.
  const { _comment: comment, ...rest } = parse(forKong) as Record<string, unknown>;
  assert.equal(typeof comment, 'string');
  assert.ok(!('_info' in rest));
  assert.deepEqual(parse(forDeck), { ...rest, _info: { select_tags: ['ngsi-ld-gateway'] } });
});

it('docs/kong.md names every problem with which the plugin answers', () => {
  const source = read('kong-plugins/ngsi-ld-purge/problem.ts');
  const names = Array.from(
    source.matchAll(/(?:\$\{TYPE\}|\/errors\/)([A-Za-z-]+)/g),
    ([, name = '']) => name,
  );
  assert.ok(names.length > 0);
  for (const name of names) assert.ok(page.includes(name), name);
});

it('docs/kong.md quotes every message that the plugin writes to the log of Kong', async () => {
  const quoted = [...page.matchAll(/\*(ngsi-ld-purge [a-z ]+) …\*/g)].map(([, start = '']) => start);
  const unprepared = new FakeKong().trouble('service.setTarget', { kind: 'throw' });
  await new Plugin({ sidecar_host: 'sidecar' }).access(unprepared.pdk);
  const misconfigured = new FakeKong();
  await new Plugin({}).access(misconfigured.pdk);
  for (const kong of [unprepared, misconfigured]) {
    const [message] = kong.calls.filter((call) => call.method === 'log.err').flatMap((call) => call.args);
    assert.ok(
      quoted.some((start) => String(message).startsWith(start)),
      String(message),
    );
  }
});
