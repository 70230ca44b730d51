import { after } from 'node:test';
import { PostgresStore } from '../../sidecar/schemas/store/postgres-store.js';
import { createDatabase, type TestDatabase } from '../support/postgres.js';
import { storeContract } from '../support/store-contract.js';

const databases: TestDatabase[] = [];

after(async () => {
  for (const database of databases) await database.drop();
});

storeContract('PostgreSQL', async (clock) => {
  const database = await createDatabase();
  databases.push(database);
  return PostgresStore.open(database.url, { clock });
});
