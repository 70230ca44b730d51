/** Creates again what a purge has archived. */
export { NOTHING_RESTORED, type RestoreEvent, type RestorePosition, type RestoreReport } from './progress.js';
export { restoreArchive, type RestoreOrder } from './restore.js';
