import { join } from 'node:path';
import { SqliteStore } from '../../sidecar/store/sqlite-store.js';
import { storeContract } from '../support/store-contract.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder();
let files = 0;

storeContract('SQLite in a file', (clock) => SqliteStore.open(join(folder, `${files++}.db`), clock));
