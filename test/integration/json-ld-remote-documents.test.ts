import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { it, type TestContext } from 'node:test';
import {
  createRemoteDocuments,
  RemoteDocumentError,
  type RemoteDocuments,
  type RemoteDocumentsOptions,
} from '../../sidecar/schemas/remote/remote-documents.js';
import { listening } from '../support/listening.js';

interface Site {
  readonly port: number;
  /** The requested paths. */
  readonly paths: string[];
}

/** Starts a web server on the loopback interface. */
async function serve(t: TestContext, listener: RequestListener): Promise<Site> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    listener(request, response);
  });
  const { port, close } = await listening(server);
  t.after(close);
  return { port, paths };
}

function documentsOf(t: TestContext, options: RemoteDocumentsOptions): RemoteDocuments {
  const documents = createRemoteDocuments(options);
  t.after(() => documents.close());
  return documents;
}

const context: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/ld+json' });
  response.end('{"@context": {"speed": "http://example.org/speed"}}');
};

async function failureOf(promise: Promise<unknown>): Promise<RemoteDocumentError> {
  return promise.then(
    () => assert.fail('was fetched'),
    (error: unknown) => {
      assert.ok(error instanceof RemoteDocumentError, String(error));
      return error;
    },
  );
}

it('remote documents are loaded from loopback only if their origin is allowed explicitly', async (t) => {
  const { port } = await serve(t, context);
  for (const origin of [`http://127.0.0.1:${port}`, `http://localhost:${port}`]) {
    const documents = documentsOf(t, {
      allowedOrigins: [origin],
      resolveHost: async () => [{ address: '127.0.0.1', family: 4 }],
    });
    assert.deepEqual((await documents.fetch(`${origin}/a`)).document, {
      '@context': { speed: 'http://example.org/speed' },
    });
  }
});

it('remote documents are found with the system resolver', async (t) => {
  const { port } = await serve(t, context);
  const documents = documentsOf(t, { allowedOrigins: [`http://localhost:${port}`] });
  await documents.fetch(`http://localhost:${port}/a`);
});

for (const address of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fe80::1']) {
  it(`remote documents are never loaded from ${address} for a public name, although its origin is allowed`, async (t) => {
    const { port, paths } = await serve(t, context);
    const origin = `http://rebound.example.org:${port}`;
    const documents = documentsOf(t, {
      allowedOrigins: [origin],
      resolveHost: async () => [{ address, family: address.includes(':') ? 6 : 4 }],
    });
    const error = await failureOf(documents.fetch(`${origin}/a`));
    assert.equal(error.failure, 'address-not-allowed');
    assert.ok(!error.message.includes(address), 'the address is nobody else’s business');
    assert.deepEqual(paths, []);
  });
}

it('remote documents are never loaded from a link-local address, whatever the name', async (t) => {
  const documents = documentsOf(t, {
    allowedOrigins: ['http://metadata'],
    resolveHost: async () => [{ address: '169.254.169.254', family: 4 }],
  });
  assert.equal((await failureOf(documents.fetch('http://metadata/latest'))).failure, 'address-not-allowed');
});

it('remote documents are loaded from the checked address: a name is resolved once for each connection', async (t) => {
  const { port, paths } = await serve(t, context);
  let lookups = 0;
  const origin = `http://context-server:${port}`;
  const documents = documentsOf(t, {
    allowedOrigins: [origin],
    resolveHost: async () => {
      lookups += 1;
      return [
        { address: '169.254.169.254', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ];
    },
  });
  await documents.fetch(`${origin}/a`);
  assert.equal(lookups, 1);
  assert.deepEqual(paths, ['/a']);
});

it('loading remote documents stops at the time limit, before the head, within the body and between redirects', async (t) => {
  const { port } = await serve(t, (request, response) => {
    if (request.url === '/silent') return;
    if (request.url === '/endless') {
      response.writeHead(302, { location: '/endless' }).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"a": ');
  });
  const origin = `http://127.0.0.1:${port}`;
  const documents = documentsOf(t, { allowedOrigins: [origin], timeoutMs: 40, maxRedirects: 1e9 });
  for (const path of ['/silent', '/slow', '/endless']) {
    assert.equal((await failureOf(documents.fetch(origin + path))).failure, 'timeout', path);
  }
});

it("loading remote documents stops when the caller disconnects, with the caller's reason", async (t) => {
  const controller = new AbortController();
  const reason = new Error('gone');
  const { port } = await serve(t, () => {
    controller.abort(reason);
  });
  const origin = `http://127.0.0.1:${port}`;
  const documents = documentsOf(t, { allowedOrigins: [origin], timeoutMs: 600_000 });
  await assert.rejects(documents.fetch(`${origin}/a`, controller.signal), reason);
  await assert.rejects(documents.fetch(`${origin}/a`, controller.signal), reason);
});

it('loading remote documents stops at the size limit, although no size was announced', async (t) => {
  const { port } = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = (): void => {
      while (response.write('a'.repeat(10_000)));
      response.once('drain', more);
    };
    more();
  });
  const origin = `http://127.0.0.1:${port}`;
  const documents = documentsOf(t, { allowedOrigins: [origin], maxBytes: 100_000 });
  assert.equal((await failureOf(documents.fetch(`${origin}/a`))).failure, 'too-large');
});

it('remote documents are unreachable if no server listens or the connection breaks', async (t) => {
  const { port } = await serve(t, (request) => {
    request.socket.destroy();
  });
  const origin = `http://127.0.0.1:${port}`;
  const documents = documentsOf(t, {
    allowedOrigins: [origin, 'http://nobody.example.org'],
    resolveHost: () => Promise.reject(Object.assign(new Error('no such host'), { code: 'ENOTFOUND' })),
  });
  assert.equal((await failureOf(documents.fetch(`${origin}/a`))).failure, 'unreachable');
  const error = await failureOf(documents.fetch('http://nobody.example.org/a'));
  assert.equal(error.failure, 'unreachable');
  assert.match(error.message, /ENOTFOUND/);
});
