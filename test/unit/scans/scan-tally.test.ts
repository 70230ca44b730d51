import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ScanTally } from '../../../sidecar/scans/scan-tally.js';
import { judgingTasks } from '../../../sidecar/schemas/validation/judging.js';

it('one page with more findings than a record shows is said to have more', () => {
  const names = Array.from({ length: 1001 }, (_, index) => `a${String(index)}`);
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'number' }]));
  const entities = names.map((name) => ({
    ...{ id: `urn:ngsi-ld:Thing:${name}`, type: 'Thing' },
    [name]: { type: 'Property', value: 'no number' },
  }));
  const outcome = judgingTasks.judge({
    text: JSON.stringify(entities),
    take: entities.map((_, index) => index),
    models: [{ key: 'k', name: 'Thing' }],
    ...{ unknownTypes: [], ambiguousTypes: [], reported: 0 },
    schemas: [['k', JSON.stringify({ type: 'object', properties })]],
  });
  assert.ok('judged' in outcome);
  const tally = new ScanTally();
  tally.add({ judged: outcome.judged, models: [{ domain: 'D', model: 'Thing', version: 1 }] });
  assert.equal(tally.found.findings.length, 1000);
  assert.match(tally.warnings.join(' '), /There are more findings than the 1000 shown/);
});
