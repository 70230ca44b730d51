import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** nginx as a proxy, in a separate process. */
export interface Nginx {
  readonly url: string;
  readonly pid: number;
  close(): Promise<void>;
}

/** Starts nginx as a proxy for a broker, in one process; undefined if there is no nginx on the PATH. */
export async function startNginx(brokerUrl: string): Promise<Nginx | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-nginx-'));
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  await writeFile(file, configuration(folder, new URL(brokerUrl).host, port));
  const child = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const started = await Promise.race([
    accepts(port).then(() => true),
    once(child, 'exit').then(
      () => false,
      () => false, // nginx is not installed.
    ),
  ]);
  const close = async () => {
    process.removeListener('exit', kill);
    if (started) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
    await rm(folder, { recursive: true, force: true });
  };
  if (started) return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, close };
  await close();
  return undefined;
}

/** Puts its temporary files into the folder as well, so that it does not need root. */
function configuration(folder: string, broker: string, port: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join(' ');
  return `
    daemon off; master_process off; worker_processes 1;
    pid ${join(folder, 'nginx.pid')};
    events { worker_connections 1024; }
    http {
      access_log off; ${temporary}
      upstream broker { server ${broker}; keepalive 256; }
      server {
        listen 127.0.0.1:${port};
        keepalive_requests 1000000000;
        location / {
          proxy_pass http://broker; proxy_http_version 1.1; proxy_set_header Connection "";
        }
      }
    }`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

/** Resolves when a server listens on the port. */
async function accepts(port: number): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const socket = connect(port, '127.0.0.1');
    const isUp = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isUp) return;
    await sleep(10);
  }
  throw new Error(`Nobody listens at port ${port}.`);
}
