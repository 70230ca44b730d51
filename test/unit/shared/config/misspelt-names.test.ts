import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { isServiceLink, misspeltNames } from '../../../../sidecar/shared/config/misspelt-names.js';
import { settings } from '../../../../sidecar/shared/config/settings.js';
import { words } from '../../../support/words.js';

const meant = (name: string, value = '1') => misspeltNames({ [name]: value });

it('misspeltNames finds each setting of eight letters or more with one letter dropped, doubled, changed, or swapped with the next', () => {
  const names = Object.keys(settings).filter((name) => name.length >= 9);
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.nat(), fc.integer({ min: 0, max: 3 }), (name, at, how) => {
      const index = at % (name.length - 1);
      const [before, letter, next, after] = [
        name.slice(0, index),
        name[index] ?? '',
        name[index + 1] ?? '',
        name.slice(index + 2),
      ];
      const edited = [
        `${before}${next}${after}`,
        `${before}${letter}${letter}${next}${after}`,
        `${before}#${next}${after}`,
        `${before}${next}${letter}${after}`,
      ][how];
      fc.pre(edited !== undefined && !Object.hasOwn(settings, edited));
      assert.equal(meant(edited).length, 1, edited);
      assert.match(meant(edited)[0] ?? '', /did you mean [A-Z_]+\?$/);
    }),
  );
});

it('misspeltNames finds names without their underscores or their unit', () => {
  for (const [name, setting] of [
    ['GATEWAYTOKEN', 'GATEWAY_TOKEN'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['SHUTDOWN_GRACE', 'SHUTDOWN_GRACE_MS'],
    ['BODY_LIMIT', 'BODY_LIMIT_BYTES'],
    ['GATEWAY_TOKN', 'GATEWAY_TOKEN'],
  ] as const) {
    assert.deepEqual(meant(name), [`${name} is not a setting; did you mean ${setting}?`]);
  }
});

it('misspeltNames ignores variables that Kubernetes and Docker links set, whatever setting they resemble', () => {
  const env = {
    BROKER_SERVICE_HOST: '10.0.0.1',
    BROKER_SERVICE_PORT: '1026',
    BROKER_SERVICE_PORT_HTTP: '1026',
    BROKER_PORT: 'tcp://10.0.0.1:1026',
    BROKER_PORT_1026_TCP: 'tcp://10.0.0.1:1026',
    BROKER_PORT_1026_TCP_ADDR: '10.0.0.1',
    BROKER_PORT_53_UDP_PROTO: 'udp',
    BROKER_PORT_3868_SCTP_PORT: '3868',
    BROKER_NAME: '/gateway/broker',
    BROKER_ENV_JAVA_HOME: '/opt/java',
    PURGE_SERVICE_HOST: '10.0.0.2',
    GATEWAY_PORT: 'tcp://10.0.0.3:8080',
    RETRY_MAX_SERVICE_PORT: '1',
  };
  assert.deepEqual(misspeltNames(env), []);
  assert.equal(meant('BROKER_PORT', '1026').length, 1);
});

it('misspeltNames recognises variables of Kubernetes and Docker links by name and value together', () => {
  for (const [name, value, isLink] of [
    ['BROKER_PORT', 'tcp://10.0.0.1:1026', true],
    ['BROKER_PORT', 'udp://10.0.0.1:53', true],
    ['BROKER_PORT', 'sctp://10.0.0.1:3868', true],
    ['BROKER_PORT', 'http://10.0.0.1:1026', false],
    ['INSTANCE_NAME', '/gateway/instance', true],
    ['INSTANCE_NAME', '/gateway/other', false],
    ['PURGE_DB_NAME', '/gateway/purge-db', true],
    ['BROKER_NAME', 'orion', false],
    ['PURGE_ENV', 'test', false],
    ['BROKER_PORT', undefined, false],
    ['BROKER_PORTS', 'tcp://10.0.0.1:1026', false],
    ['BROKER_URL', 'tcp://10.0.0.1:1026', false],
    ['BROKER_SERVICE_HOSTS', '10.0.0.1', false],
    ['BROKER_PORT_X_TCP', '1', false],
    ['BROKER_PORT_80_TCPS', '1', false],
  ] as const) {
    assert.equal(isServiceLink(name, value), isLink, `${name}=${String(value)}`);
  }
});

it('misspeltNames ignores names that differ from a setting in more than one mistake', () => {
  for (const name of words(`
      LGO_LVEEL LOG_LVEELS LOGG_LEVELS LOG_LABEL DATABSAE_PAHT METRISC_PORTX
    `))
    assert.deepEqual(meant(name), [], name);
  assert.equal(meant('LOG_LVEEL').length, 1);
});

it('misspeltNames ignores unrelated names', () => {
  const names = words(`
      PATH HOSTNAME NODE_ENV PORTS HOSTS LOG DATABASE_NAME MY_PURGE_PAGE_SIZE
    `);
  for (const name of names) assert.deepEqual(meant(name), [], name);
});
