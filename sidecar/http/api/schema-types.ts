import type { JsonValue } from '../../shared/json/json.js';

/** JSON Schemas of this API as constants: one definition gives validation, documentation and the type. */

/** A JSON Schema of draft 2020-12. One with a `title` is a component of the API's OpenAPI document, by that name. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The type of what a schema accepts: any JSON value for what its keywords leave open. */
export type TypeOf<Schema> = Schema extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : Schema extends { readonly const: infer Value }
    ? Value
    : Schema extends { readonly oneOf: readonly (infer Option)[] }
      ? TypeOf<Option>
      : Schema extends { readonly type: 'object'; readonly properties: infer Properties }
        ? ObjectOf<Properties, RequiredOf<Schema>>
        : Schema extends { readonly type: 'array'; readonly items: infer Item }
          ? readonly TypeOf<Item>[]
          : Schema extends { readonly type: readonly (infer Name)[] }
            ? PrimitiveOf<Name>
            : Schema extends { readonly type: infer Name }
              ? PrimitiveOf<Name>
              : JsonValue;

/** The type of query parameters as they are read: what has a default is there. */
export type ParametersOf<Schema> = Schema extends { readonly properties: infer Properties }
  ? ObjectOf<Properties, RequiredOf<Schema> | WithDefault<Properties>>
  : unknown;

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] } ? Name : never;

type ObjectOf<Properties, Required> = {
  readonly [Name in keyof Properties as Name extends Required ? Name : never]: TypeOf<Properties[Name]>;
} & {
  readonly [Name in keyof Properties as Name extends Required ? never : Name]?:
    | TypeOf<Properties[Name]>
    | undefined;
};

type WithDefault<Properties> = {
  [Name in keyof Properties]: Properties[Name] extends { readonly default: unknown } ? Name : never;
}[keyof Properties];

interface Primitives {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly null: null;
}

type PrimitiveOf<Name> = Name extends keyof Primitives ? Primitives[Name] : JsonValue;

/** Schemas that several resources are made of. */

export const TIME = { type: 'string', format: 'date-time' } as const;
export const COUNT = { type: 'integer', minimum: 0 } as const;
export const VERSION_NUMBER = { type: 'integer', minimum: 1 } as const;
export const SHA256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
export const TEXT = { type: 'string' } as const;
export const DESCRIPTION = { type: 'string', maxLength: 4000 } as const;
export const URL_TEXT = { type: 'string', format: 'uri' } as const;
export const STRINGS = { type: 'array', items: TEXT } as const;

/** A time of the schema service as the API writes it: RFC 3339, in UTC. */
export function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
