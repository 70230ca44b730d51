import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The version of this product: that of the nearest package.json above this file. */
export const VERSION = versionAbove(import.meta.dirname);

function versionAbove(folder: string): string {
  const path = join(folder, 'package.json');
  if (existsSync(path))
    return String((JSON.parse(readFileSync(path, 'utf8')) as { version?: unknown }).version);
  const parent = dirname(folder);
  return parent === folder ? 'unknown' : versionAbove(parent);
}
