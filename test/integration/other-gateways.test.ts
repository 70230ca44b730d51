import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { callerHeaders } from '../../kong-plugins/ngsi-ld-purge/caller.js';
import { isGuardedRecord } from '../../kong-plugins/ngsi-ld-purge/path.js';
import { startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';
import { ROOT } from '../support/project.js';
import { startRecordingBroker, type RecordingBroker } from '../support/recording-broker.js';
import {
  CALLER,
  findProgram,
  LIMITS,
  PROXIES,
  READER,
  startProxy,
  TOKEN,
} from '../support/reverse-proxies.js';
import { startWatchedSidecar, type Arrival, type WatchedSidecar } from '../support/watched-sidecar.js';
import { words } from '../support/words.js';
import { closeAll, connect } from './pass-through-wire.js';

let broker: RecordingBroker;
let gateway: TestGateway;
let sidecar: WatchedSidecar;
const ports = new Map<string, number>();
const installed = PROXIES.filter(({ program }) => findProgram(program) !== undefined);

before(async () => {
  broker = await startRecordingBroker();
  gateway = await startTestGateway({ BROKER_URL: broker.url, GATEWAY_TOKEN: TOKEN });
  sidecar = await startWatchedSidecar(gateway.port);
  for (const proxy of installed) ports.set(proxy.program, await startProxy(proxy, sidecar.port));
});
after(closeAll);
after(stopAll);

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Asked {
  readonly port: number;
  readonly method?: string;
  readonly path: string;
  /** Sent in addition to Host and the caller's password. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: Buffer | string;
  readonly isChunked?: boolean;
  readonly agent?: http.Agent;
  readonly authorization?: string | undefined;
}

const BASIC = `Basic ${Buffer.from(`${CALLER.user}:${CALLER.password}`).toString('base64')}`;

/** Sends a request to a proxy exactly as given. */
function start({ port, method = 'GET', path, headers = [], body, ...asked }: Asked): http.ClientRequest {
  const authorization = 'authorization' in asked ? asked.authorization : BASIC;
  const fields = [
    ['Host', 'gateway.test:8000'],
    ...(authorization === undefined ? [] : [['Authorization', authorization]]),
    ...(body === undefined || asked.isChunked === true
      ? []
      : [['Content-Length', String(Buffer.byteLength(body))]]),
    ...(asked.isChunked === true ? [['Transfer-Encoding', 'chunked']] : []),
    ...headers,
  ].flat();
  const request = http.request({
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: fields,
    maxHeaderSize: 64 * 1024,
    agent: asked.agent ?? false,
  });
  request.on('error', () => {});
  return request.end(body);
}

async function ask(asked: Asked): Promise<Answer> {
  const request = start(asked);
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
  });
}

/** Returns the requests that reach the sidecar during an action. */
async function arriving(action: () => Promise<unknown>): Promise<readonly Arrival[]> {
  const before = sidecar.arrivals.length;
  await action();
  return sidecar.arrivals.slice(before);
}

/** Returns the headers with a name, in any spelling. */
function named({ rawHeaders }: Arrival, isMeant: (name: string) => boolean): [string, string][] {
  const pairs = rawHeaders.flatMap((name, at) =>
    at % 2 === 0
      ? [[name.toLowerCase().replaceAll('_', '-'), rawHeaders[at + 1] ?? ''] as [string, string]]
      : [],
  );
  return pairs.filter(([name]) => isMeant(name)).sort();
}

const TRUSTED = ['X-Gateway-Token', 'X-Purge-Policy', ...callerHeaders];
const isTrusted = (name: string) => TRUSTED.some((each) => each.toLowerCase() === name);

/** Runs a test with each installed proxy. */
function through(title: string, test: (port: number) => Promise<void>, proxies = PROXIES): void {
  for (const { program } of proxies) {
    const skip = installed.some((each) => each.program === program) ? false : `${program} is not installed`;
    it(`${program} ${title}`, { skip }, async () => test(ports.get(program) ?? assert.fail()));
  }
}

through(
  "removes a client's headers that the sidecar would trust, in any spelling, and sets its own",
  async (port) => {
    const spellings = (name: string) => [
      name,
      name.toLowerCase(),
      name.toUpperCase(),
      name.replaceAll('-', '_'),
      name.replace('-', '_'),
      name.replace(/-(?=[^-]*$)/, '_').toLowerCase(),
    ];
    const forged = TRUSTED.flatMap(spellings).map((name) => [name, 'forged'] as const);
    const [arrival, ...more] = await arriving(() =>
      ask({
        port,
        path: '/stub/length',
        headers: [
          ...forged,
          ['X-Forwarded-For', '10.9.8.7'],
          ['NGSILD-Tenant', 'city'],
          ['Accept-Encoding', 'br'],
        ],
      }),
    );
    assert.ok(arrival !== undefined && more.length === 0);
    assert.deepEqual(named(arrival, isTrusted), [
      ['x-consumer-username', CALLER.user],
      ['x-gateway-token', TOKEN],
    ]);
    assert.deepEqual(
      named(arrival, (name) =>
        words('host authorization x-forwarded-for x-forwarded-host x-forwarded-proto').includes(name),
      ),
      [
        ['host', 'gateway.test:8000'],
        ['x-forwarded-for', '127.0.0.1'],
        ['x-forwarded-host', 'gateway.test:8000'],
        ['x-forwarded-proto', 'http'],
      ],
    );
    assert.deepEqual(
      named(arrival, (name) => ['ngsild-tenant', 'accept-encoding'].includes(name)),
      [
        ['accept-encoding', 'br'],
        ['ngsild-tenant', 'city'],
      ],
    );
  },
);

through('refuses requests without a password, whatever token they have', async (port) => {
  const wrong = `Basic ${Buffer.from(`${CALLER.user}:wrong`).toString('base64')}`;
  const arrivals = await arriving(async () => {
    for (const authorization of [undefined, wrong, 'Bearer x'])
      for (const method of ['GET', 'DELETE', 'OPTIONS']) {
        const headers = [['X-Gateway-Token', TOKEN]] as const;
        const path = '/ngsi-ld/v1/entities?type=Car';
        const { status } = await ask({ port, method, path, authorization, headers });
        assert.equal(status, 401, `${method} ${String(authorization)}`);
      }
  });
  assert.deepEqual(arrivals, []);
});

through('allows callers who are not purgers to read, but not to purge or write', async (port) => {
  const authorization = `Basic ${Buffer.from(`${READER.user}:${READER.password}`).toString('base64')}`;
  const path = '/ngsi-ld/v1/entities?type=Car';
  const statuses: number[] = [];
  const arrivals = await arriving(async () => {
    for (const method of words('GET HEAD OPTIONS DELETE POST PUT PATCH PURGE'))
      statuses.push((await ask({ port, method, path, authorization })).status);
  });
  assert.deepEqual(
    arrivals.map(({ method }) => method),
    ['GET', 'HEAD', 'OPTIONS'],
  );
  for (const status of statuses.slice(3)) assert.ok([400, 401, 403].includes(status), String(statuses));
});

through(
  'sets the limits of a caller where the documentation says, whatever policy the caller sends',
  async (port) => {
    const authorization = `Basic ${Buffer.from(`${READER.user}:${READER.password}`).toString('base64')}`;
    const headers = [['X-Purge-Policy', 'max-affected=5']] as const;
    const arrivals = await arriving(async () => {
      await ask({ port, path: '/stub/length', headers, authorization });
      await ask({ port, path: '/stub/length', headers });
    });
    assert.deepEqual(
      arrivals.map((arrival) => named(arrival, (name) => name === 'x-purge-policy')),
      [[['x-purge-policy', 'dry-run-only']], []],
    );
  },
);

through(
  'lets the sidecar refuse a purge whose tenant is written with an underscore',
  async (port) => {
    const headers = [['NGSILD_Tenant', 'city']] as const;
    const { status } = await ask({ port, method: 'DELETE', path: '/ngsi-ld/v1/entities?type=Car', headers });
    assert.equal(status, 400);
  },
  // nginx drops this header, as the documentation says.
  PROXIES.filter(({ program }) => program !== 'nginx'),
);

it('docs/operations/other-gateways.md has the lines that set the limits of a caller', () => {
  const page = readFileSync(join(ROOT, 'docs/operations/other-gateways.md'), 'utf8');
  for (const line of Object.values(LIMITS).flat()) assert.ok(page.includes(`\`${line}\``), line);
});

through('forwards headers named in Connection, or refuses the request', async (port) => {
  for (const options of ['NGSILD-Tenant', 'close, X-Gateway-Token', 'X-Purge-Policy, ngsild-tenant']) {
    const headers = [
      ['Connection', options],
      ['NGSILD-Tenant', 'city'],
    ] as const;
    let status = 0;
    const [arrival] = await arriving(
      async () => ({ status } = await ask({ port, path: '/stub/length', headers })),
    );
    if (arrival === undefined) assert.equal(status, 400, options);
    else
      assert.deepEqual(
        named(arrival, (name) => name === 'ngsild-tenant' || name === 'x-gateway-token'),
        [
          ['ngsild-tenant', 'city'],
          ['x-gateway-token', TOKEN],
        ],
        options,
      );
  }
});

through('forwards paths and queries unchanged', async (port) => {
  for (const path of words(`
    /ngsi-ld/v1/entities/http%3A%2F%2Fexample.org%2Fcar%2F1 /ngsi-ld/v1/entities/urn:x%2F..%2F..%2Fentities
    //ngsi-ld//v1///entities/urn:a /ngsi-ld/v1/./entities/../entities/urn:a /ngsi-ld/v1/%65ntities/%75rn:a/
    /ngsi-ld/v1/entities;v=1/urn:a;b /ngsi-ld/v1/entities/urn:%2525%5C%3F%23%3B%C3%A4 /ngsi-ld/v1/entities/a,b*(c)'!$&@
    /ngsi-ld/v1/entities?q=speed>50;brand=="A|B"&x={a}^[]\\ /ngsi-ld/v1/entities/?type=A%2CB;C /ngsi-ld/v1/entities?
    /ngsi-ld/v1/entities?idPattern=^urn:.*$&a=/../b//c /api/v2/domains/d%2Fe/../x /NGSI-LD/V1/Entities
  `)) {
    const arrivals = await arriving(() => ask({ port, path }));
    assert.deepEqual(
      arrivals.map(({ url }) => url),
      [path],
    );
  }
});

through('forwards unusual paths unchanged, or refuses them', async (port) => {
  for (const path of [
    ...words(`
      /ngsi-ld/v1/entities/urn:a%2Fb\\c /ngsi-ld/v1/entities/urn:a%2Fb"c /ngsi-ld/v1/entities/urn:a%2Fb^{c}|
      /ngsi-ld/v1/entities/%00 /ngsi-ld/v1/entities/urn:a%2Fb%zz /../ngsi-ld/v1/entities /ngsi-ld/v1/entities#a /a/../../..
      http://other.example/ngsi-ld/v1/entities/urn:a * ngsi-ld/v1/entities
    `),
    '/ngsi-ld/v1/entities/urn:a%2Fb\u00e4',
  ]) {
    let status = 0;
    const arrivals = await arriving(async () => ({ status } = await ask({ port, path })));
    if (arrivals.length === 0) assert.ok(status >= 400 && status < 500, `${path} ${status}`);
    // Of the absolute form, a proxy may forward only the path.
    else
      assert.deepEqual(
        arrivals.map(({ url }) => url.replace('http://other.example', '')),
        [path.replace('http://other.example', '')],
      );
  }
});

through(
  'forwards no DELETE of a collection to the broker, in any spelling, and tells the sidecar the caller of a purge',
  async (port) => {
    for (const path of words(`
    /ngsi-ld/v1//entities //ngsi-ld/v1/entities /ngsi-ld/v1/./entities /ngsi-ld/v1/entities/urn:x/.. /ngsi-ld/v1/%65ntities
    /ngsi-ld/v1/entities/urn:x%2F.. /ngsi-ld/v1/entities;v=1 /ngsi-ld/v1/Entities /ngsi-ld%2Fv1%2Fentities
    /ngsi-ld/v1/entities/. /ngsi-ld/v1/entities/%2e%2E/entities /ngsi-ld/v1/types/../entities /ngsi-ld/v1/entities%00
    /ngsi-ld/v1/entities/urn:x\\.. /ngsi-ld/v1/subscriptions /ngsi-ld/v1/entities//?type=Car
  `)) {
      const { status } = await ask({ port, method: 'DELETE', path });
      assert.ok(status >= 400 && status < 500, `${path} ${status}`);
    }
    assert.deepEqual(
      broker.requests.filter(({ method }) => method === 'DELETE'),
      [],
    );
    const purge = await ask({ port, method: 'DELETE', path: '/ngsi-ld/v1/entities?type=Car' });
    const { text } = await ask({ port, path: '/api/v2/purges?limit=1' });
    const [record] = JSON.parse(text) as { readonly caller: string; readonly state: string }[];
    assert.deepEqual([purge.status < 300, record?.caller], [true, CALLER.user], purge.text);
  },
);

through('forwards each request only once, even if the sidecar breaks the connection', async (port) => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (const [method, body] of [
    ['GET', undefined],
    ['DELETE', undefined],
    ['PUT', '{}'],
  ] as const) {
    // The connections have been used before, by the client and, if the proxy keeps them, to the
    // sidecar.
    await ask({ port, path: '/stub/length', agent });
    const broken = { port, method, path: '/stub/close', agent, headers: [['Idempotency-Key', 'k']] as const };
    let status = 0;
    const arrivals = await arriving(async () => {
      // HAProxy closes the connection of a client that sends more than one request on it.
      status = await ask(body === undefined ? broken : { ...broken, body }).then(
        (answer) => answer.status,
        () => 502,
      );
    });
    assert.deepEqual([arrivals.length, status], [1, 502], method);
  }
  agent.destroy();
});

through('forwards events as soon as they arrive', async (port) => {
  const request = start({ port, path: '/stub/events' });
  let text = '';
  await new Promise((resolve) =>
    request.on('response', (response) =>
      response
        .setEncoding('utf8')
        .on('end', resolve)
        .on('data', (chunk: string) => {
          // The second part is sent only after the first has arrived.
          if (text === '') void ask({ port, path: '/stub/next' });
          text += chunk;
        }),
    ),
  );
  assert.equal(text, 'data: first\n\ndata: second\n\n');
});

through(
  'forwards an import of 30 MB, a write of 5 MB in chunks, a long query and a long answer',
  async (port) => {
    const bytes = Buffer.alloc(30_000_000, 'x');
    const path = '/stub/length';
    assert.equal((await ask({ port, method: 'POST', path, body: bytes })).text, '30000000');
    const chunked = { port, method: 'POST', path, body: bytes.subarray(0, 5_000_000), isChunked: true };
    assert.equal((await ask(chunked)).text, '5000000');
    const query = `${path}?id=${'urn:a,'.repeat(6000)}`;
    const [arrival] = await arriving(() => ask({ port, path: query }));
    assert.equal(arrival?.url, query);
    assert.equal((await ask({ port, path: '/stub/large?bytes=10000000' })).text.length, 10_000_000);
    assert.equal((await ask({ port, path: '/stub/large?bytes=7&link=32000' })).text, 'xxxxxxx');
  },
);

through('closes its connection to the sidecar when a caller disconnects', async (port) => {
  const request = start({ port, method: 'DELETE', path: `/stub/wait?${port}` });
  const isMeant = ({ url }: Arrival) => url === `/stub/wait?${port}`;
  await sidecar.until(isMeant);
  request.destroy();
  await sidecar.until((arrival) => isMeant(arrival) && arrival.isGone);
});

through(
  'forwards nothing that it and the sidecar could read as different numbers of requests',
  async (port) => {
    const smuggled = 'DELETE /stub/smuggled HTTP/1.1\r\nHost: g\r\n\r\n';
    const lines: Readonly<Record<string, string>> = {
      'both lengths': `Content-Length: ${5 + smuggled.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'two lengths': `Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n\r\n`,
      'a list of lengths': `Content-Length: 0, ${smuggled.length}\r\n\r\n`,
      'a length with a sign': `Content-Length: +${smuggled.length}\r\n\r\n`,
      'another coding': 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
      'two codings': 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n',
      'a coding behind a tab': `Content-Length: ${5 + smuggled.length}\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n`,
      'white space before the colon': `Content-Length: ${5 + smuggled.length}\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
      'a folded line': `X-A: a\r\n Transfer-Encoding: chunked\r\nContent-Length: ${5 + smuggled.length}\r\n\r\n0\r\n\r\n`,
      'a bare line feed': `X-A: a\nContent-Length: ${smuggled.length}\r\n\r\n`,
      'a chunk that lies': 'Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n',
      'a huge chunk': 'Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\nx\r\n0\r\n\r\n',
    };
    for (const [what, end] of Object.entries(lines)) {
      const client = await connect(port);
      const arrivals = await arriving(async () => {
        // The smuggled request has no password, so it could reach the sidecar only hidden in this
        // one.
        client.send(`POST /stub/length HTTP/1.1\r\nHost: g\r\nAuthorization: ${BASIC}\r\n${end}${smuggled}`);
        client.socket.end();
        await client.closed();
      });
      assert.ok(arrivals.every(({ url }) => url === '/stub/length') && arrivals.length <= 1, what);
    }
  },
);

it('Kong adds the token to each read of the API that needs it, with and without the plugin', async () => {
  const { paths } = (await gateway.send('GET', '/api/v2/openapi.json')).json() as {
    readonly paths: Readonly<Record<string, { readonly get?: { readonly security?: readonly object[] } }>>;
  };
  const reads = Object.entries(paths).flatMap(([path, { get }]) =>
    get === undefined ? [] : [{ path, ...get }],
  );
  assert.ok(reads.length > 20);
  for (const { path, security } of reads) {
    const takesToken = security?.some((scheme) => 'GatewayToken' in scheme) === true;
    assert.equal(isGuardedRecord(`/api/v2${path}`), takesToken, path);
  }
});
