import type { Database } from 'better-sqlite3';
import { userVersion } from './migrations.js';

/** What a write may need: room for 64 KiB. */
const ROOM = "INSERT INTO content (sha256, size, text) VALUES ('', 65536, hex(zeroblob(32768)))";

/**
 * Finds out whether writes work, by one that changes nothing: room is taken and given back, and the number of the format
 * is written again.
 *
 * @throws SqliteError when the database is locked, read-only or full
 */
export function checkWritable(db: Database): void {
  db.transaction(() => {
    db.exec(`SAVEPOINT room; ${ROOM}; ROLLBACK TO room; RELEASE room`);
    db.pragma(`user_version = ${userVersion(db)}`);
  }).immediate();
}
