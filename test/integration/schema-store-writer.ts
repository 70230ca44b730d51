/**
 * Writes to a store forever, and prints the number of each write when it is done. Arguments: FILE
 * FIRST-NUMBER.
 */
import { SqliteStore } from '../../sidecar/store/sqlite-store.js';
import { handClock } from '../support/store-samples.js';
import { takeStep } from '../support/store-steps.js';

const [path = '', first = ''] = process.argv.slice(2);
const store = await SqliteStore.open(path, handClock());
for (let n = Number(first); ; n++) {
  await takeStep(store, n);
  process.stdout.write(`${n}\n`);
}
