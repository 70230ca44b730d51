/** Creates again what a purge has archived. */
export { NOTHING_RESTORED, type RestoreEvent, type RestorePosition, type RestoreReport } from './page.js';
export { restoreArchive, type RestoreOrder } from './restore.js';
