/** Archives what a purge deletes before it deletes it. */
export { type ArchivedPart, archivedKeys, Archiving, NOT_UTF8, type PurgeArchive } from './archiving.js';
