import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultyFields, MAX_FIELDS } from '../../../sidecar/http/request-limits.js';

const SINGLE = [
  ...['NGSILD-Tenant', 'Fiware-Service', 'Fiware-ServicePath', 'NGSILD-Snapshot', 'NGSILD-EntityMap'],
  ...['Authorization', 'X-Auth-Token', 'X-Gateway-Token', 'X-Purge-Policy'],
];

describe('faultyFields', () => {
  it('faultyFields takes as many fields as are allowed, and refuses one more with 431', () => {
    const fields = (count: number) => Array.from({ length: count }, (_, n) => [`x-${n}`, '1']).flat();
    assert.equal(faultyFields(fields(MAX_FIELDS)), undefined);
    assert.equal(faultyFields(fields(MAX_FIELDS + 1))?.status, 431);
  });

  for (const name of SINGLE) {
    it(`faultyFields takes ${name} once, with a value, and refuses it empty or repeated`, () => {
      assert.equal(faultyFields(['Host', 'gw', name, 't1']), undefined);
      for (const raw of [
        [name, ''],
        [name, ' \t'],
        [name, 't1', 'Host', 'gw', name.toUpperCase(), 't1'],
        [name, 't1', name, 't2'],
      ]) {
        const problem = faultyFields(raw);
        assert.equal(problem?.status, 400, JSON.stringify(raw));
        assert.match(problem.detail, new RegExp(name, 'i'));
      }
    });
  }

  it('faultyFields lets other fields be repeated and empty', () => {
    assert.equal(faultyFields(['Link', '<a>', 'Link', '<b>', 'Via', '', 'X-A', '1', 'X-A', '1']), undefined);
  });
});
