/** Archives what a purge deletes before it deletes it. */
export { archivedKeys } from './archived-keys.js';
export { type ArchivedPart, Archiving, type PurgeArchive } from './archiving.js';
