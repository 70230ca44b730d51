import { after, before, it } from 'node:test';
import { PostgresStore } from '../../sidecar/store/postgres-store.js';
import { migrateTo } from '../../sidecar/store/postgres-migrations.js';
import { StoreDatabase } from '../support/postgres.js';
import { storeContract } from '../support/store-contract.js';
import { behaveByPlainRules } from '../support/store-model.js';
import { handClock } from '../support/store-samples.js';
import type { Clock } from '../../sidecar/shared/clock.js';
import { runs } from '../support/thoroughness.js';

let database: StoreDatabase;

before(async () => {
  database = await StoreDatabase.create(migrateTo);
});
after(() => database.drop());

async function open(clock: Clock): Promise<PostgresStore> {
  await database.empty();
  return PostgresStore.open(database.url, { clock });
}

storeContract('PostgreSQL', open);

it('a PostgreSQL store follows the plain model for any series of writes, and keeps all references intact', async () => {
  await behaveByPlainRules(() => open(handClock()), { numRuns: runs(10) });
});
