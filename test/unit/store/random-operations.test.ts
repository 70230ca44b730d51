import { it } from 'node:test';
import { SqliteStore } from '../../../sidecar/store/sqlite-store.js';
import { handClock } from '../../support/store-samples.js';
import { behaveByPlainRules } from '../../support/store-model.js';
import { runs } from '../../support/thoroughness.js';

it('a SQLite store follows the rules of the model for any series of operations, and keeps everything they refer to', async () => {
  await behaveByPlainRules(() => SqliteStore.open(':memory:', handClock()), { numRuns: runs(20) });
});
