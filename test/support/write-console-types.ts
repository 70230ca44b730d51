/** Writes the types of the API for the console; run by `npm run console-types`. */
import { writeFile } from 'node:fs/promises';
import { CONSOLE_TYPES, consoleTypes } from './console-types.js';
import { stopAll } from './gateway-harness.js';

await writeFile(CONSOLE_TYPES, await consoleTypes());
await stopAll();
