import { readFile } from 'node:fs/promises';
import { format, type FormatConfig } from 'oxfmt';
import openapiTypescript, { astToString } from 'openapi-typescript';
import type { OpenAPI3 } from 'openapi-typescript';
import { join } from 'node:path';
import { startTestBroker, startTestGateway } from './gateway-harness.js';
import { ROOT } from './project.js';

/** Where the types of the API are, for the client of command line and console. */
export const CLIENT_TYPES = join(ROOT, 'sidecar/client/types.ts');

const HEADER = `/** The API, generated from its openapi.json by \`npm run client-types\`, do not edit. */\n\n`;

/** The settings of the project's formatter. */
async function formatOptions(): Promise<FormatConfig> {
  return JSON.parse(await readFile(join(ROOT, '.oxfmtrc.json'), 'utf8')) as FormatConfig;
}

/** The types of the API as its own description has them: the text of `sidecar/client/types.ts`. */
export async function clientTypes(): Promise<string> {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url, LOG_LEVEL: 'silent' });
  const description = (await gateway.send('GET', '/api/v2/openapi.json')).json() as Description;
  const nodes = await openapiTypescript(withoutFailures(description) as unknown as OpenAPI3, {
    immutable: true,
    // A member with a default may be left out.
    defaultNonNullable: false,
    emptyObjectsUnknown: true,
  });
  const { code, errors } = await format(CLIENT_TYPES, HEADER + astToString(nodes), await formatOptions());
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  return code;
}

interface Operation {
  readonly responses?: Readonly<Record<string, object>>;
  readonly requestBody?: { readonly content: Readonly<Record<string, object>> };
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, object>>;
}

/** What the client has types for: the documents that go to and fro. Problems have one type, and headers none: they are half of all. */
function withoutFailures({ paths, components, ...rest }: Description): object {
  const mapped = <From, To>(members: Readonly<Record<string, From>>, change: (one: From) => To) =>
    Object.fromEntries(Object.entries(members).map(([name, one]) => [name, change(one)]));
  const slim = (operation: Operation): Operation => {
    const { responses, requestBody } = operation;
    if (responses === undefined) return operation;
    const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
    const json = requestBody?.content['application/json'];
    return {
      ...operation,
      ...(json === undefined
        ? {}
        : { requestBody: { ...requestBody, content: { 'application/json': json } } }),
      responses: mapped(Object.fromEntries(successes), (response) => ({ ...response, headers: {} })),
    };
  };
  const { schemas = {} } = components;
  return {
    ...rest,
    servers: [],
    paths: mapped(paths, (path) => mapped(path, slim)),
    components: { schemas },
  };
}
