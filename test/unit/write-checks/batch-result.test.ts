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

it('entities of a reduced batch that a successful answer names as failed do not count as written', () => {
  const refused = [{ entityId: 'urn:a:3', error: 'refused' }];
  const failed = { entityId: 'urn:a:2', error: { title: 'No', status: 400 } };
  const expected = { success: ['urn:a:1'], errors: [failed, ...refused] };
  const scorpio = [
    { id: 'urn:a:1', success: [{}] },
    { id: 'urn:a:2', failure: [failed.error] },
  ];
  for (const status of [200, 201, 207])
    for (const body of [{ success: ['urn:a:1'], errors: [failed] }, scorpio])
      assert.deepEqual(
        mergeBatchResult(status, JSON.stringify(body), ['urn:a:1', 'urn:a:2'], refused, 'unreadable'),
        expected,
        String(status),
      );
});
