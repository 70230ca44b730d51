import assert from 'node:assert/strict';
import { it } from 'node:test';
import { mergeBatchResult } from '../../../sidecar/write-checks/index.js';

it('entities of a reduced batch do not count as written if a successful answer contains a problem', () => {
  const refused = [{ entityId: 'urn:a:2', error: 'refused' }];
  const problem = { type: 'https://uri.etsi.org/ngsi-ld/errors/InternalError', title: 'gone' };
  const merged = (status: number, body: unknown) =>
    mergeBatchResult(status, JSON.stringify(body), ['urn:a:1'], refused, 'unreadable');
  for (const status of [200, 201, 207])
    assert.deepEqual(merged(status, problem), {
      success: [],
      errors: [{ entityId: 'urn:a:1', error: problem }, ...refused],
    });
  for (const body of [['urn:a:1'], { type: 'Vehicle' }])
    assert.deepEqual(merged(201, body), { success: ['urn:a:1'], errors: refused });
});
