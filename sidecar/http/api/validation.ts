import { Ajv2020 } from 'ajv/dist/2020.js';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { MAX_FAULTS } from './faults.js';

/** The schemas are constants of this folder without references, so they need no check of their own. */
const OPTIONS = {
  ...{ ownProperties: true, allowUnionTypes: true, meta: false, validateSchema: false },
  // faults.ts needs the value and the schema at fault.
  verbose: true,
} as const;

/** Each compiles a schema when it first checks by it, and keeps that by the schema's object. */
const OF_FIRST_FAULT = new Ajv2020({ ...OPTIONS });
const OF_EVERY_FAULT = new Ajv2020({ ...OPTIONS, allErrors: true });
const OF_QUERIES = new Ajv2020({ ...OPTIONS, allErrors: true, useDefaults: true });

/** Checks bodies and queries. Names in paths are not checked: a name that nothing can have is answered 404 by its handler. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  switch (httpPart) {
    case 'body':
      return bodyCheck(schema);
    case 'querystring':
      return queryCheck(schema);
    default:
      return () => true;
  }
};

/** Nothing in a body is coerced, removed or filled in. */
function bodyCheck(schema: TSchema): ReturnType<typeof compileValidator> {
  return (body: unknown) => {
    // Every unknown member is a fault: of a body with masses of them, only the first fault is reported.
    const isSmall = typeof body !== 'object' || body === null || Object.keys(body).length <= MAX_FAULTS;
    return check(isSmall ? OF_EVERY_FAULT : OF_FIRST_FAULT, schema, body);
  };
}

/** Parameters are text, of which the schema may ask for numbers and booleans. */
function queryCheck(schema: TSchema): ReturnType<typeof compileValidator> {
  const { properties } = schema as {
    readonly properties: Readonly<Record<string, { readonly type?: string }>>;
  };
  return (query: Readonly<Record<string, unknown>>) => {
    const values = Object.entries(query).map(([name, text]) => [
      name,
      typeof text === 'string' ? valueOf(text, properties[name]?.type) : text,
    ]);
    return check(OF_QUERIES, schema, Object.fromEntries(values));
  };
}

function check(ajv: Ajv2020, schema: TSchema, value: unknown) {
  return ajv.validate(schema, value) ? { value } : { error: ajv.errors ?? [] };
}

/** Text that is spelled as the type is; else the text itself, which the check refuses. */
function valueOf(text: string, type: string | undefined): unknown {
  if (type === 'integer' && /^\d{1,16}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
