/** Locks a SQLite file until the parent process disconnects. */
import Database from 'better-sqlite3';

process.on('message', (/** @type {{ readonly lock: string }} */ { lock }) => {
  new Database(lock).exec('BEGIN IMMEDIATE');
  process.send?.({});
});
process.on('disconnect', () => process.exit());
