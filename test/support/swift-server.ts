import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsClient } from 'aws4fetch';

const SERVERS = ['account', 'container', 'object', 'proxy'] as const;
const PYTHON = '/usr/bin/python3';

/** The number of names in a page of a list; in S3 it is 1000. */
const PAGE_SIZE = 10;

/** A bucket at a real server, with its credentials. */
export interface RealBucket {
  readonly bucket: string;
  readonly endpoint: URL;
  readonly keys: { readonly region: string; readonly accessKeyId: string; readonly secretAccessKey: string };
  close(): Promise<void>;
}

/**
 * Returns the bucket of TEST_BUCKET_URL, `http://key:secret@host:port/bucket`, so that any server
 * can be tested.
 */
export function givenBucket(): RealBucket | undefined {
  const given = process.env['TEST_BUCKET_URL'];
  if (given === undefined || given === '') return undefined;
  const { origin, pathname, username, password } = new URL(given);
  const [accessKeyId, secretAccessKey] = [decodeURIComponent(username), decodeURIComponent(password)];
  return {
    bucket: pathname.slice(1),
    endpoint: new URL(origin),
    close: async () => {},
    keys: { region: process.env['AWS_REGION'] ?? 'us-east-1', accessKeyId, secretAccessKey },
  };
}

/** Why OpenStack Swift cannot be started here; undefined if it can be. */
export function noSwift(): string | undefined {
  const missing = SERVERS.find((server) => !existsSync(program(server)));
  return missing === undefined ? undefined : `swift-${missing} is not installed (Debian: swift-${missing})`;
}

/**
 * OpenStack Swift with its S3 API, as packaged by Debian: a new server in a temporary folder, with
 * a bucket called `archive`. It checks signatures. It ends with this process, however that ends.
 */
export class SwiftServer implements RealBucket {
  readonly bucket = 'archive';
  readonly keys = {
    region: 'eu-test-1',
    accessKeyId: 'test:tester',
    secretAccessKey: 'secret-of-the-tests',
  } as const;
  readonly endpoint: URL;
  readonly #folder: string;
  readonly #children: readonly ChildProcess[];

  static async start(): Promise<SwiftServer> {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-swift-'));
    const ports = await freePorts(SERVERS.length);
    const server = new SwiftServer(folder, ports);
    await server.#ready();
    return server;
  }

  private constructor(folder: string, ports: readonly number[]) {
    this.#folder = folder;
    this.endpoint = new URL(`http://127.0.0.1:${String(ports[SERVERS.indexOf('proxy')])}`);
    mkdirSync(join(folder, 'devices', 'd1'), { recursive: true });
    writeFileSync(join(folder, 'swift.conf'), SWIFT_CONF);
    makeRings(folder, ports);
    this.#children = SERVERS.map((server, index) => {
      const file = join(folder, `${server}.conf`);
      const port = ports[index] ?? 0;
      writeFileSync(file, server === 'proxy' ? this.#proxyConf(port) : storageConf(server, folder, port));
      // The shell ends the server when its standard input ends, which is when this process ends.
      const script = '"$@" & read -r _; kill $!; wait $!';
      return spawn('/bin/sh', ['-c', script, 'sh', program(server), file], {
        stdio: ['pipe', 'ignore', 'ignore'],
        detached: true,
      });
    });
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        child.stdin?.end();
        if (child.exitCode === null) await once(child, 'exit');
      }),
    );
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Creates the bucket as soon as the server is ready. */
  async #ready(): Promise<void> {
    const client = new AwsClient({ ...this.keys, service: 's3', retries: 0 });
    for (let tries = 0; ; tries += 1) {
      const said = await client.fetch(new URL(this.bucket, this.endpoint).href, { method: 'PUT' }).then(
        async (answer) => (answer.ok ? undefined : `${String(answer.status)} ${await answer.text()}`),
        (error: unknown) => String(error),
      );
      if (said === undefined) return;
      if (tries === 300 || this.#children.some(({ exitCode }) => exitCode !== null)) {
        await this.close();
        throw new Error(`Swift does not start: ${said}`);
      }
      await sleep(100);
    }
  }

  #proxyConf(port: number): string {
    const { region, accessKeyId, secretAccessKey } = this.keys;
    const filters = ['listing_formats', 'slo', 'dlo'];
    return [
      ...defaults(this.#folder, port),
      '[pipeline:main]\npipeline = cache listing_formats s3api tempauth slo dlo proxy-server',
      // The other servers start later than the proxy, so it may retry them at once.
      '[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\nerror_suppression_interval = 0',
      // There is no memcached. Swift works without it, and only logs its absence.
      '[filter:cache]\nuse = egg:swift#memcache\nmemcache_servers = 127.0.0.1:1',
      `[filter:s3api]\nuse = egg:swift#s3api\nlocation = ${region}\nmax_bucket_listing = ${String(PAGE_SIZE)}`,
      `[filter:tempauth]\nuse = egg:swift#tempauth\nuser_${accessKeyId.replace(':', '_')} = ${secretAccessKey} .admin`,
      ...filters.map((name) => `[filter:${name}]\nuse = egg:swift#${name}`),
    ].join('\n');
  }
}

const SWIFT_CONF = `[swift-hash]
swift_hash_path_prefix = tests
swift_hash_path_suffix = tests
[storage-policy:0]
name = default
default = yes
`;

function storageConf(server: string, folder: string, port: number): string {
  return [
    ...defaults(folder, port),
    `devices = ${join(folder, 'devices')}\nmount_check = false\ndisable_fallocate = true\nfallocate_reserve = 0`,
    `[pipeline:main]\npipeline = ${server}-server`,
    `[app:${server}-server]\nuse = egg:swift#${server}`,
  ].join('\n');
}

/** One process for each server, in the foreground, as the user who runs the tests. */
function defaults(folder: string, port: number): readonly string[] {
  return [
    `[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = ${String(port)}\nworkers = 0\nswift_dir = ${folder}`,
    `user = ${process.getuid?.() === 0 ? 'root' : (process.env['USER'] ?? '')}\nlog_level = ERROR`,
  ];
}

/** Writes the rings, which say where each kind of data is stored: once, on one device. */
function makeRings(folder: string, ports: readonly number[]): void {
  const python = `
import sys
from swift.common.ring import RingBuilder
folder, *ports = sys.argv[1:]
for name, port in zip(("account", "container", "object"), ports):
    ring = RingBuilder(4, 1, 1)
    ring.add_dev(dict(region=1, zone=1, ip="127.0.0.1", port=int(port), device="d1", weight=1))
    ring.rebalance()
    ring.get_ring().save(folder + "/" + name + ".ring.gz")
`;
  const { status, stderr } = spawnSync(PYTHON, ['-c', python, folder, ...ports.map(String)]);
  if (status !== 0) throw new Error(`The rings of Swift cannot be made: ${stderr.toString()}`);
}

function program(server: (typeof SERVERS)[number]): string {
  return `/usr/bin/swift-${server}-server`;
}

async function freePorts(count: number): Promise<readonly number[]> {
  const probes = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(probes.map((probe) => once(probe, 'listening')));
  const ports = probes.map((probe) => (probe.address() as AddressInfo).port);
  await Promise.all(probes.map((probe) => once(probe.close(), 'close')));
  return ports;
}
