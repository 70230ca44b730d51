import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { ROOT } from '../support/project.js';

interface ComposeService {
  readonly image?: string;
  readonly profiles?: readonly string[];
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number | null>>;
  readonly stop_grace_period?: string;
  readonly healthcheck?: unknown;
  readonly read_only?: boolean;
}

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, ComposeService>;
};
const services = Object.entries(compose.services);
const kong = compose.services['kong'];
const sidecar = compose.services['sidecar'];
const seconds = (period: string | undefined): number => Number(/^(\d+)s$/.exec(period ?? '')?.[1]);

describe('docker-compose.yml', () => {
  it('demands the token, the same for Kong and the sidecar, and never has one of its own', () => {
    for (const service of [kong, sidecar])
      assert.match(String(service?.environment?.['GATEWAY_TOKEN']), /^\$\{GATEWAY_TOKEN:\?/);
    assert.match(read('.env.example'), /^GATEWAY_TOKEN=$/m);
  });

  it('gives Kong and the sidecar the same broker', () => {
    assert.equal(kong?.environment?.['BROKER_URL'], sidecar?.environment?.['BROKER_URL']);
  });

  it('never starts without a choice of broker, and each choice is one that .env.example offers', () => {
    assert.match(read('docker-compose.yml'), /\$\{COMPOSE_PROFILES\?/);
    const offered = [
      ...read('.env.example').matchAll(
        /^(?:# )?COMPOSE_PROFILES=(\S+)\n(?:# )?BROKER_URL=http:\/\/([a-z-]+):\d+$/gm,
      ),
    ];
    assert.deepEqual(
      offered.map(([, profile]) => profile).sort(),
      [...new Set(services.flatMap(([, service]) => service.profiles ?? []))].sort(),
    );
    for (const [, profile = '', host = ''] of offered)
      assert.deepEqual(compose.services[host]?.profiles, [profile], host);
  });

  it('pins every image to a version', () => {
    const images = services.map(([, service]) => service.image ?? '');
    const bases = ['kong-plugins/Dockerfile', 'sidecar/Dockerfile'].flatMap((name) =>
      [...read(name).matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image),
    );
    for (const image of [...images, ...bases]) assert.match(image, /:[a-z-]*\d+\.\d+|:16-/, image);
    for (const image of [...images, ...bases]) assert.doesNotMatch(image, /latest/);
  });

  it('publishes Kong and nothing else, on the loopback address unless told otherwise', () => {
    const published = services.filter(([, service]) => service.ports !== undefined);
    assert.deepEqual(
      published.map(([name, service]) => [name, service.ports]),
      [['kong', ['${KONG_BIND:-127.0.0.1}:${KONG_PORT:-8000}:8000']]],
    );
    assert.equal(kong?.environment?.['KONG_ADMIN_LISTEN'], 'off');
  });

  it('gives a stopping sidecar more time than it takes', () => {
    const graceMs = Number(sidecar?.environment?.['SHUTDOWN_GRACE_MS']);
    assert.ok(seconds(sidecar?.stop_grace_period) * 1000 > graceMs);
    assert.ok(seconds(kong?.stop_grace_period) * 1000 > graceMs);
  });

  it('loads the plugin by a server of its own, every path absolute, and the socket where the server makes it', () => {
    const environment = kong?.environment ?? {};
    assert.equal(environment['KONG_DATABASE'], 'off');
    assert.equal(environment['KONG_PLUGINS'], 'bundled,ngsi-ld-purge');
    assert.equal(environment['KONG_PLUGINSERVER_NAMES'], 'js');
    const start = String(environment['KONG_PLUGINSERVER_JS_START_CMD']);
    const query = String(environment['KONG_PLUGINSERVER_JS_QUERY_CMD']);
    const option = (command: string, name: string): string =>
      new RegExp(`--${name} (\\S+)`).exec(command)?.[1] ?? '';
    for (const command of [start, query]) {
      assert.match(command, /^\/\S+\/node \/\S+\/kong-js-pluginserver /);
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
    assert.ok(!('KONG_UNTRUSTED_LUA' in environment));
  });

  it('runs both of our images unprivileged, read-only and watched', () => {
    for (const service of [kong, sidecar]) assert.equal(service?.read_only, true);
    for (const [name, user] of [
      ['kong-plugins/Dockerfile', 'kong'],
      ['sidecar/Dockerfile', 'node'],
    ] as const) {
      const users = [...read(name).matchAll(/^USER (\S+)/gm)].map(([, last]) => last);
      assert.equal(users.at(-1), user, name);
    }
    assert.match(read('sidecar/Dockerfile'), /^HEALTHCHECK .*\n.*\/health\/live/m);
    assert.ok(kong?.healthcheck !== undefined);
  });
});

describe('the entry point of the Kong image', () => {
  const run = (url: string | undefined): { status: number | null; written: string } => {
    const folder = mkdtempSync(join(tmpdir(), 'kong-entry-'));
    try {
      const target = join(folder, 'kong.yml');
      const { status } = spawnSync(
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
      return { status, written: status === 0 ? readFileSync(target, 'utf8') : '' };
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  it('changes the broker’s URL in kong.yml and nothing else', () => {
    for (const url of ['http://scorpio:9090', 'https://broker.example/ngsi', 'http://10.0.0.7:1026/']) {
      const { status, written } = run(url);
      assert.equal(status, 0, url);
      assert.equal(
        written,
        read('kong.yml').replace('url: http://broker:1026', `url: ${url.replace(/\/$/, '')}`),
      );
    }
  });

  it('never starts Kong with a URL that is none, or could write more into the file', () => {
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
});
