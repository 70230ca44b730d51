import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { join } from 'node:path';
import { parse } from 'yaml';
import { fieldDefinitions, type FieldDefinition } from '../../kong-plugins/ngsi-ld-purge/config-schema.js';
import { Plugin } from '../../kong-plugins/ngsi-ld-purge/index.js';
import { FakeKong } from '../support/fake-pdk.js';
import { readKongFile } from '../support/kong-router.js';
import { ROOT } from '../support/project.js';

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const page = read('docs/kong.md');

describe('docs/kong.md', () => {
  it('docs/kong.md lists exactly the fields of the configuration, with type and default', () => {
    const rows = [
      ...page.matchAll(/^\| `([a-z_]+)` \| (string|integer|boolean)(, required)? \| (\S*) ?\|/gm),
    ];
    assert.deepEqual(
      rows.map(([, name, type, required, value]) => [name, type, required !== undefined, value]),
      Object.entries<FieldDefinition>(fieldDefinitions).map(([name, field]) => {
        const value = 'default' in field ? String(field.default) : undefined;
        const demanded = field.required === true && value === undefined;
        return [name, field.type, demanded, value ?? (demanded ? '' : 'none')];
      }),
    );
  });

  it('docs/kong.md lists every route of kong.yml, with its service and whether the plugin is on it', () => {
    for (const service of readKongFile(read('kong.yml')).services) {
      for (const route of service.routes) {
        const row = page.split('\n').find((line) => line.startsWith(`| \`${route.name}\` |`)) ?? '';
        assert.match(
          row,
          new RegExp(
            `${service.name.replace('ngsi-ld-', '')}(\\*\\*)? \\| ${route.plugins ? 'yes' : 'none'} \\|$`,
          ),
          route.name,
        );
      }
    }
  });

  it('docs/kong.md turns kong.yml into a file that decK limits to its own tag, and lets it take no other', () => {
    const [, from = '', to = ''] = /^sed 's\/(.+?)\/(.+?)\/' kong\.yml/m.exec(page) ?? [];
    const forKong = read('kong.yml');
    const forDeck = forKong.replace(new RegExp(from, 'gm'), to);
    // decK refuses what has a comment, Kong without a database what has an _info.
    const { _comment: comment, ...rest } = parse(forKong) as Record<string, unknown>;
    assert.equal(typeof comment, 'string');
    assert.ok(!('_info' in rest));
    assert.deepEqual(parse(forDeck), { ...rest, _info: { select_tags: ['ngsi-ld-gateway'] } });
  });

  it('docs/kong.md names every problem the plugin answers with', () => {
    for (const [, name = ''] of read('kong-plugins/ngsi-ld-purge/problem.ts').matchAll(
      /(?:\$\{TYPE\}|\/errors\/)([A-Za-z-]+)/g,
    )) {
      assert.ok(page.includes(name), name);
    }
  });

  it('docs/kong.md quotes what the plugin reports to the log of Kong, in every case', async () => {
    const quoted = [...page.matchAll(/\*(ngsi-ld-purge [a-z ]+) …\*/g)].map(([, start = '']) => start);
    const unprepared = new FakeKong().trouble('service.setTarget', { kind: 'throw' });
    await new Plugin({ sidecar_host: 'sidecar' }).access(unprepared.pdk);
    const misconfigured = new FakeKong();
    await new Plugin({}).access(misconfigured.pdk);
    for (const kong of [unprepared, misconfigured]) {
      const [message] = kong.calls.filter((call) => call.method === 'log.err').flatMap((call) => call.args);
      assert.ok(
        quoted.some((start) => String(message).startsWith(start)),
        String(message),
      );
    }
  });
});
