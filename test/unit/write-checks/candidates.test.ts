import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { WritePolicy } from '../../../sidecar/store/index.js';
import { candidatesFor, settingPolicy, tenantsOf } from '../../../sidecar/write-checks/candidates.js';
import { WriteChecks } from '../../../sidecar/write-checks/index.js';

it('a policy that is off applies only if all tenants that a request may mean are its own', () => {
  const off = { name: 'off', settings: { mode: 'off', tenant: 'lab', priority: 1 } } as WritePolicy;
  const modeFor = (headers: Readonly<Record<string, string>>) =>
    candidatesFor([off], 'enforce', { tenants: tenantsOf(headers), caller: '' })[0]?.mode;
  assert.equal(modeFor({ 'ngsild-tenant': 'lab' }), 'off');
  for (const headers of [
    { 'ngsild-tenant': 'lab', 'fiware-service': 'city' },
    { 'ngsild-tenant': 'LAB' },
    { 'fiware-service': 'city' },
    {},
  ])
    assert.equal(modeFor(headers), 'enforce', JSON.stringify(headers));
});

it('a write that cannot be judged now is refused only by a policy that is enforced', () => {
  const options = { clock: { now: () => 0 }, observer: { failed: () => {} } };
  const checks = new WriteChecks(options as unknown as ConstructorParameters<typeof WriteChecks>[0]);
  for (const [mode, onFailure, action] of [
    ['enforce', 'refuse', 'fail-closed'],
    ['enforce', 'accept', 'fail-open'],
    ['report', 'refuse', 'fail-open'],
  ] as const) {
    const policy = { ...settingPolicy(mode), onFailure };
    assert.equal(checks.decideFailed([policy], new Error('away')).action, action);
  }
});
