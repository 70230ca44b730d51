// npm runs this after `npm ci`: it removes the C++ headers that come with the package `node`. They are 67 MB, and nothing is compiled here.

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGES = 'node_modules/node/node_modules';

for (const name of existsSync(PACKAGES) ? readdirSync(PACKAGES) : [])
  if (name.startsWith('node-')) rmSync(join(PACKAGES, name, 'include'), { recursive: true, force: true });
