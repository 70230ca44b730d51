import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { SqliteStore } from '../../sidecar/store/sqlite-store.js';
import { storeContract } from '../support/store-contract.js';

const folder = mkdtempSync(join(tmpdir(), 'schema-store-'));
let files = 0;

after(() => {
  rmSync(folder, { recursive: true });
});

storeContract('SQLite in memory', (clock) => SqliteStore.open(':memory:', clock));
storeContract('SQLite in a file', (clock) => SqliteStore.open(join(folder, `${files++}.db`), clock));
