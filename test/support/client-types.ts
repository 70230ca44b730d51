/** Generates `sidecar/client/types.ts`, the types of the API, from its own description; run by `npm run check`. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { startTestBroker, startTestGateway, stopAll } from './gateway-harness.js';
import { ROOT } from './project.js';

const broker = await startTestBroker();
const gateway = await startTestGateway({ BROKER_URL: broker.url, LOG_LEVEL: 'silent' });
const description = (await gateway.send('GET', '/api/v2/openapi.json')).json() as OpenAPI3;
await stopAll();
const nodes = await openapiTypescript(description, {
  immutable: true,
  // A member with a default may be omitted.
  defaultNonNullable: false,
  emptyObjectsUnknown: true,
});
await writeFile(join(ROOT, 'sidecar/client/types.ts'), astToString(nodes));
