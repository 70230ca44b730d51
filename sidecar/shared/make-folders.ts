import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Creates a folder and its parents. A recursive mkdir hangs where none can be created, e.g. below /proc. */
export function makeFolders(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  if (dirname(path) !== path) makeFolders(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have created it first.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
