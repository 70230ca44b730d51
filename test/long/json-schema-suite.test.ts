import { after, describe, it } from 'node:test';
import { startApi } from '../integration/api-client.js';
import { stopAll } from '../support/gateway-harness.js';
import { SUITE_CASES } from '../support/json-schema-suite/cases.js';
import { checkCase, prepareSuite } from '../support/json-schema-suite/over-http.js';

after(stopAll);

describe('the whole official suite of JSON Schema over HTTP', () => {
  it('models give the verdicts of the whole official suite over HTTP', async () => {
    const { api } = await startApi();
    await prepareSuite(api);
    await api.post('/domains', { name: 'suite' });
    for (const one of SUITE_CASES) await checkCase(api, one);
  });
});
