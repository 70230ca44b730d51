import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { parse } from 'yaml';
import { fieldDefinitions, parseConfig } from '../../kong-plugins/ngsi-ld-purge/config-schema.js';
import { resourcePatterns } from '../../kong-plugins/ngsi-ld-purge/path.js';
import { classifyRequest } from '../../sidecar/ngsi-ld/request-path.js';
import { classifyWrite } from '../../sidecar/ngsi-ld/write-route.js';
import { normalizePath, readKongFile, routeOf } from '../support/kong-router.js';
import { ROOT } from '../support/project.js';
import { runs } from '../support/thoroughness.js';
import { words } from '../support/words.js';

const { services, upstreams } = readKongFile(readFileSync(join(ROOT, 'kong.yml'), 'utf8'));
const routes = services.flatMap((service) => service.routes);

/** The service to which a request is sent, and whether the plugin handles the request. */
function target(method: string, path: string): string {
  const routed = routeOf(services, method, path);
  if (routed === undefined) return 'none';
  return (
    routed.service.name.replace(/^ngsi-ld-|-read$/g, '') +
    (routed.route.plugins === undefined ? '' : ' by plugin')
  );
}

const cases: [string, string][] = [
  ['/a/b', '/a/b'],
  ['/a//b///c', '/a/b/c'],
  ['/a/./b/../c', '/a/c'],
  ['/a/b/..', '/a/'],
  ['/a/b/.', '/a/b/'],
  ['/..', '/'],
  ['/../../a', '/a'],
  ['/%61/%2e%2E/b', '/b'],
  ['/a%2Fb%3a%20c%C3%A4', '/a%2Fb%3A c\u00c3\u00a4'],
  ['/a%252e', '/a%252e'],
  ['/a?x=/../b', '/a'],
  ['/a/', '/a/'],
  ['//', '/'],
];
it('normalisation as in Kong resolves dot segments, double slashes and unreserved characters, and keeps reserved ones encoded', () => {
  for (const [raw, normal] of cases) assert.equal(normalizePath(raw), normal, raw);
});

const collections = ['entities', 'entities/', 'temporal/entities', 'temporal/entities/'].map(
  (path) => `/ngsi-ld/v1/${path}`,
);

it('kong.yml sends a DELETE of a collection through the plugin to the sidecar', () => {
  for (const path of collections) {
    assert.equal(routeOf(services, 'DELETE', path)?.route.name, 'ngsi-ld-purge', path);
    assert.equal(
      routeOf(services, 'DELETE', `${path}?type=Car&q=speed>50`)?.route.name,
      'ngsi-ld-purge',
      path,
    );
  }
});

it('kong.yml never sends a DELETE to the broker whose path might be more than one resource', () => {
  const hostile = words(`
    /ngsi-ld/v1//entities //ngsi-ld/v1/entities /ngsi-ld/v1/entities// /ngsi-ld/v1/./entities
    /ngsi-ld/v1/entities/. /ngsi-ld/v1/entities/urn:x/.. /ngsi-ld/v1/entities/urn:x/%2e%2e
    /ngsi-ld/v1/entities/%2e%2E/entities /ngsi-ld/v1/types/../entities /ngsi-ld/v1/%65ntities
    /ngsi-ld/v1/%2565ntities /ngsi-ld%2Fv1%2Fentities /ngsi-ld/v1/entities%2F /ngsi-ld/v1/entities/%2F
    /ngsi-ld/v1/entities/urn:x%2F.. /ngsi-ld/v1/entities/urn:x%2F%2e%2e
    /ngsi-ld/v1/entities/urn:x%2F..%2F..%2Fentities /ngsi-ld/v1/entities/urn:x%252F..
    /ngsi-ld/v1/entities/urn:x%5C.. /ngsi-ld/v1/entities/urn:x\\.. /ngsi-ld/v1/entities/%3Ftype=Car
    /ngsi-ld/v1/entities/urn:x%3F /ngsi-ld/v1/entities/urn:x%23 /ngsi-ld/v1/entities/urn:x#
    /ngsi-ld/v1/entities;v=1 /ngsi-ld/v1/entities;/urn:x /ngsi-ld/v1/entities/urn:x;y
    /ngsi-ld/v1/entities/urn:x%3By /ngsi-ld/v1\\entities /ngsi-ld/v1/Entities /ngsi-ld/v1/entities%00
    /ngsi-ld/v1/entities/%00 /ngsi-ld/v1/entities/urn:x%00 /ngsi-ld/v1/entities/urn:x%0A
    /ngsi-ld/v1/entities/urn:x%20 /ngsi-ld/v1/entities/urn:* /ngsi-ld/v1/entities/*
    /ngsi-ld/v1/entities/urn:a,urn:b /ngsi-ld/v1/entities/urn:a%2Curn:b /ngsi-ld/v1/entities/null
    /ngsi-ld/v1/entities/.json /ngsi-ld/v1/entities/urn:x/attrs/a,b /ngsi-ld/v1/subscriptions/null
    /ngsi-ld/v1/entities/urn:x/ /ngsi-ld/v1/entities/urn:x/attrs /ngsi-ld/v1/entities/urn:x/attrs/
    /ngsi-ld/v1/entities/urn:x/attrs/%2e%2e%2F.. /ngsi-ld/v1/entities/urn:ä /ngsi-ld/v1/entities/name
    /ngsi-ld/v1/entityOperations/delete /ngsi-ld/v1/subscriptions /ngsi-ld/v1/subscriptions/
    /ngsi-ld/v1/csourceRegistrations/?id=urn:x /ngsi-ld/v1/snapshots /ngsi-ld/v1/snapshots?q=a
    /ngsi-ld/v1/jsonldContexts/ /ngsi-ld/v1/types/Car /ngsi-ld/v1 /ngsi-ld/ /ngsi-ld
    /ngsi-ld/v2/entities/urn:x /ngsi-ld/ex/v1/entities/urn:x /ngsi-ldx
  `);
  for (const path of hostile) {
    if (normalizePath(path) !== '/v1/entities')
      assert.equal(target('DELETE', path), 'sidecar by plugin', path);
  }
});

it('kong.yml has no route for a DELETE outside /ngsi-ld and /api/v2, in whatever case or form', () => {
  for (const path of words(`
      / /NGSI-LD/v1/entities /ngsi-ld/../v1/entities /v2/entities /%2Fngsi-ld/v1/entities *
    `)) {
    assert.equal(target('DELETE', path), 'none', path);
  }
});

it('kong.yml sends a DELETE of exactly one resource to the broker, without a plugin', () => {
  const single = words(`
    /ngsi-ld/v1/entities/urn:ngsi-ld:Car:1 /ngsi-ld/v1/entities/urn%3Angsi-ld%3acar%3A1?type=Car
    /ngsi-ld/v1/entities/urn:ngsi-ld:Car:1/attrs/speed?deleteAll=true
    /ngsi-ld/v1//entities/urn:ngsi-ld:Car:1 /ngsi-ld/v1/temporal/entities/urn:ngsi-ld:Car:1
    /ngsi-ld/v1/temporal/entities/urn:ngsi-ld:Car:1/attrs/speed
    /ngsi-ld/v1/temporal/entities/urn:ngsi-ld:Car:1/attrs/speed/urn:ngsi-ld:Instance:9
    /ngsi-ld/v1/subscriptions/urn:ngsi-ld:Subscription:1
    /ngsi-ld/v1/csourceRegistrations/urn:ngsi-ld:ContextSourceRegistration:1
    /ngsi-ld/v1/csourceSubscriptions/urn:ngsi-ld:Subscription:1
    /ngsi-ld/v1/entityMaps/urn:ngsi-ld:entitymap:1 /ngsi-ld/v1/temporal/entityMaps/urn:ngsi-ld:entitymap:1
    /ngsi-ld/v1/snapshots/urn:ngsi-ld:Snapshot:1
    /ngsi-ld/v1/jsonldContexts/3fa85f64-5717-4562-b3fc-2c963f66afa6?reload=true
  `);
  for (const path of single) assert.equal(target('DELETE', path), 'broker', path);
});

/** The services of kong.yml with the block for checked writes enabled. */
function withCheckedWrites(): typeof services {
  const text = readFileSync(join(ROOT, 'kong.yml'), 'utf8');
  const start = text.indexOf('      # - name: ngsi-ld-write');
  const end = text.indexOf('\n\n', start);
  const on = text.slice(0, start) + text.slice(start, end).replaceAll(/^( {6})# /gm, '$1') + text.slice(end);
  return readKongFile(on).services;
}

it('kong.yml sends writes of entities, and nothing else, to the sidecar once their block is enabled', () => {
  const switchedOn = withCheckedWrites();
  const of = (method: string, path: string) =>
    routeOf(switchedOn, method, `/ngsi-ld/v1${path}`)?.service.name;
  const written = switchedOn.flatMap((service) =>
    service.routes.filter(({ name }) => name === 'ngsi-ld-write' || name === 'ngsi-ld-delete-attribute'),
  );
  const own = routes.flatMap((route) => route.plugins ?? [])[0]?.config;
  for (const { plugins = [] } of written)
    assert.deepEqual(plugins, [
      { name: 'request-transformer', config: { remove: { headers: ['X-Gateway-Token', 'X-Purge-Policy'] } } },
      { name: 'ngsi-ld-purge', config: { ...own, vouch_for_writes: true } },
    ]);
  assert.equal(written.length, 2);
  const id = 'urn:ngsi-ld:Car:1';
  for (const [method, path] of [
    ['POST', '/entities'],
    ['POST', '/entities/'],
    ['PUT', `/entities/${id}`],
    ['PATCH', `/entities/${id}`],
    ['POST', `/entities/${id}/attrs`],
    ['PATCH', `/entities/${id}/attrs/a`],
    ['DELETE', `/entities/${id}/attrs/a`],
    ['POST', '/entityOperations/upsert'],
    ['POST', '/temporal/entities'],
    ['POST', '/Entities'],
    ['POST', '/entities;x'],
    ['PATCH', `/temporal/entities/${id}/attrs/a/urn:i:1`],
  ] as const)
    assert.equal(of(method, path), 'ngsi-ld-sidecar', `${method} ${path}`);
  for (const path of words(`
    /v1%2Fentities %2fv1/entities /v1/%2565ntities ;x/v1/entities /v1;x/entities /ex/v1/notify
  `))
    assert.equal(routeOf(switchedOn, 'POST', `/ngsi-ld${path}`)?.service.name, 'ngsi-ld-sidecar', path);
  for (const [method, path] of [
    ['GET', '/entities'],
    ['GET', `/entities/${id}`],
    ['HEAD', '/entities'],
    ['OPTIONS', '/entities'],
    ['POST', '/subscriptions'],
    ['PATCH', '/subscriptions/urn:s:1'],
    ['POST', '/jsonldContexts'],
    ['DELETE', `/entities/${id}`],
  ] as const)
    assert.equal(of(method, path), 'ngsi-ld-broker', `${method} ${path}`);
  assert.equal(
    routes.some(({ name }) => name === 'ngsi-ld-write'),
    false,
    'off as shipped',
  );
});

it('kong.yml sends everything except DELETE to the broker, unchanged', () => {
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH']) {
    for (const path of [
      ...collections,
      '/ngsi-ld/v1/entityOperations/delete',
      '/ngsi-ld/v1/entities/http%3A%2F%2Fa',
    ]) {
      assert.equal(target(method, path), 'broker', `${method} ${path}`);
    }
  }
});

it('kong.yml sends requests for the schema service to the sidecar, writes through the plugin, and never as a purge', () => {
  assert.equal(target('GET', '/api/v2/domains'), 'sidecar');
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    assert.equal(target(method, '/api/v2/domains/d'), 'sidecar by plugin');
  assert.equal(
    routeOf(services, 'DELETE', '/ngsi-ld/../api/v2/domains/d')?.route.name,
    'schema-service-write',
  );
});

it('kong.yml lets the plugin vouch for reads of purges and retention policies, and for no others', () => {
  const guarded = words(`
      purges purges/ purges?state=running purges/1/events retention-policies/p/runs scans scans/1/entities?finding=0
    `);
  for (const method of ['GET', 'HEAD']) {
    for (const path of guarded)
      assert.equal(target(method, `/api/v2/${path}`), 'sidecar by plugin', `${method} ${path}`);
    for (const path of ['', '/domains', '/contexts/purges', '/openapi.json'])
      assert.equal(target(method, `/api/v2${path}`), 'sidecar', `${method} ${path}`);
  }
});

it('kong.yml serves the files of the console to be read only and without the token, and leaves all other paths to Kong', () => {
  const files = words(`
      /console /console/ /console/index.html /console/assets/main-a1.js /console/?a=1
    `);
  for (const path of files) {
    for (const method of ['GET', 'HEAD']) {
      assert.equal(routeOf(services, method, path)?.route.name, 'console', `${method} ${path}`);
      assert.equal(target(method, path), 'sidecar', `${method} ${path}`);
    }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      assert.equal(target(method, path), 'none', `${method} ${path}`);
  }
  for (const path of words(`
      / /consoles /consolex/ /Console/ /console%2F.. /health/ready /metrics
    `))
    assert.equal(target('GET', path), 'none', path);
  assert.equal(target('GET', '/console/../api/v2/purges'), 'sidecar by plugin');
  // The requests of the console behind Kong, to which the plugin adds the token.
  assert.equal(target('GET', '/api/v2/purges/1/events'), 'sidecar by plugin');
  assert.equal(target('GET', '/api/v2/status'), 'sidecar');
});

/** Pieces of paths that servers read in different ways. */
const PIECE = fc.constantFrom(
  '/',
  '//',
  'urn:x',
  'urn%3Ax',
  'attrs',
  'entities',
  'temporal',
  'a',
  '.',
  '..',
  '%2e',
  '%252e',
  '%2F',
  '%5C',
  '\\',
  '%25',
  '%3B',
  ';',
  '%3F',
  '#',
  '*',
  ',',
  '%00',
  '%0A',
  ' ',
  '%20',
  '%C0%AF',
  '\u00e4',
  '\uff0f',
  '~',
  '+',
  ':',
);
const TAIL = fc.array(PIECE, { maxLength: 8 }).map((all) => all.join(''));

it('kong.yml never sends a DELETE to the broker that the sidecar would not pass on as a single resource', () => {
  const head = fc.constantFrom(
    '/ngsi-ld/v1/entities',
    '/ngsi-ld/v1/entities/urn:x',
    '/ngsi-ld/v1/temporal/entities/urn:x/attrs/a',
    '/ngsi-ld/v1/subscriptions/',
    '/ngsi-ld/v1/jsonldContexts/',
    '/ngsi-ld/v1/',
    '/ngsi-ld',
  );
  let broker = 0;
  fc.assert(
    fc.property(head, TAIL, (start, rest) => {
      const routed = routeOf(services, 'DELETE', start + rest);
      assert.ok(
        routed === undefined || routed.service.name === 'ngsi-ld-sidecar' || isOne(routed.path),
        start + rest,
      );
      if (routed?.service.name !== 'ngsi-ld-broker') return;
      broker += 1;
      assert.deepEqual(classifyRequest('DELETE', routed.path), { kind: 'pass' }, start + rest);
    }),
    { numRuns: runs(800) },
  );
  assert.ok(broker > 30, 'too few of the paths were resources for this to say anything');
});

it('kong.yml sends whatever a server could read as a write of entities to the sidecar once their block is enabled', () => {
  const switchedOn = withCheckedWrites();
  const head = fc.constantFrom(
    '/ngsi-ld/v1/entities',
    '/ngsi-ld/v1/entityOperations/upsert',
    '/ngsi-ld/v1/temporal/entities',
    '/ngsi-ld/v1/Temporal/Entities',
    '/ngsi-ld/ex/v1/notify',
    '/ngsi-ld/v1/subscriptions',
    '/ngsi-ld/v1/jsonldContexts/',
    '/ngsi-ld/v1/jsonldContexts/..',
    '/ngsi-ld/v1/',
    '/ngsi-ld/v1',
    '/ngsi-ld/',
    '/ngsi-ld',
  );
  let broker = 0;
  fc.assert(
    fc.property(fc.constantFrom('POST', 'PUT', 'PATCH'), head, TAIL, (method, start, rest) => {
      const routed = routeOf(switchedOn, method, start + rest);
      if (routed?.service.name !== 'ngsi-ld-broker') return;
      broker += 1;
      assert.equal(classifyWrite(method, routed.path), undefined, `${method} ${start}${rest}`);
    }),
    { numRuns: runs(1000) },
  );
  assert.ok(broker > 30, 'too few of the requests reached the broker for this to say anything');
});

it('kong.yml lets Kong repeat no request that may change something, and waits long enough for a purge', () => {
  assert.deepEqual(
    services.map(({ name, retries }) => [name, retries]),
    [
      ['ngsi-ld-broker', 0],
      ['ngsi-ld-sidecar', 0],
      ['ngsi-ld-sidecar-read', 1],
    ],
  );
  const [, sidecar, repeating] = services;
  assert.ok((sidecar?.read_timeout ?? 0) >= 600_000);
  const repeated = repeating?.routes.flatMap(({ methods }) => methods) ?? [];
  assert.deepEqual([...new Set(repeated)], ['GET', 'HEAD', 'OPTIONS']);
});

it('kong.yml balances requests to the sidecar, including those of the plugin, which names the same upstream', () => {
  const [upstream, ...more] = upstreams;
  assert.deepEqual(more, []);
  const plugins = routes.flatMap((route) => route.plugins ?? []);
  for (const { config } of plugins) assert.equal(config['sidecar_host'], upstream?.name);
  const balanced = services.filter(({ url }) => new URL(url).hostname === upstream?.name);
  assert.deepEqual(
    balanced.map(({ name }) => name),
    ['ngsi-ld-sidecar', 'ngsi-ld-sidecar-read'],
  );
  for (const { url } of balanced) assert.equal(upstream?.targets[0]?.target, new URL(url).host);
  for (const { config } of plugins)
    assert.equal(upstream?.targets[0]?.target, `sidecar:${String(config['sidecar_port'])}`);
});

it('kong.yml removes a sidecar that does not answer, but never because of its answers about the broker or the database', () => {
  for (const { healthchecks } of upstreams) {
    const { active, passive } = healthchecks;
    assert.equal(active.http_path, '/health/live');
    // 0 would switch them off.
    const counts: Readonly<Record<string, number>> = {
      ...active.unhealthy,
      successes: active.healthy.successes,
      'interval of checks': active.healthy.interval,
      'time-out': active.timeout,
    };
    for (const [name, count] of Object.entries(counts)) assert.ok(count > 0, name);
    assert.deepEqual(passive.unhealthy, { tcp_failures: 1, timeouts: 0, http_failures: 0 });
  }
});

it('kong.yml removes the headers between Kong and the sidecar from every request to the broker, however many headers it has', () => {
  const toBroker = services.filter(({ url }) => new URL(url).hostname === 'broker');
  assert.deepEqual(
    toBroker.map(({ name, plugins }) => [name, plugins]),
    [
      [
        'ngsi-ld-broker',
        [
          {
            name: 'request-transformer',
            config: { remove: { headers: ['X-Gateway-Token', 'X-Purge-Policy'] } },
          },
        ],
      ],
    ],
  );
  // A plugin of a route would replace the same plugin of its service.
  for (const route of toBroker.flatMap((service) => service.routes)) assert.equal(route.plugins, undefined);
  // Kong reads no more headers than that; nginx accepts 1000.
  const compose = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
    services: { kong: { environment: Record<string, string> } };
  };
  assert.equal(compose.services.kong.environment['KONG_LUA_MAX_REQ_HEADERS'], '1000');
});

it('kong.yml never strips or rewrites a path, and keeps the Host of the client', () => {
  for (const route of routes)
    assert.deepEqual([route.strip_path, route.preserve_host], [false, true], route.name);
});

it('kong.yml uses host names, not IP addresses, for the services to which the plugin may redirect requests', () => {
  for (const service of services) assert.match(new URL(service.url).hostname, /^[a-z]+$/);
});

it('kong.yml routes by exactly the patterns of the plugin, in a syntax that PCRE and Rust read alike', () => {
  const one = routes.find((route) => route.name === 'ngsi-ld-delete-one');
  assert.deepEqual(
    one?.paths,
    resourcePatterns.map((pattern) => `~${pattern}`),
  );
  for (const path of routes.flatMap((route) => route.paths ?? [])) {
    assert.doesNotMatch(
      path,
      /\(\?[^:]|\\|\{|[*+?][+?]/,
      'look-around, escapes, or what only one of them has',
    );
    assert.ok(!path.startsWith('~') || path.endsWith('$'), 'Kong anchors only the start');
    assert.ok(!path.startsWith('~') || !/[^:]\/\//.test(path), 'Kong refuses empty segments');
  }
});

it('kong.yml configures the plugin validly and equally on every route, with a reference instead of the token', () => {
  const plugins = routes.flatMap((route) => route.plugins ?? []);
  assert.equal(plugins.length, 4);
  for (const { name, config } of plugins) {
    assert.equal(name, 'ngsi-ld-purge');
    assert.deepEqual(config, plugins[0]?.config);
    assert.deepEqual(
      Object.keys(config).filter((field) => !(field in fieldDefinitions)),
      [],
    );
    assert.equal(config['gateway_token'], '{vault://env/gateway-token}');
    assert.deepEqual(parseConfig(config).ok, true);
  }
});

/** Whether a path is one resource, judged independently of the patterns: plain characters only, a known form, and a URI as id. */
function isOne(path: string): boolean {
  const text = path.replaceAll('%3A', ':');
  if (!/^[A-Za-z0-9._~:+/_-]*$/.test(text)) return false;
  const [empty, api, version, ...rest] = text.split('/');
  if (empty !== '' || api !== 'ngsi-ld' || version !== 'v1' || rest.some((segment) => /^\.*$/.test(segment)))
    return false;
  if (rest[0] === 'temporal') rest.shift();
  const [kind, id = '', attrs, attribute, instance, ...more] = rest;
  if (
    more.length > 0 ||
    (attrs !== undefined && (attrs !== 'attrs' || attribute === undefined || kind !== 'entities'))
  )
    return false;
  if (instance !== undefined && !instance.includes(':')) return false;
  return kind === 'jsonldContexts' || id.includes(':');
}
