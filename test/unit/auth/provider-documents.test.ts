import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { after, before, it } from 'node:test';
import { ProviderDocuments, ProviderError } from '../../../sidecar/auth/provider-documents.js';
import { listening, type Listening } from '../../support/listening.js';

let server: Listening;
let issuer: string;
let asked: string[];
let answers: Readonly<Record<string, (res: ServerResponse) => void>>;
const opened: ProviderDocuments[] = [];

before(async () => {
  const provider = createServer((req, res) => {
    asked.push(req.url ?? '');
    const answer = answers[req.url ?? ''];
    if (answer === undefined) res.writeHead(404).end();
    else answer(res);
  });
  server = await listening(provider);
  issuer = `${server.url}/realms/city`;
});
after(async () => {
  for (const documents of opened) await documents.close();
  await server.close();
});

const json = (document: unknown) => (res: ServerResponse) => res.end(JSON.stringify(document));
const DISCOVERY = '/realms/city/.well-known/openid-configuration';
const KEYS = { keys: [] };

/** The keys of a provider that gives this answer. */
async function keysFrom(
  given: typeof answers,
  options: Partial<ConstructorParameters<typeof ProviderDocuments>[0]> = {},
): Promise<unknown> {
  answers = given;
  asked = [];
  const documents = new ProviderDocuments({ issuer, ...options });
  opened.push(documents);
  return documents.fetchKeys();
}

it('keys are read also through a proxy that compresses, even if the client refuses compression', async () => {
  for (const always of [false, true]) {
    const packed = (document: unknown) => (res: ServerResponse) => {
      const text = JSON.stringify(document);
      if (!always && res.req.headers['accept-encoding'] === 'identity') res.end(text);
      else res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text));
    };
    assert.deepEqual(
      await keysFrom({
        [DISCOVERY]: packed({ issuer, jwks_uri: `${issuer}/keys` }),
        '/realms/city/keys': packed(KEYS),
      }),
      KEYS,
    );
  }
});

it('keys are read from the URL that the discovery document gives', async () => {
  const { origin } = new URL(issuer);
  const found = await keysFrom({
    [DISCOVERY]: json({ issuer, jwks_uri: `${origin}/keys?of=city` }),
    '/keys?of=city': json(KEYS),
  });
  assert.deepEqual([found, asked], [KEYS, [DISCOVERY, '/keys?of=city']]);
});

it('the discovery URL of an issuer with a trailing slash has no double slash', async () => {
  const slashed = `${issuer}/`;
  const jwks = {
    [DISCOVERY]: json({ issuer: slashed, jwks_uri: `${issuer}/keys` }),
    '/realms/city/keys': json(KEYS),
  };
  assert.deepEqual(await keysFrom(jwks, { issuer: slashed }), KEYS);
});

it('AUTH_JWKS_URL replaces the discovery document', async () => {
  const found = await keysFrom({ '/own?x=1': json(KEYS) }, { keysUrl: new URL('/own?x=1', issuer) });
  assert.deepEqual([found, asked], [KEYS, ['/own?x=1']]);
});

it('a discovery document of another issuer or with a foreign key URL is rejected, and no request is sent there', async () => {
  const { origin } = new URL(issuer);
  const { port } = new URL(issuer);
  for (const [document, words] of [
    [{ issuer: 'https://evil.example', jwks_uri: `${origin}/keys` }, /another issuer/],
    [
      { issuer: `${issuer}/`, jwks_uri: `${origin}/keys` },
      /another issuer than AUTH_ISSUER, ".*city": ".*city\/"\.$/,
    ],
    [{ jwks_uri: `${origin}/keys` }, /another issuer than AUTH_ISSUER, ".*city": none\.$/],
    [[issuer], /another issuer/],
    [null, /another issuer/],
    ['text', /another issuer/],
    [{ issuer }, /jwks_uri/],
    [{ issuer, jwks_uri: 7 }, /jwks_uri/],
    [{ issuer, jwks_uri: '/keys' }, /jwks_uri/],
    [{ issuer, jwks_uri: `http://localhost:${port}/keys` }, /jwks_uri/],
    [{ issuer, jwks_uri: `https://127.0.0.1:${port}/keys` }, /jwks_uri/],
    [{ issuer, jwks_uri: 'http://keys.evil.example/keys' }, /jwks_uri/],
    [{ issuer, jwks_uri: `file:///etc/passwd` }, /jwks_uri/],
    [JSON.parse(`{"__proto__": {"issuer": "${issuer}"}, "jwks_uri": "${origin}/keys"}`), /another issuer/],
  ] as const) {
    await assert.rejects(
      keysFrom({ [DISCOVERY]: json(document), '/keys': json(KEYS) }),
      (error) => error instanceof ProviderError && words.test(error.message),
      JSON.stringify(document),
    );
    assert.deepEqual(asked, [DISCOVERY]);
  }
});

it('redirects, errors, invalid JSON, oversized documents and broken connections give no keys', async () => {
  const given: readonly (readonly [answer: (res: ServerResponse) => void, words: RegExp])[] = [
    [(res) => res.writeHead(302, { location: '/elsewhere' }).end(), /answered with status 302/],
    [(res) => res.writeHead(500).end('x'.repeat(1_000_000)), /answered with status 500/],
    [(res) => res.end('<html>'), /not JSON/],
    [(res) => res.end(), /not JSON/],
    [(res) => res.end(JSON.stringify({ keys: ['x'.repeat(300_000)] })), /larger than/],
    [(res) => res.destroy(), /cannot be reached/],
  ];
  for (const [answer, words] of given) {
    const keysUrl = new URL('/keys', issuer);
    await assert.rejects(
      keysFrom({ '/keys': answer, '/elsewhere': json(KEYS) }, { keysUrl }),
      (error) => error instanceof ProviderError && words.test(error.message),
      String(words),
    );
    assert.deepEqual(asked, ['/keys']);
  }
});

it('a request to a provider that hangs, before or during its answer, is given up after the time limit', async () => {
  const given: readonly ((res: ServerResponse) => void)[] = [() => {}, (res) => res.write('{"keys":')];
  for (const answer of given)
    await assert.rejects(
      keysFrom({ '/keys': answer }, { keysUrl: new URL('/keys', issuer), timeoutMs: 50 }),
      (error) => error instanceof ProviderError && /took too long/.test(error.message),
    );
});
