import assert from 'node:assert/strict';
import { it } from 'node:test';
import { WriteStatistics } from '../../../sidecar/write-checks/write-statistics.js';
import { type CandidatePolicy, settingPolicy } from '../../../sidecar/write-checks/candidates.js';

const policyOf = (tenant?: string): CandidatePolicy => ({ ...settingPolicy('report'), name: 'cars', tenant });

it('a policy does not count findings of a policy with the same name in another tenant', () => {
  const record = new WriteStatistics();
  const finding = { model: 'city/Car', pointer: '/speed', keyword: 'type', detail: 'must be a number' };
  const item = {
    index: 0,
    id: 'urn:ngsi-ld:Car:1',
    policy: 0,
    verdict: 'invalid',
    findings: [finding],
  } as const;
  const judgement = { valid: [], others: [item], ids: undefined, dependsOn: [] };
  record.add(judgement, [policyOf('b')], { verdict: 'invalid', action: 'pass', refused: [] });
  const checked = (...tenants: readonly (string | undefined)[]) =>
    record.counts(tenants.map((tenant) => policyOf(tenant))).checked;
  assert.deepEqual([checked('a'), checked(undefined), checked('b')], [0, 0, 1]);
  assert.equal(record.counts().checked, 1);
});
