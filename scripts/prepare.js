// npm runs this after `npm ci`. It removes the 67 MB of C++ headers in the package `node`, since nothing is compiled here.

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGES = 'node_modules/node/node_modules';

for (const name of existsSync(PACKAGES) ? readdirSync(PACKAGES) : [])
  if (name.startsWith('node-')) rmSync(join(PACKAGES, name, 'include'), { recursive: true, force: true });
