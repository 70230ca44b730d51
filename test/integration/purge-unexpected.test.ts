import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerMemory } from '../../sidecar/purge/broker/index.js';
import { UnexpectedEntityError, parseEntityPurgeQuery } from '../../sidecar/purge/index.js';
import { proofNameOf } from '../../sidecar/purge/proof/index.js';
import { purge, things } from '../support/purge-harness.js';
import { startStubBroker } from '../support/stub-broker.js';

const QUERY = 'type=Thing&idPattern=Thing';

it('an entity outside the query ends the deletes at once, however many pages were processed', async (t) => {
  // The tenth of twenty pages holds the stranger; the pages behind it are being deleted when it comes.
  const entities = things(400);
  entities.splice(199, 0, { id: 'urn:ngsi-ld:Stranger:1', type: 'Thing' });
  const broker = await startStubBroker(t, { entities, ignores: ['idPattern'], batch: 405 });
  // Proven before, and broken since: only the check of the ids is left.
  const capabilities = new BrokerMemory({ now: () => 0 });
  const selection = parseEntityPurgeQuery(QUERY).selection;
  const proof = proofNameOf(selection, {}, 'pick,key-values,none');
  capabilities.setHonoured(proof);
  const { error, progress } = await purge(broker, QUERY, {
    capabilities,
    limits: { pageSize: 20, concurrency: 4 },
  });
  assert.ok(error instanceof UnexpectedEntityError, String(error));
  assert.ok(broker.entities.has('urn:ngsi-ld:Stranger:1'));
  assert.equal(progress.deleted, 401 - broker.entities.size);
  assert.ok(broker.entities.size >= 199, 'nothing before the stranger was touched');
  assert.equal(capabilities.isHonoured(proof.name), false, 'the next purge proves it again');
});
