/**
 * Runs test files one after the other in this process, each as a suite, because starting a process for each file and loading
 * the gateway there takes longer than most tests. Several processes share the files: each takes the next one that nobody has
 * taken, so that all of them are busy until the end.
 */
import { AsyncResource } from 'node:async_hooks';
import { readFileSync, unlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { after, describe } from 'node:test';

/** A folder with `files.json`, the paths of the compiled files, and for each file that is not taken yet its index. */
const queue = process.env['TEST_QUEUE'] ?? '';
const files = /** @type {readonly string[]} */ (JSON.parse(readFileSync(join(queue, 'files.json'), 'utf8')));
const load = createRequire(import.meta.url);
const compiled = join(import.meta.dirname, '..', '.tests');

/** Filled by test/support/shared-by-files.ts. @type {(() => Promise<void>)[]} */
const closedAfterLastFile = [];
Object.assign(globalThis, { closedAfterLastFile });
after(async () => {
  for (const close of closedAfterLastFile) await close();
});

/** Half an hour, for a machine that is busy with other things. */
const FILE_TIMEOUT_MS = 1_800_000;

/** Suites that start here are not part of the suite at whose end they start. */
const outside = new AsyncResource('test file');
runNext();

function runNext() {
  const file = files.find((_file, index) => take(index));
  if (file === undefined) return;
  describe(relative(compiled, file).replace(/\.js$/, '.ts'), { timeout: FILE_TIMEOUT_MS }, () => {
    // Before the hooks of the file, because an error in one of them skips the others.
    after(() => {
      outside.runInAsyncScope(runNext);
    });
    // Loaded at once, so that its hooks belong to the suite.
    load(file);
  });
}

/** Takes a file. @param {number} index @returns {boolean} false if it was already taken, by this process or another */
function take(index) {
  try {
    unlinkSync(join(queue, String(index)));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
