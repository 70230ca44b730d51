/** Generates `sidecar/client/types.ts`, the types of the API, from its own description; run by `npm run check`. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { startTestBroker, startTestGateway, stopAll } from './gateway-harness.js';
import { ROOT } from './project.js';

const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const;

const broker = await startTestBroker();
const gateway = await startTestGateway({ BROKER_URL: broker.url, LOG_LEVEL: 'silent' });
const description = (await gateway.send('GET', '/api/v2/openapi.json')).json() as Description;
await stopAll();
const nodes = await openapiTypescript(typesOf(description) as OpenAPI3, {
  immutable: true,
  // A member with a default may be omitted.
  defaultNonNullable: false,
  emptyObjectsUnknown: true,
});
await writeFile(join(ROOT, 'sidecar/client/types.ts'), astToString(nodes));

type Content = Readonly<Record<string, { readonly schema?: object }>>;

interface Operation {
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly required?: boolean;
    readonly schema: object;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface Description {
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Partial<Readonly<Record<(typeof METHODS)[number], Operation>>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

/**
 * Builds a description of documents only: those of the API and, as a further one, `Paths`, with
 * what each operation accepts and returns on success. Problems have a single type, and headers have
 * none. The path parameters are in the path itself.
 */
function typesOf({ info, paths, components }: Description): object {
  const Paths = objectOf(
    Object.entries(paths).map(([path, item]) => [
      path,
      objectOf(
        METHODS.flatMap((method) =>
          item[method] === undefined ? [] : [[method, documentsOf(item[method])] as const],
        ),
      ),
    ]),
  );
  return { openapi: '3.1.0', info, paths: {}, components: { schemas: { ...components.schemas, Paths } } };
}

function documentsOf({ parameters = [], requestBody, responses }: Operation): object {
  const asked = parameters.filter((one) => one.in === 'query');
  const query = {
    ...objectOf(asked.map(({ name, schema }) => [name, schema])),
    required: asked.flatMap(({ name, required }) => (required === true ? [name] : [])),
  };
  const json = requestBody?.content['application/json'];
  const answers = Object.entries(responses).flatMap(([status, { content }]) =>
    status.startsWith('2') ? [content] : [],
  );
  const bodies = [json === undefined ? requestBody?.content : { json }];
  return objectOf([
    ...(asked.length === 0 ? [] : [['query', query] as const]),
    ...anyOf('body', bodies),
    ...anyOf('answer', answers),
  ]);
}

/** Returns the member if there is any content. */
function anyOf(name: string, contents: readonly (Content | undefined)[]): readonly [string, object][] {
  const schemas = contents.flatMap((content = {}) => Object.values(content)).map(({ schema = {} }) => schema);
  const [first, ...more] = new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values();
  if (first === undefined) return [];
  return [[name, more.length === 0 ? first : { anyOf: [first, ...more] }]];
}

/** Returns the schema of an object that has all these members. */
function objectOf(members: readonly (readonly [string, object])[]): object {
  return { type: 'object', required: members.map(([name]) => name), properties: Object.fromEntries(members) };
}
