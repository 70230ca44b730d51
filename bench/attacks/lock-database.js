/** Locks an SQLite file until its parent lets go of it. */
import Database from 'better-sqlite3';

process.on('message', (/** @type {{ readonly lock: string }} */ { lock }) => {
  new Database(lock).exec('BEGIN IMMEDIATE');
  process.send?.({});
});
process.on('disconnect', () => process.exit());
