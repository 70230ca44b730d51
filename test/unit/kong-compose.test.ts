import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { it } from 'node:test';
import { parse } from 'yaml';
import { misspeltNames } from '../../sidecar/shared/config/misspelt-names.js';
import { settings } from '../../sidecar/shared/config/settings.js';
import { Plugin } from '../../kong-plugins/ngsi-ld-purge/index.js';
import { FakeKong } from '../support/fake-pdk.js';
import { readKongFile, routeOf } from '../support/kong-router.js';
import { ROOT } from '../support/project.js';
import { words } from '../support/words.js';
import { listening } from '../support/listening.js';
import { temporaryFolder } from '../support/temporary-folder.js';

interface Dependency {
  readonly condition: string;
  readonly required?: boolean;
}

interface ComposeService {
  readonly image?: string;
  readonly profiles?: readonly string[];
  readonly ports?: readonly string[];
  readonly env_file?: readonly { readonly path: string; readonly required: boolean }[];
  readonly environment?: Readonly<Record<string, string | number | null>>;
  readonly stop_grace_period?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly read_only?: boolean;
  readonly depends_on?: Readonly<Record<string, Dependency>> | readonly string[];
  readonly networks?: Readonly<Record<string, { readonly aliases: readonly string[] }>>;
  readonly volumes?: readonly string[];
  readonly command?: string | readonly string[];
  readonly restart?: string;
}

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, ComposeService>;
};
const services = Object.entries(compose.services);
const kong = compose.services['kong'];
const sidecar = compose.services['sidecar'];
const names = ['sidecar', 'sidecar-2', 'sidecar-3'];
const sidecars = names.map((name) => compose.services[name] ?? assert.fail(name));
const { postgres, migrate } = compose.services;
const seconds = (period: string | undefined): number => Number(/^(\d+)s$/.exec(period ?? '')?.[1]);

it('docker-compose.yml requires the token, uses the same one for Kong and the sidecar, and has no default', () => {
  for (const service of [kong, sidecar])
    assert.match(String(service?.environment?.['GATEWAY_TOKEN']), /^\$\{GATEWAY_TOKEN:\?/);
  // Kong sends one token; while it is being replaced, the sidecar accepts two.
  assert.match(String(kong?.environment?.['GATEWAY_TOKEN']), /^[^}]*\}$/);
  assert.match(
    String(sidecar?.environment?.['GATEWAY_TOKEN']),
    /^[^}]*\}\$\{OLD_GATEWAY_TOKEN:\+,\$\{OLD_GATEWAY_TOKEN:-\}\}$/,
  );
  assert.match(read('.env.example'), /^# OLD_GATEWAY_TOKEN=$/m);
  assert.match(read('.env.example'), /^GATEWAY_TOKEN=$/m);
});

it('docker-compose.yml passes every setting in .env to the sidecars, whatever its name', () => {
  for (const service of [...sidecars, migrate])
    assert.deepEqual(service?.env_file, [{ path: '.env', required: false }]);
  assert.equal(kong?.env_file, undefined);
  // Settings that are fixed here, or composed of several variables.
  assert.deepEqual(
    Object.keys(sidecar?.environment ?? {}).filter((name) => name in settings),
    words('HOST PORT BROKER_URL GATEWAY_TOKEN DATABASE_PATH SHUTDOWN_GRACE_MS INSTANCE_NAME'),
  );
});

it('the sidecar takes no variable of .env.example for a misspelled setting', () => {
  const named = [...read('.env.example').matchAll(/^(?:# )?([A-Z][A-Z_]+)=/gm)].map(([, name = '']) => [
    name,
    'x',
  ]);
  assert.ok(named.length >= 20);
  assert.deepEqual(misspeltNames(Object.fromEntries(named) as Record<string, string>), []);
});

it('docker-compose.yml gives Kong and the sidecar the same broker', () => {
  assert.equal(kong?.environment?.['BROKER_URL'], sidecar?.environment?.['BROKER_URL']);
});

it('docker-compose.yml does not start without a choice of broker, and .env.example offers each choice', () => {
  assert.match(read('docker-compose.yml'), /\$\{COMPOSE_PROFILES\?/);
  const offered = [
    ...read('.env.example').matchAll(
      /^(?:# )?COMPOSE_PROFILES=(\S+)\n(?:# )?BROKER_URL=http:\/\/([a-z-]+):\d+$/gm,
    ),
  ];
  assert.deepEqual(
    offered.map(([, profile]) => profile).sort(),
    [...new Set(services.flatMap(([, service]) => service.profiles ?? []))]
      .filter((profile) => profile !== 'ha')
      .sort(),
  );
  for (const [, profile = '', host = ''] of offered)
    assert.deepEqual(compose.services[host]?.profiles, [profile], host);
});

it('docker-compose.yml pins every image to a version', () => {
  const images = services.map(([, service]) => service.image ?? '');
  const bases = ['kong-plugins/Dockerfile', 'sidecar/Dockerfile'].flatMap((name) =>
    [...read(name).matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image),
  );
  for (const image of [...images, ...bases]) assert.match(image, /:[a-z-]*\d+\.\d+|:16-/, image);
  for (const image of [...images, ...bases]) assert.doesNotMatch(image, /latest/);
});

it('docker-compose.yml publishes only Kong, by default on the loopback address', () => {
  const published = services.filter(([, service]) => service.ports !== undefined);
  assert.deepEqual(
    published.map(([name, service]) => [name, service.ports]),
    [['kong', ['${KONG_BIND:-127.0.0.1}:${KONG_PORT:-8000}:8000']]],
  );
  assert.equal(kong?.environment?.['KONG_ADMIN_LISTEN'], 'off');
});

it('docker-compose.yml gives a stopping sidecar more time than the sidecar needs', () => {
  const graceMs = Number(sidecar?.environment?.['SHUTDOWN_GRACE_MS']);
  // Two more seconds for the last answers, and five for closing, see sidecar/graceful-shutdown.ts.
  assert.ok(seconds(sidecar?.stop_grace_period) * 1000 > graceMs + 7000);
  assert.ok(seconds(kong?.stop_grace_period) * 1000 > graceMs + 7000);
});

it('docker-compose.yml loads the plugin with a plugin server, by absolute paths and the socket of that server', () => {
  const environment = kong?.environment ?? {};
  assert.equal(environment['KONG_DATABASE'], 'off');
  assert.equal(environment['KONG_PLUGINS'], 'bundled,ngsi-ld-purge');
  assert.equal(environment['KONG_PLUGINSERVER_NAMES'], 'js');
  const start = String(environment['KONG_PLUGINSERVER_JS_START_CMD']);
  const query = String(environment['KONG_PLUGINSERVER_JS_QUERY_CMD']);
  const option = (command: string, name: string): string =>
    new RegExp(`--${name} (\\S+)`).exec(command)?.[1] ?? '';
  for (const command of [start, query]) {
    // Set by an option, because nginx clears the environment.
    assert.match(
      command,
      /^\/usr\/local\/bin\/node --max-old-space-size=96 \/opt\/kong-js\/kong-pluginserver\.mjs /,
    );
    assert.ok(read('docs/kong.md').includes('/node --max-old-space-size=96 /'));
    assert.equal(option(command, 'plugins-directory'), '/opt/kong-plugins');
  }
  assert.match(query, /--dump-all-plugins$/);
  assert.equal(
    environment['KONG_PLUGINSERVER_JS_SOCKET'],
    `${option(start, 'kong-prefix')}/${option(start, 'sock-name')}`,
  );
  assert.match(
    read('kong-plugins/Dockerfile'),
    /COPY --from=plugin \/build\/dist\/kong-plugins \/opt\/kong-plugins/,
  );
  assert.match(
    read('kong-plugins/Dockerfile'),
    /COPY .*\/build\/dist\/kong-pluginserver\.mjs \/opt\/kong-js\/kong-pluginserver\.mjs/,
  );
  assert.ok(!('KONG_UNTRUSTED_LUA' in environment));
});

it('docker-compose.yml runs both of our images read-only', () => {
  for (const service of [kong, sidecar]) assert.equal(service?.read_only, true);
});

it('docker-compose.yml considers Kong healthy only while the plugin adds the token to a request', async () => {
  const [kind, program, option, script = ''] = kong?.healthcheck?.test ?? [];
  assert.deepEqual([kind, program, option], ['CMD', 'node', '-e']);
  const [, path = ''] = /'http:\/\/127\.0\.0\.1:8000(\/[^']*)'/.exec(script) ?? [];
  const { services: routed } = readKongFile(read('kong.yml'));
  assert.equal(
    routeOf(routed, 'GET', path)?.route.plugins?.[0]?.name,
    'ngsi-ld-purge',
    'by way of the plugin',
  );
  const asked = new FakeKong({ method: 'GET', rawPath: path.split('?')[0] ?? '' });
  await new Plugin({ sidecar_host: 'sidecar', gateway_token: 'the-secret' }).access(asked.pdk);
  assert.equal(asked.outcome.headers.get('x-gateway-token'), 'the-secret', 'which the sidecar demands');
  let status = 200;
  const server = createServer((_request, response) => response.writeHead(status).end());
  const { port, close } = await listening(server);
  const ask = async (): Promise<number | null> => {
    const child = execFile(process.execPath, ['-e', script.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${port}`)]);
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  };
  assert.equal(await ask(), 0);
  for (status of [401, 500, 503]) assert.equal(await ask(), 1);
  await close();
  assert.equal(await ask(), 1);
});

it('docker-compose.yml lets Kong accept request lines as long as the sidecar accepts, and links that repeat them', () => {
  const [, taken = ''] = /HEADERS_MAX_BYTES = (\d+) \* 1024/.exec(read('sidecar/http/app.ts')) ?? [];
  const { environment = {} } = kong ?? {};
  assert.equal(environment['KONG_NGINX_HTTP_LARGE_CLIENT_HEADER_BUFFERS'], `4 ${taken}k`);
  assert.equal(environment['KONG_NGINX_PROXY_PROXY_BUFFER_SIZE'], `${taken}k`);
  assert.equal(environment['KONG_NGINX_PROXY_PROXY_BUFFERS'], `4 ${taken}k`);
});

const variable = (service: ComposeService | undefined, name: string) => service?.environment?.[name];

it('the profile ha adds two sidecars and PostgreSQL to the default sidecar', () => {
  const added = services.filter(([, { profiles }]) => profiles?.includes('ha') === true);
  assert.deepEqual(
    added.map(([name]) => name),
    ['sidecar-2', 'sidecar-3', 'migrate', 'postgres'],
  );
  assert.equal(sidecar?.profiles, undefined);
});

it('the sidecars of the profile ha differ only in their names, which records of purges show', () => {
  assert.deepEqual(
    sidecars.map((service) => variable(service, 'INSTANCE_NAME')),
    ['${INSTANCE_NAME:-sidecar}', 'sidecar-2', 'sidecar-3'],
  );
  const shared = sidecars.map(({ environment }) => ({ ...environment, INSTANCE_NAME: '', DATABASE_URL: '' }));
  for (const environment of shared) assert.deepEqual(environment, shared[0]);
  for (const { image, read_only, stop_grace_period, volumes } of sidecars)
    assert.deepEqual(
      [image, read_only, stop_grace_period, volumes],
      [sidecar?.image, true, sidecar?.stop_grace_period, sidecar?.volumes],
    );
});

it('the sidecars of the profile ha have the host name that the upstream of kong.yml balances', () => {
  const [upstream] = readKongFile(read('kong.yml')).upstreams;
  for (const service of sidecars.slice(1))
    assert.deepEqual(service.networks, { default: { aliases: [upstream?.name] } });
  assert.ok(Number(variable(kong, 'KONG_DNS_VALID_TTL')) <= 10, 'changes of addresses are seen soon');
});

it('no sidecar of the profile ha can use SQLite, whose file another sidecar would use', () => {
  for (const service of [...sidecars.slice(1), migrate]) {
    const [, fallback = ''] =
      /^\$\{DATABASE_URL:-(.+)\}$/.exec(String(variable(service, 'DATABASE_URL'))) ?? [];
    assert.throws(() => settings.DATABASE_URL.parse(fallback), /must be a URL/);
  }
});

it('the sidecars start after the migrations and Kong after the sidecars, and services that are not in the profile are optional', () => {
  const migrated = { condition: 'service_completed_successfully' };
  assert.deepEqual(sidecar?.depends_on, { migrate: { ...migrated, required: false } });
  for (const service of sidecars.slice(1)) assert.deepEqual(service.depends_on, { migrate: migrated });
  const healthy = { condition: 'service_healthy' };
  assert.deepEqual(migrate?.depends_on, { postgres: healthy });
  assert.deepEqual([migrate.command, migrate.restart], [['node', 'dist/cli.js', 'migrate'], 'no']);
  assert.deepEqual(kong?.depends_on, {
    sidecar: healthy,
    'sidecar-2': { ...healthy, required: false },
    'sidecar-3': { ...healthy, required: false },
  });
});

it('PostgreSQL keeps its data in a volume, and its password only in .env', () => {
  assert.deepEqual(postgres?.volumes, ['postgres-data:/var/lib/postgresql/data']);
  assert.equal(variable(postgres, 'POSTGRES_PASSWORD'), '${POSTGRES_PASSWORD:-}');
  for (const service of [...sidecars, migrate])
    assert.equal(variable(service, 'PGPASSWORD'), '${POSTGRES_PASSWORD:-}');
  assert.match(read('.env.example'), /^# POSTGRES_PASSWORD=$/m);
  const [, url = ''] = /^# DATABASE_URL=(postgres:\/\/\S+@postgres\/\S+)$/m.exec(read('.env.example')) ?? [];
  const { username, password, hostname, pathname } = new URL(url);
  assert.deepEqual(
    [username, password, hostname, pathname],
    [variable(postgres, 'POSTGRES_USER'), '', 'postgres', `/${String(variable(postgres, 'POSTGRES_DB'))}`],
  );
});

const run = (url: string | undefined): { status: number | null; written: string; stderr: string } => {
  const target = join(temporaryFolder(), 'kong.yml');
  const { status, stderr } = spawnSync(
    'bash',
    [join(ROOT, 'kong-plugins/docker-entrypoint.sh'), 'kong', 'docker-start'],
    {
      env: {
        PATH: process.env['PATH'],
        KONG_YML_TEMPLATE: join(ROOT, 'kong.yml'),
        KONG_DECLARATIVE_CONFIG: target,
        KONG_ENTRYPOINT: '/bin/true',
        ...(url === undefined ? {} : { BROKER_URL: url }),
      },
    },
  );
  return { status, written: status === 0 ? readFileSync(target, 'utf8') : '', stderr: stderr.toString() };
};

it('the entry point of the Kong image changes only the broker’s URL in kong.yml', () => {
  for (const url of words(`
    http://scorpio:9090 https://broker.example/ngsi http://10.0.0.7:1026/ http://broker
    http://broker:65535/ngsi-ldx
  `)) {
    const { status, written } = run(url);
    assert.equal(status, 0, url);
    assert.equal(
      written,
      read('kong.yml').replace('url: http://broker:1026', `url: ${url.replace(/\/$/, '')}`),
    );
  }
});

it('the entry point of the Kong image never starts Kong with an invalid URL, or with a URL that could inject text into the file', () => {
  for (const url of [
    undefined,
    '',
    'broker:1026',
    'http://a b',
    'http://a#x',
    'http://a\n    url: http://b',
    'http://a&b',
    'http://a/..%2f',
  ]) {
    assert.notEqual(run(url).status, 0, String(url));
  }
});

it('the entry point of the Kong image refuses a URL that leads nowhere, and names the mistake', () => {
  for (const [url, message] of [
    ['http://broker:99999', /BROKER_URL has no valid port: 99999 is not between 1 and 65535/],
    ['http://broker:0', /BROKER_URL has no valid port/],
    ['http://broker:1026/ngsi-ld/v1', /BROKER_URL must be the base URL of the broker, without \/ngsi-ld\/v1/],
    ['http://broker:1026/ngsi-ld/v1/', /without \/ngsi-ld\/v1/],
    ['https://broker.example/a/ngsi-ld', /without \/ngsi-ld\/v1/],
    ['broker:1026', /BROKER_URL is not a base URL/],
  ] as const) {
    const { status, stderr } = run(url);
    assert.notEqual(status, 0, url);
    assert.match(stderr, message);
  }
});
