import { RESOURCE_NAME_PATTERN } from '../../shared/resource-name.js';
import { quoted, MAX_QUOTED_CHARS } from '../../shared/shown.js';
import { refused, type RequestRefusedError } from '../errors.js';
import type { JsonSchema } from './schema-types.js';

/** The schema of a query parameter: `type`, `default` and bounds are honoured. */
export type ParameterSchema =
  | {
      readonly type: 'integer';
      readonly minimum: number;
      readonly maximum: number;
      readonly default?: number;
      readonly description: string;
    }
  | { readonly type: 'boolean'; readonly default?: boolean; readonly description: string }
  | {
      readonly type: 'string';
      readonly enum: readonly string[];
      readonly default?: string;
      readonly description: string;
    }
  | {
      readonly type: 'string';
      readonly maxLength: number;
      readonly pattern?: string;
      readonly description: string;
    };

/** The query parameters of one operation, as the `querystring` schema of its route. */
export interface ParametersSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ParameterSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties: false;
}

/** Parameters by name; all others are refused. */
export function parameters<const Properties extends Readonly<Record<string, ParameterSchema>>>(
  properties: Properties,
) {
  return { type: 'object', properties, additionalProperties: false } as const;
}

const LIMIT = {
  type: 'integer',
  minimum: 1,
  maximum: 1000,
  description: 'The most items to answer; 100 if not given.',
} as const;

const OFFSET = {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'How many items to skip; none if not given.',
} as const;

/** The requested part of a list, where a list is optional. */
export const OPTIONAL_PAGE = { limit: LIMIT, offset: OFFSET } as const;

/** The requested part of a list. */
export const PAGE = { limit: { ...LIMIT, default: 100 }, offset: { ...OFFSET, default: 0 } } as const;

const VERSION_PARAMETER = { type: 'integer', minimum: 1, maximum: 2_147_483_647 } as const;

export const VERSION = {
  version: {
    ...VERSION_PARAMETER,
    description: 'Number of a version; the current one if not given.',
  },
} as const;

/** Two versions to be compared. */
export const VERSION_RANGE = {
  from: { ...VERSION_PARAMETER, description: 'Number of a version; the one before `to` if not given.' },
  to: { ...VERSION_PARAMETER, description: 'Number of a version; the current one if not given.' },
} as const;

/** The schema of names that users give. */
export const NAME = {
  type: 'string',
  pattern: RESOURCE_NAME_PATTERN,
  description: 'A letter or digit, then up to 127 letters, digits and `_`, `.`, `-`.',
} as const;

/** The name of a model, as a parameter. */
export const MODEL_NAME = {
  type: 'string',
  maxLength: 128,
  pattern: RESOURCE_NAME_PATTERN,
  description: 'the name of a model: a letter or digit, then up to 127 letters, digits and `_`, `.`, `-`.',
} as const;

/** The name of a domain, as a parameter. */
export const DOMAIN_NAME = {
  type: 'string',
  maxLength: 128,
  pattern: RESOURCE_NAME_PATTERN,
  description: 'the name of a domain: a letter or digit, then up to 127 letters, digits and `_`, `.`, `-`.',
} as const;

/** Parameters in paths, for the documentation: an impossible name is answered 404. */
export const PATH_PARAMETERS: Readonly<Record<string, JsonSchema>> = {
  domain: { ...NAME, description: 'Name of a domain.' },
  model: { ...NAME, description: 'Name of a model.' },
  context: {
    type: 'string',
    description: 'Name of a context; of a generated one `{domain}~{model}`.',
  },
  purge: { type: 'string', description: 'Id of a purge.' },
  retentionPolicy: { ...NAME, description: 'Name of a retention policy.' },
  file: { type: 'string', description: 'Name of a file, as the list of files has it.' },
};

/**
 * Reads query parameters by their schemas.
 *
 * @param query names to decoded values; arrays for repeated names
 * @throws RequestRefusedError (400) naming the parameter that is unknown, missing, repeated, empty or out of bounds
 */
export function readParameters(schema: ParametersSchema, query: object): Readonly<Record<string, unknown>> {
  const { properties, required = [] } = schema;
  for (const name of Object.keys(query)) {
    if (!Object.hasOwn(properties, name))
      throw parameterRefused(name, `is not known here${known(properties)}`);
  }
  const read: Record<string, unknown> = {};
  for (const name of Object.keys(properties)) {
    const property = properties[name];
    if (property === undefined) continue;
    if (Object.hasOwn(query, name))
      read[name] = readParameter(name, property, (query as Readonly<Record<string, unknown>>)[name]);
    else if (required.includes(name)) throw parameterRefused(name, 'is missing');
    else read[name] = 'default' in property ? property.default : undefined;
  }
  return read;
}

function known(properties: ParametersSchema['properties']): string {
  const names = Object.keys(properties);
  return names.length === 0
    ? ': there are no parameters here'
    : `; the parameters here are ${names.join(', ')}`;
}

function readParameter(name: string, schema: ParameterSchema, value: unknown): unknown {
  if (typeof value !== 'string') throw parameterRefused(name, 'is given more than once');
  if (value === '') throw parameterRefused(name, 'is empty');
  switch (schema.type) {
    case 'integer': {
      const { minimum, maximum } = schema;
      const number = /^\d{1,16}$/.test(value) ? Number(value) : NaN;
      if (number >= minimum && number <= maximum) return number;
      throw parameterRefused(name, `must be a whole number from ${minimum} to ${maximum}`);
    }
    case 'boolean':
      if (value === 'true' || value === 'false') return value === 'true';
      throw parameterRefused(name, 'must be true or false');
    case 'string':
      return readText(name, schema, value);
  }
}

function readText(
  name: string,
  schema: ParameterSchema & { readonly type: 'string' },
  value: string,
): string {
  if ('enum' in schema) {
    if (schema.enum.includes(value)) return value;
    throw parameterRefused(name, `must be one of ${schema.enum.join(', ')}`);
  }
  const { maxLength, pattern, description } = schema;
  if (value.length > maxLength) throw parameterRefused(name, `must have at most ${maxLength} characters`);
  if (pattern === undefined || new RegExp(pattern).test(value)) return value;
  throw parameterRefused(name, `must be ${description.replace(/\.$/, '')}; it is ${quoted(value)}`);
}

/** A refusal of a query parameter. @param detail completes "The parameter … " */
export function parameterRefused(parameter: string, detail: string): RequestRefusedError {
  return refused('invalidRequest', `The parameter ${quoted(parameter)} ${detail}.`, {
    parameter: parameter.slice(0, MAX_QUOTED_CHARS),
  });
}
