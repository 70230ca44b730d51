import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { fieldDefinitions, parseConfig, Schema } from '../../../kong-plugins/ngsi-ld-purge/config-schema.js';
import * as plugin from '../../../kong-plugins/ngsi-ld-purge/index.js';
import { settings } from '../../../sidecar/shared/config/settings.js';
import { ROOT } from '../../support/project.js';

const kongsOwn = {
  __key__: 'plugins:x',
  __seq__: 3,
  __plugin_id: 'p',
  __ws_id: 'w',
  route_id: 'r',
  $refs: {},
};

it('the configuration schema describes every field, within the lengths that Kong accepts', () => {
  assert.ok(Schema.length > 0);
  for (const record of Schema) {
    const [[name, field] = []] = Object.entries(record);
    assert.equal(Object.keys(record).length, 1);
    assert.ok(field !== undefined && field.description.length >= 10 && field.description.length <= 500, name);
  }
});

it('the configuration schema lets the token be a vault reference, stored encrypted if Kong can', () => {
  assert.equal(fieldDefinitions.gateway_token.referenceable, true);
  assert.equal(fieldDefinitions.gateway_token.encrypted, true);
});

it('the configuration schema has the version of the package', async () => {
  const manifest: unknown = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  assert.equal((manifest as { version: string }).version, plugin.Version);
  assert.equal(plugin.Name, 'ngsi-ld-purge');
});

for (const [name, least, most] of [
  ['sidecar_port', 1, 65_535],
  ['connect_timeout_ms', 1, 2_147_483_646],
  ['read_timeout_ms', 1, 2_147_483_646],
  ['max_affected', 1, 2_147_483_647],
  ['page_size', 1, 1_000_000],
  ['batch_size', 1, 100_000],
  ['concurrency', 1, 256],
  ['temporal_concurrency', 1, 256],
] as const) {
  it(`the configuration schema accepts ${name} from ${least} to ${most}, and nothing else`, () => {
    for (const value of [least, most])
      assert.equal(parseConfig({ sidecar_host: 's', [name]: value }).ok, true, `${value}`);
    for (const value of [least - 1, most + 1, least + 0.5, String(least), true, -1])
      assert.equal(parseConfig({ sidecar_host: 's', [name]: value }).ok, false, `${value}`);
  });
}

it('the configuration schema accepts no limit that the corresponding setting of the sidecar refuses', () => {
  for (const [field, setting] of [
    ['max_affected', 'PURGE_MAX_AFFECTED'],
    ['page_size', 'PURGE_PAGE_SIZE'],
    ['batch_size', 'PURGE_BATCH_SIZE'],
    ['concurrency', 'PURGE_CONCURRENCY'],
    ['temporal_concurrency', 'TEMPORAL_PURGE_CONCURRENCY'],
  ] as const) {
    const [least, most] = fieldDefinitions[field].between;
    for (const limit of [least, most]) assert.equal(settings[setting].parse(String(limit)), limit);
    // In Kong an integer has 32 bits.
    if (field !== 'max_affected') assert.throws(() => settings[setting].parse(String(most + 1)), field);
  }
});

it('the configuration schema accepts exactly the tokens that the sidecar accepts as a single token', () => {
  const tokens = ['short', '7-bytes', '8--bytes', 'a,b,c,d,e', 'with blank', 'ümlaut---', ''];
  for (const token of [...tokens, 't'.repeat(1024), 't'.repeat(1025)]) {
    const isTaken = parseConfig({ sidecar_host: 's', gateway_token: token }).ok;
    assert.equal(isTaken, isOneToken(token), token);
  }
  const { len_min, len_max, match_none } = fieldDefinitions.gateway_token;
  assert.deepEqual([len_min, len_max], [8, 1024]);
  assert.match(match_none[0].pattern, /,/, 'Kong says so when it starts');
});

it('the configuration schema accepts only best-effort and required for archives', () => {
  for (const archive of ['best-effort', 'required'])
    assert.equal(parseConfig({ sidecar_host: 's', archive }).ok, true, archive);
  for (const archive of ['none', 'REQUIRED', '', true, 1])
    assert.equal(parseConfig({ sidecar_host: 's', archive }).ok, false, String(archive));
});

it('the configuration schema accepts only booleans for its switches', () => {
  for (const name of ['allow_temporal', 'dry_run_only']) {
    for (const value of [true, false]) {
      const parsed = parseConfig({ sidecar_host: 's', [name]: value });
      assert.equal(parsed.ok && parsed.config[name as 'dry_run_only'], value, name);
    }
    for (const value of ['true', 0, 1, ''])
      assert.equal(parseConfig({ sidecar_host: 's', [name]: value }).ok, false, name);
  }
});

it('the configuration schema fills in every default', () => {
  assert.deepEqual(parseConfig({ sidecar_host: 'sidecar' }), {
    ok: true,
    config: {
      sidecar_host: 'sidecar',
      sidecar_port: 8080,
      connect_timeout_ms: 5000,
      read_timeout_ms: 3_600_000,
      allow_temporal: true,
      dry_run_only: false,
      vouch_for_writes: false,
    },
  });
});

it('the configuration schema tolerates the members that Kong adds, and null for an omitted field', () => {
  const parsed = parseConfig({ ...kongsOwn, sidecar_host: '10.0.0.7', max_affected: null, sidecar_port: 81 });
  assert.ok(parsed.ok);
  assert.equal(parsed.config.sidecar_port, 81);
  assert.ok(!('max_affected' in parsed.config));
});

it('the configuration schema names every mistake at once and never shows a value', () => {
  const parsed = parseConfig({
    gateway_token: 'top secret',
    sidecar_port: 0,
    max_affected: 1.5,
    dry_run_only: 'yes',
  });
  assert.ok(!parsed.ok);
  assert.deepEqual(
    parsed.mistakes.map((mistake) => mistake.split(' ')[0]),
    ['sidecar_host', 'sidecar_port', 'gateway_token', 'max_affected', 'dry_run_only'],
  );
  assert.doesNotMatch(parsed.mistakes.join(), /top secret/);
});

it('the configuration schema treats an empty token as an unresolved vault reference, not as "no token"', () => {
  const parsed = parseConfig({ sidecar_host: 'sidecar', gateway_token: '' });
  assert.ok(!parsed.ok);
  assert.match(parsed.mistakes.join(), /gateway_token is empty/);
});

it('the configuration schema never lets a line break into a header or an address', () => {
  for (const bad of ['a\r\nX-Evil: 1', 'a\n', ' a', 'a\0', 'ü']) {
    assert.equal(parseConfig({ sidecar_host: 'sidecar', gateway_token: bad }).ok, false, JSON.stringify(bad));
    assert.equal(parseConfig({ sidecar_host: bad }).ok, false, JSON.stringify(bad));
  }
});

it('the configuration schema never throws, whatever its input', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.anything(),
        fc.dictionary(fc.constantFrom(...Object.keys(fieldDefinitions)), fc.anything()),
      ),
      (raw) => {
        assert.doesNotThrow(() => parseConfig(raw));
      },
    ),
  );
});

function isOneToken(text: string): boolean {
  try {
    return settings.GATEWAY_TOKEN.parse(text).length === 1;
  } catch {
    return false;
  }
}
