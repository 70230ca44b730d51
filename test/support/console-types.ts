import { format, resolveConfig } from 'prettier';
import openapiTypescript, { astToString } from 'openapi-typescript';
import type { OpenAPI3 } from 'openapi-typescript';
import { join } from 'node:path';
import { startTestBroker, startTestGateway } from './gateway-harness.js';
import { ROOT } from './project.js';

/** Where the types of the API are, for the console. */
export const CONSOLE_TYPES = join(ROOT, 'console/api/types.ts');

const HEADER = `/** The documents of the API, made from its own description by \`npm run console-types\`. */\n\n`;

/** The types of the API as its own description has them: the text of `console/api/types.ts`. */
export async function consoleTypes(): Promise<string> {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url, LOG_LEVEL: 'silent' });
  const description = (await gateway.send('GET', '/api/v2/openapi.json')).json() as OpenAPI3;
  // The console needs the documents that go to and fro, and they are the smaller part.
  const nodes = await openapiTypescript(
    { ...description, servers: [], paths: {} },
    {
      immutable: true,
      // A member with a default may be left out.
      defaultNonNullable: false,
    },
  );
  const options = await resolveConfig(CONSOLE_TYPES);
  return format(HEADER + astToString(nodes), { ...options, parser: 'typescript' });
}
