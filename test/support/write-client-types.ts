/** Writes the types of the API's client; run by `npm run client-types`. */
import { writeFile } from 'node:fs/promises';
import { CLIENT_TYPES, clientTypes } from './client-types.js';
import { stopAll } from './gateway-harness.js';

await writeFile(CLIENT_TYPES, await clientTypes());
await stopAll();
