import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { fieldDefinitions, parseConfig, Schema } from '../../../kong-plugins/ngsi-ld-purge/config-schema.js';
import * as plugin from '../../../kong-plugins/ngsi-ld-purge/index.js';
import { ROOT } from '../../support/project.js';

const kongsOwn = {
  __key__: 'plugins:x',
  __seq__: 3,
  __plugin_id: 'p',
  __ws_id: 'w',
  route_id: 'r',
  $refs: {},
};

describe('the configuration schema', () => {
  it('the configuration schema describes every field, within the lengths Kong accepts', () => {
    assert.ok(Schema.length > 0);
    for (const record of Schema) {
      const [[name, field] = []] = Object.entries(record);
      assert.equal(Object.keys(record).length, 1);
      assert.ok(
        field !== undefined && field.description.length >= 10 && field.description.length <= 500,
        name,
      );
    }
  });

  it('the configuration schema lets the token be a vault reference, stored encrypted where Kong can', () => {
    assert.equal(fieldDefinitions.gateway_token.referenceable, true);
    assert.equal(fieldDefinitions.gateway_token.encrypted, true);
  });

  it('the configuration schema carries the version of the package', async () => {
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
    ['batch_size', 1, 1_000_000],
    ['concurrency', 1, 10_000],
    ['temporal_concurrency', 1, 10_000],
  ] as const) {
    it(`the configuration schema takes ${name} from ${least} to ${most}, and nothing else`, () => {
      for (const value of [least, most])
        assert.equal(parseConfig({ sidecar_host: 's', [name]: value }).ok, true, `${value}`);
      for (const value of [least - 1, most + 1, least + 0.5, String(least), true, -1])
        assert.equal(parseConfig({ sidecar_host: 's', [name]: value }).ok, false, `${value}`);
    });
  }

  it('the configuration schema takes only booleans for its switches', () => {
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
      },
    });
  });

  it('the configuration schema tolerates the members Kong adds, and null for a field that was not given', () => {
    const parsed = parseConfig({
      ...kongsOwn,
      sidecar_host: '10.0.0.7',
      max_affected: null,
      sidecar_port: 81,
    });
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
      assert.equal(
        parseConfig({ sidecar_host: 'sidecar', gateway_token: bad }).ok,
        false,
        JSON.stringify(bad),
      );
      assert.equal(parseConfig({ sidecar_host: bad }).ok, false, JSON.stringify(bad));
    }
  });

  it('the configuration schema never throws, whatever arrives', () => {
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
});
