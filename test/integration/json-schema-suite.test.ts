import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { stopAll } from '../support/gateway-harness.js';
import { SUITE_CASES, type SuiteCase } from '../support/json-schema-suite/cases.js';
import { checkCase, prepareSuite } from '../support/json-schema-suite/over-http.js';
import { type ApiClient, startApi } from './api-client.js';

after(stopAll);

/**
 * Cases that depend on how documents are stored, named and read. The other cases run without HTTP,
 * and in test/long with it.
 */
const KINDS: Readonly<Record<string, (one: SuiteCase) => boolean>> = {
  'documents that are booleans': ({ schema }) => typeof schema === 'boolean',
  'meta-schemas with vocabularies': ({ name }) => /\/vocabulary /.test(name),
  'dynamic references over documents': ({ name, schema }) =>
    /\/(?:dynamicRef|recursiveRef) /.test(name) && JSON.stringify(schema).includes('localhost:1234'),
  'names that are URNs': ({ schema }) => /"\$id":"urn:/.test(JSON.stringify(schema)),
  'meta-schemas of drafts': ({ schema }) => /"\$ref":"https?:..json-schema.org/.test(JSON.stringify(schema)),
  'members with a meaning in JavaScript': ({ schema }) => JSON.stringify(schema).includes('__proto__'),
  'empty enums': ({ schema }) => JSON.stringify(schema).includes('"enum":[]'),
};

describe('cases of the official suite of JSON Schema over HTTP', () => {
  let api: ApiClient;
  before(async () => {
    ({ api } = await startApi());
    await prepareSuite(api);
    await api.post('/domains', { name: 'suite' });
  });

  for (const [kind, isMeant] of Object.entries(KINDS))
    it(`models give the verdicts of the official suite over HTTP: ${kind}`, async () => {
      const cases = SUITE_CASES.filter(isMeant);
      assert.ok(cases.length > 0);
      for (const one of cases) await checkCase(api, one);
    });
});
