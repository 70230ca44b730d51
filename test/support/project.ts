import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { entryBeside } from '../../sidecar/shared/workers/pool.js';

/** The absolute path of the project's folder. Compiled tests may run from a folder below it. */
export const ROOT = above(import.meta.dirname);

function above(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('There is no package.json above the tests.');
  return above(parent);
}

/**
 * Returns the arguments with which Node starts the module of that name next to another module, as
 * source or compiled like the other one.
 * @param url `import.meta.url` of the other module
 */
export function programBeside(name: string, url: string): readonly string[] {
  const path = fileURLToPath(entryBeside(name, url));
  return path.endsWith('.ts') ? ['--import', 'tsx', path] : [path];
}
