import { readFile } from 'node:fs/promises';
import { format, type FormatConfig } from 'oxfmt';
import openapiTypescript, { astToString } from 'openapi-typescript';
import type { OpenAPI3 } from 'openapi-typescript';
import { join } from 'node:path';
import { startTestBroker, startTestGateway } from './gateway-harness.js';
import { ROOT } from './project.js';

/** Where the types of the API are, for the console. */
export const CONSOLE_TYPES = join(ROOT, 'console/api/types.ts');

const HEADER = `/** The documents of the API, made from its own description by \`npm run console-types\`. */\n\n`;

/** The settings of the project's formatter. */
async function formatOptions(): Promise<FormatConfig> {
  return JSON.parse(await readFile(join(ROOT, '.oxfmtrc.json'), 'utf8')) as FormatConfig;
}

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
  const { code, errors } = await format(CONSOLE_TYPES, HEADER + astToString(nodes), await formatOptions());
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  return code;
}
