import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';

import type { JsonValue } from '../../shared/json/json.js';
import { LosslessNumber } from '../../shared/json/lossless-number.js';
import { type InputIssue, pointerOf, step, tokensOf } from '../../shared/json/pointer.js';
import { isResourceName } from '../../shared/resource-name.js';
import { quoted } from '../../shared/shown.js';
import { refused } from '../errors.js';
import type { JsonSchema } from './schema-types.js';

/** Faults that an answer lists at most. */
const MAX_FAULTS = 100;

/** Characters of an unknown member's name that an answer repeats. */
const MAX_NAME_CHARS = 200;

/** Checks a parsed body. @throws RequestRefusedError (422) listing what is wrong and where */
export type BodyCheck = (body: unknown) => void;

/** The schemas are constants of this folder without references, so they need no check of their own. */
const OPTIONS = { ownProperties: true, allowUnionTypes: true, meta: false, validateSchema: false } as const;

/** Each keeps what it compiled by the schema's object: a second gateway of one process compiles nothing again. */
const OF_FIRST_FAULT = new Ajv2020({ ...OPTIONS });
const OF_EVERY_FAULT = new Ajv2020({ ...OPTIONS, allErrors: true });

/** A check of bodies by the schema of their route. Nothing is coerced, removed or filled in. */
export function createBodyCheck(schema: JsonSchema): BodyCheck {
  const first = OF_FIRST_FAULT.compile(schema);
  const { required = [], properties } = schema as {
    readonly required?: readonly string[];
    readonly properties?: object;
  };
  const takesSchema = properties !== undefined && Object.hasOwn(properties, 'schema');
  const schemaAlone = (body: unknown) => rawSchemaFault(body, required.includes('name'));
  const every = OF_EVERY_FAULT.compile(schema);
  return (body) => {
    // Every unknown member is a fault: of a body with masses of them, only the first fault is reported.
    const mistaken = takesSchema ? schemaAlone(body) : undefined;
    if (mistaken !== undefined)
      throw refused('bodyInvalid', `The body is invalid: ${summary([mistaken])}`, { errors: [mistaken] });
    const isSmall = typeof body !== 'object' || body === null || Object.keys(body).length <= MAX_FAULTS;
    const check = isSmall ? every : first;
    if (check(body)) return;
    const errors = (check.errors ?? [])
      .slice(0, MAX_FAULTS)
      .map((error) => (isOfLongNumber(error, body) ? tooLong(error) : faultOf(error)));
    throw refused('bodyInvalid', `The body is invalid: ${summary(errors)}`, { errors });
  };
}

/** Members that JSON Schemas have at their top, and bodies of this API do not. */
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

/** The fault of a body that is a JSON Schema where it should hold one; undefined for others. */
function rawSchemaFault(body: unknown, hasName: boolean): InputIssue | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || Object.hasOwn(body, 'schema'))
    return undefined;
  if (!OF_SCHEMAS.some((name) => Object.hasOwn(body, name))) return undefined;
  const { title } = body as { readonly title?: unknown };
  const name = typeof title === 'string' && isResourceName(title) ? title : 'Vehicle';
  const form = hasName ? `{"name": "${name}", "schema": …}` : '{"schema": …}';
  return { pointer: '', detail: `is a JSON Schema itself; send it inside a body such as ${form}` };
}

function summary(errors: readonly InputIssue[]): string {
  const [{ pointer, detail } = { pointer: '', detail: 'is wrong' }, ...others] = errors;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return `${pointer === '' ? 'it' : pointer} ${detail}${more}.`;
}

/** Whether a number is of the wrong type only because no double holds it. */
function isOfLongNumber({ instancePath, keyword }: ErrorObject, body: unknown): boolean {
  const tokens = tokensOf(instancePath) ?? [];
  const value = tokens.reduce(step, body as JsonValue | undefined);
  return keyword === 'type' && value instanceof LosslessNumber;
}

function tooLong({ instancePath }: ErrorObject): InputIssue {
  return { pointer: instancePath, detail: 'must be a number that an IEEE 754 double holds' };
}

function faultOf({ instancePath, keyword, params, message = 'is wrong' }: ErrorObject): InputIssue {
  const given = params as Readonly<Record<string, unknown>>;
  switch (keyword) {
    case 'additionalProperties': {
      const name = String(given['additionalProperty']);
      return {
        pointer: instancePath + pointerOf([name.slice(0, MAX_NAME_CHARS)]),
        detail: 'is not a known member',
      };
    }
    case 'required':
      return {
        pointer: instancePath,
        detail: `must have the member ${quoted(String(given['missingProperty']))}`,
      };
    case 'enum':
      return { pointer: instancePath, detail: `must be one of ${JSON.stringify(given['allowedValues'])}` };
    case 'type': {
      const types = String(given['type'])
        .split(',')
        .map((type) => TYPES_IN_WORDS[type] ?? type);
      return { pointer: instancePath, detail: `must be ${types.join(' or ')}` };
    }
    case 'minimum':
      return { pointer: instancePath, detail: `must be ${String(given['limit'])} or more` };
    case 'maximum':
      return { pointer: instancePath, detail: `must be ${String(given['limit'])} or less` };
    default:
      return { pointer: instancePath, detail: message };
  }
}

const TYPES_IN_WORDS: Readonly<Record<string, string>> = {
  ...{ object: 'an object', array: 'an array', string: 'a string', number: 'a number' },
  ...{ integer: 'a whole number', boolean: 'true or false' },
};
