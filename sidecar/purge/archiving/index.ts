/** Archives what a purge deletes before it deletes it. */
export { type ArchivedPart, archivedKeys, Archiving, type PurgeArchive } from './archiving.js';
