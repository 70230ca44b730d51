import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createHostCheck } from '../../../sidecar/http/request-checks.js';
import { words } from '../../support/words.js';

const check = createHostCheck({ names: ['gw.city.test'], anyHost: false });
const behindToken = createHostCheck({ names: [], anyHost: true });

const statusOf = (
  host: string | undefined,
  origin?: string,
  { method = 'DELETE', by = check }: { readonly method?: string; readonly by?: typeof check } = {},
) => by({ method, headers: { host, origin } })?.type.split(':').at(-1);

it('createHostCheck accepts requests by loopback names, addresses and allowed names, whatever the port', () => {
  for (const host of words(`
    localhost localhost:8080 LOCALHOST:1 a.localhost 127.0.0.1:8080 127.9.9.9 [::1]:8080 192.168.0.7
    [fd00::7] gw.city.test GW.city.test:443
  `))
    assert.equal(statusOf(host), undefined, host);
});

it('createHostCheck refuses requests by any other name, which a web page may have pointed to this gateway', () => {
  for (const host of [
    ...words(`
        evil.test evil.test:8080 localhost.evil.test gw.city.test.evil.test 127.0.0.1.evil.test
      `),
    '',
    'xgw.city.test',
    'evillocalhost',
    'evil-localhost:80',
    '[evil',
    'localhost@evil.test',
    '1.2.3',
    'a,b',
  ])
    assert.equal(statusOf(host), 'host-not-allowed', host);
});

it('createHostCheck accepts every request that changes nothing', () => {
  for (const method of ['GET', 'HEAD', 'OPTIONS'])
    assert.equal(statusOf('evil.test', 'http://evil.test', { method }), undefined);
  for (const method of ['DELETE', 'POST', 'PUT', 'PATCH', 'PURGE', 'get'])
    assert.equal(statusOf('evil.test', undefined, { method }), 'host-not-allowed');
});

it('createHostCheck accepts requests without a Host, which no browser sends', () => {
  assert.equal(statusOf(undefined), undefined);
});

it('createHostCheck accepts pages of its own host, of loopback and of allowed names', () => {
  for (const [host, origin] of [
    ['localhost:8080', 'http://localhost:3000'],
    ['127.0.0.1:8080', 'http://localhost'],
    ['192.168.0.7:8080', 'http://192.168.0.7:8080'],
    ['localhost', 'https://gw.city.test'],
    ['gw.city.test', 'https://gw.city.test:8443'],
  ] as const)
    assert.equal(statusOf(host, origin), undefined, `${host} ${origin}`);
});

it('createHostCheck refuses pages of any other origin', () => {
  for (const origin of ['http://evil.test', 'null', '', 'http://192.168.0.8', 'file://', 'http://[', 'evil'])
    assert.equal(statusOf('localhost', origin), 'origin-not-allowed', origin);
});

it('createHostCheck accepts any Host if a token is required, but still refuses a foreign Origin', () => {
  assert.equal(statusOf('api.city.test', undefined, { by: behindToken }), undefined);
  assert.equal(statusOf('api.city.test', 'https://api.city.test', { by: behindToken }), undefined);
  assert.equal(statusOf('api.city.test', 'https://evil.test', { by: behindToken }), 'origin-not-allowed');
});

it('createHostCheck accepts a purge of the console behind Kong only by localhost and the public name', () => {
  const named = createHostCheck({ names: ['gw.city.test'], anyHost: true });
  for (const [origin, by, refusal] of [
    ['http://127.0.0.1:8000', behindToken, undefined],
    ['http://localhost:8000', behindToken, undefined],
    ['https://gw.city.test', named, undefined],
    ['https://gw.city.test', behindToken, 'origin-not-allowed'],
    ['http://192.168.0.7:8000', named, 'origin-not-allowed'],
  ] as const)
    assert.equal(statusOf('sidecar', origin, { by }), refusal, origin);
});
