import { it } from 'node:test';
import { SqliteStore } from '../../../../sidecar/schemas/store/sqlite-store.js';
import { handClock } from '../../../support/store-samples.js';
import { behaveByPlainRules } from '../../../support/store-model.js';

it('a SQLite store does with any series of writes what the plain rules say, and holds what they name', async () => {
  await behaveByPlainRules(() => SqliteStore.open(':memory:', handClock()), { numRuns: 60 });
});
