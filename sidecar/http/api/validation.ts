import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { type InputIssue, isObject, LosslessNumber, pointerOf } from '../../shared/json/json.js';
import { isResourceName } from '../../shared/resource-name.js';
import { MAX_QUOTED_CHARS, quoted } from '../../shared/format-value.js';
import { refused, type RequestRefusedError } from '../refused.js';

/** The schemas are constants without references, so they need no check of their own. */
const OPTIONS = {
  ownProperties: true,
  allowUnionTypes: true,
  meta: false,
  validateSchema: false,
  // The messages need the value and the schema at fault.
  verbose: true,
} as const;

/** Each instance compiles a schema on first use, and caches the result by the schema object. */
const OF_FIRST_FAULT = new Ajv2020({ ...OPTIONS });
const OF_EVERY_FAULT = new Ajv2020({ ...OPTIONS, allErrors: true });
const OF_QUERIES = new Ajv2020({ ...OPTIONS, allErrors: true, useDefaults: true });

/** Checks bodies and queries. Path names are not checked: the handler answers an impossible name with 404. */
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

/** Checks a body. Nothing in it is coerced, removed or filled in. */
function bodyCheck(schema: TSchema): ReturnType<typeof compileValidator> {
  return (body: unknown) => {
    // Every unknown member is a fault, so for a body with very many members only the first fault is reported.
    const isSmall = typeof body !== 'object' || body === null || Object.keys(body).length <= MAX_FAULTS;
    return check(isSmall ? OF_EVERY_FAULT : OF_FIRST_FAULT, schema, body);
  };
}

/** Checks a query. Its parameters are text, but the schema may require numbers and booleans. */
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

/** Converts text that is spelled like a value of the type. Otherwise returns the text, which the check then refuses. */
function valueOf(text: string, type: string | undefined): unknown {
  if (type === 'integer' && /^\d{1,16}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

const MAX_FAULTS = 100;

const MAX_NAME_CHARS = 200;

/**
 * Describes in words what Ajv found wrong in a request.
 *
 * @param errors at least one, with the value and the schema at fault (`verbose`)
 */
export function refusalOf(errors: readonly ErrorObject[], part: string): RequestRefusedError {
  return part === 'body' ? bodyRefused(errors) : queryRefused(errors);
}

/** Creates a 422 with every fault. */
function bodyRefused(errors: readonly ErrorObject[]): RequestRefusedError {
  const misplaced = misplacedSchema(errors);
  // A failed `if` adds nothing to the faults in its branches.
  const own = errors.filter(({ keyword }) => keyword !== 'if').slice(0, MAX_FAULTS);
  const faults = misplaced === undefined ? own.map(bodyFault) : [misplaced];
  const [{ pointer, detail } = { pointer: '', detail: 'is wrong' }, ...others] = faults;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  const first = `${pointer === '' ? 'it' : pointer} ${detail}${more}`;
  return refused('bodyInvalid', `The body is invalid: ${first}.`, { errors: faults });
}

function bodyFault(error: ErrorObject): InputIssue {
  const { instancePath, keyword, params, data, parentSchema, message = 'is wrong' } = error;
  const given: Readonly<Record<string, unknown>> = params;
  switch (keyword) {
    case 'additionalProperties': {
      const name = String(given['additionalProperty']).slice(0, MAX_NAME_CHARS);
      const known = namesIn(parentSchema);
      const these = known.length === 0 ? '' : `; the members here are ${known.join(', ')}`;
      return { pointer: instancePath + pointerOf([name]), detail: `is not a known member${these}` };
    }
    case 'required':
      return {
        pointer: instancePath,
        detail: `must have the member ${quoted(String(given['missingProperty']))}`,
      };
    case 'enum':
      return { pointer: instancePath, detail: `must be one of ${JSON.stringify(given['allowedValues'])}` };
    case 'type': {
      if (data instanceof LosslessNumber)
        return { pointer: instancePath, detail: 'must be a number that an IEEE 754 double holds' };
      const types = String(given['type']).split(',');
      return {
        pointer: instancePath,
        detail: `must be ${types.map((type) => IN_WORDS[type] ?? type).join(' or ')}`,
      };
    }
    case 'minimum':
      return { pointer: instancePath, detail: `must be ${String(given['limit'])} or more` };
    case 'maximum':
      return { pointer: instancePath, detail: `must be ${String(given['limit'])} or less` };
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return {
        pointer: instancePath,
        detail: given['limit'] === 1 ? 'must not be empty' : `must have ${countOf(keyword, given)} or more`,
      };
    case 'maxLength':
    case 'maxItems':
      return { pointer: instancePath, detail: `must have ${countOf(keyword, given)} or fewer` };
    case 'maxProperties': {
      const { description } = (parentSchema ?? {}) as { readonly description?: string };
      return { pointer: instancePath, detail: description ?? message };
    }
    case 'const':
      return { pointer: instancePath, detail: `must be ${JSON.stringify(given['allowedValue'])}` };
    default:
      return { pointer: instancePath, detail: message };
  }
}

function countOf(keyword: string, { limit }: Readonly<Record<string, unknown>>): string {
  const what = { Length: 'characters', Items: 'items' }[keyword.slice(3)] ?? 'members';
  return `${String(limit)} ${what}`;
}

function namesIn(schema: ErrorObject['parentSchema']): readonly string[] {
  return Object.keys((schema?.['properties'] ?? {}) as object);
}

const IN_WORDS: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'an array',
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
};

/** Top-level members of JSON Schemas that the bodies of this API do not have. */
const OF_SCHEMAS = [
  '$schema',
  '$id',
  '$ref',
  '$defs',
  'definitions',
  'properties',
  'allOf',
  'anyOf',
  'oneOf',
  'required',
];

/** The fault of a body that is itself a JSON Schema although it should contain one; undefined for other bodies. */
function misplacedSchema(errors: readonly ErrorObject[]): InputIssue | undefined {
  const { data, parentSchema } = errors.find(({ instancePath }) => instancePath === '') ?? {};
  const { properties = {}, required = [] } = (parentSchema ?? {}) as {
    readonly properties?: object;
    readonly required?: readonly string[];
  };
  if (!Object.hasOwn(properties, 'schema') || !isObject(data) || Object.hasOwn(data, 'schema'))
    return undefined;
  if (!OF_SCHEMAS.some((name) => Object.hasOwn(data, name))) return undefined;
  const { title } = data;
  const name = typeof title === 'string' && isResourceName(title) ? title : 'Vehicle';
  const form = required.includes('name') ? `{"name": "${name}", "schema": …}` : '{"schema": …}';
  return { pointer: '', detail: `is a JSON Schema itself; send it inside a body such as ${form}` };
}

/** Creates a 400 with the first fault: an unknown parameter, or otherwise the first wrong one. */
function queryRefused(errors: readonly ErrorObject[]): RequestRefusedError {
  const error = errors.find(({ keyword }) => keyword === 'additionalProperties') ?? errors[0];
  if (error === undefined) throw new Error('There is no fault to be told.');
  const { keyword, instancePath, params, data, parentSchema } = error;
  const given: Readonly<Record<string, unknown>> = params;
  switch (keyword) {
    case 'additionalProperties': {
      const known = namesIn(parentSchema);
      const these =
        known.length === 0
          ? ': there are no parameters here'
          : `; the parameters here are ${known.join(', ')}`;
      return parameterRefused(String(given['additionalProperty']), `is not known here${these}`);
    }
    case 'required':
      return parameterRefused(String(given['missingProperty']), 'is missing');
    default:
      return parameterRefused(
        instancePath.slice(1),
        parameterFault(keyword, data, parentSchema as ParameterSchema),
      );
  }
}

interface ParameterSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly description?: string;
}

function parameterFault(keyword: string, value: unknown, schema: ParameterSchema): string {
  if (Array.isArray(value)) return 'is given more than once';
  if (value === '') return 'is empty';
  if (schema.type === 'integer') return `must be a whole number from ${schema.minimum} to ${schema.maximum}`;
  if (schema.type === 'boolean') return 'must be true or false';
  if (schema.enum !== undefined) return `must be one of ${schema.enum.join(', ')}`;
  if (keyword === 'maxLength') return `must have at most ${schema.maxLength} characters`;
  return `must be ${schema.description?.replace(/\.$/, '')}; it is ${quoted(String(value))}`;
}

/** Creates the refusal of a query parameter. @param detail completes "The parameter … " */
export function parameterRefused(parameter: string, detail: string): RequestRefusedError {
  return refused('invalidRequest', `The parameter ${quoted(parameter)} ${detail}.`, {
    parameter: parameter.slice(0, MAX_QUOTED_CHARS),
  });
}
