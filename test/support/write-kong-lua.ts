/** Writes the plugin's files for hybrid mode and Konnect; run by `npm run kong-lua`. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LUA_FOLDER, luaFiles } from './kong-lua.js';

for (const [name, text] of Object.entries(luaFiles())) await writeFile(join(LUA_FOLDER, name), text);
