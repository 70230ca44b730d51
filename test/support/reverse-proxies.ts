import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stopLater } from './gateway-harness.js';
import { ROOT } from './project.js';
import { freePort } from './free-port.js';

/**
 * The callers that the proxies know, the second of which may only read, and the token that they
 * add.
 */
export const CALLER = { user: 'alice', password: 'secret of alice' } as const;
export const READER = { user: 'bob', password: CALLER.password } as const;
export const TOKEN = 'token-of-the-sidecar';

/** The bcrypt hash of {@link CALLER}'s password, with the lowest cost. */
const PASSWORD_HASH = '$2b$04$8W3QObhR5mmsFrOTOhiUM.nickExDmxdi8xeVgV4dzav06OvOaVyG';

/** What gives {@link READER} limits, as docs/operations/other-gateways.md has it. */
export const LIMITS = {
  nginx: [
    'map $remote_user $ngsi_ld_gateway_limits { bob "dry-run-only"; }',
    'proxy_set_header X-Purge-Policy $ngsi_ld_gateway_limits;',
  ],
  haproxy: [
    'http-request set-header X-Purge-Policy dry-run-only if { req.hdr(X-Consumer-Username) -m str bob }',
  ],
  caddy: ['@limited vars {http.auth.user.id} bob', 'request_header @limited X-Purge-Policy dry-run-only'],
} as const;

/** The ports of proxy and sidecar, and a folder for the files of the program. */
interface Place {
  readonly port: number;
  readonly sidecar: number;
  readonly folder: string;
}

interface Proxy {
  /** The program that is started, and the file of deploy/ that it reads. */
  readonly program: 'nginx' | 'haproxy' | 'caddy';
  readonly file: string;
  /** Replacements in the file; each text to replace occurs exactly once. */
  replace(place: Place): readonly (readonly [text: string, by: string])[];
  /** Further files to write next to it. */
  files?(place: Place): Readonly<Record<string, string>>;
  arguments(place: Place): readonly string[];
}

/** The reverse proxies of deploy/ whose programs Debian has. */
export const PROXIES: readonly Proxy[] = [
  {
    program: 'nginx',
    file: 'nginx.conf',
    replace: ({ port, sidecar, folder }) => [
      ['server 127.0.0.1:8080;', `server 127.0.0.1:${sidecar};`],
      ['listen 127.0.0.1:8000;', `listen 127.0.0.1:${port};`],
      ['auth_basic_user_file /etc/nginx/', `auth_basic_user_file ${folder}/`],
      ['include /etc/nginx/', `include ${folder}/`],
      ['upstream ngsi-ld-gateway {', `${LIMITS.nginx[0]}\nupstream ngsi-ld-gateway {`],
      ['proxy_set_header X-Purge-Policy "";', LIMITS.nginx[1]],
    ],
    files: ({ folder }) => ({
      'ngsi-ld-gateway.users': `${CALLER.user}:{PLAIN}${CALLER.password}\n${READER.user}:{PLAIN}${READER.password}\n`,
      'ngsi-ld-gateway.purgers': `${CALLER.user}:{PLAIN}${CALLER.password}\n`,
      'ngsi-ld-gateway.token': `proxy_set_header X-Gateway-Token "${TOKEN}";\n`,
      'main.conf': `
        daemon off; master_process off; pid ${folder}/nginx.pid;
        events { worker_connections 256; }
        http {
          access_log off;
          ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
          include ${folder}/nginx.conf;
        }`,
    }),
    arguments: ({ folder }) => [
      '-p',
      folder,
      '-e',
      join(folder, 'error.log'),
      '-c',
      join(folder, 'main.conf'),
    ],
  },
  {
    program: 'haproxy',
    file: 'haproxy.cfg',
    replace: ({ port, sidecar }) => [
      ['server sidecar 127.0.0.1:8080', `${LIMITS.haproxy[0]}\nserver sidecar 127.0.0.1:${sidecar}`],
      ['bind 127.0.0.1:8000', `bind 127.0.0.1:${port}`],
      ['groups purgers', `groups purgers\n    user ${READER.user} insecure-password "${READER.password}"`],
    ],
    arguments: ({ folder }) => ['-db', '-f', join(folder, 'haproxy.cfg')],
  },
  {
    program: 'caddy',
    file: 'Caddyfile',
    replace: ({ port, sidecar }) => [
      ['reverse_proxy 127.0.0.1:8080 {', `${LIMITS.caddy.join('\n')}\nreverse_proxy 127.0.0.1:${sidecar} {`],
      [':8000 {', `:${port} {`],
      ['basicauth {', `basicauth {\n${READER.user} ${PASSWORD_HASH}`],
    ],
    arguments: ({ folder }) => ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')],
  },
];

/** Returns the path of a program; undefined if it is not installed. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/**
 * Starts the program of a proxy with the file of deploy/, in front of a sidecar. `stopAll` ends it.
 * @returns its port
 */
export async function startProxy(proxy: Proxy, sidecar: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'proxy-'));
  const place = { port: await freePort(), sidecar, folder };
  let text = readFileSync(join(ROOT, 'deploy', proxy.file), 'utf8');
  for (const [written, by] of proxy.replace(place)) {
    assert.equal(text.split(written).length, 2, `${proxy.file} has once: ${written}`);
    text = text.replace(written, () => by);
  }
  for (const [name, content] of Object.entries({ [proxy.file]: text, ...proxy.files?.(place) }))
    await writeFile(join(folder, name), content);

  const child = spawn(findProgram(proxy.program) ?? proxy.program, proxy.arguments(place), {
    env: {
      HOME: folder,
      GATEWAY_TOKEN: TOKEN,
      GATEWAY_USER: CALLER.user,
      GATEWAY_PASSWORD: CALLER.password,
      GATEWAY_PASSWORD_HASH: PASSWORD_HASH,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()));
  const ended = once(child, 'close');
  stopLater(async () => {
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  while (!(await accepts(place.port))) {
    if (child.exitCode !== null) assert.fail(`${proxy.program} ended: ${errors}`);
    await sleep(20);
  }
  return place.port;
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}
