import {
  type Static,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from 'typebox';
import type { JsonValue } from '../../shared/json/json.js';
import { isResourceName, RESOURCE_NAME_PATTERN } from '../../shared/resource-name.js';
import { refused } from '../refused.js';
import type { Answer } from './answer.js';

/**
 * The building blocks of the schemas of several resources. A schema checks a request, types it, and describes it in
 * `GET /api/v2/openapi.json`, where a schema with a `title` is a component of that name.
 */

/** An object with these members and no others. */
export function Closed<Members extends TProperties>(title: string, members: Members, description?: string) {
  const options = description === undefined ? { title } : { title, description };
  return Type.Object(members, { ...options, additionalProperties: false });
}

/** The same schema, which also accepts null. */
export function OrNull<
  Schema extends TSchema & { readonly type?: string | string[]; readonly enum?: readonly unknown[] },
>(schema: Schema) {
  const { type, enum: values } = schema;
  return Type.Unsafe<Static<Schema> | null>({
    ...schema,
    ...(type === undefined ? {} : { type: [type, 'null'].flat() }),
    ...(values === undefined ? {} : { enum: [...values, null] }),
  });
}

/** Any JSON, with exact numbers. */
export function AnyJson(description: string) {
  return Type.Unsafe<JsonValue>({ description });
}

export const ANY_JSON = AnyJson('A JSON document.');

/** A JSON body that the handler receives as text and checks itself; the schema is only a description. */
export function TextOf(schema: TSchema) {
  return Type.Unsafe<string>({ type: 'string', contentMediaType: 'application/json', contentSchema: schema });
}

/** The parameters of a query. Any other parameter is refused. A parameter with a default may be omitted. */
export function Query<Parameters extends TProperties>(parameters: Parameters) {
  const optional = Object.entries(parameters).map(([name, one]) => [
    name,
    'default' in one ? Type.Optional(one) : one,
  ]);
  const schema = Type.Object(Object.fromEntries(optional), { additionalProperties: false });
  return Type.Unsafe<Static<TObject<Parameters>>>(schema);
}

/**
 * The type of a value to be written, derived from `Static`, the type of a value that was read: readonly, and an
 * optional member may be undefined, which omits it.
 */
type Written<Value> = unknown extends Value
  ? unknown
  : Value extends readonly (infer Item)[]
    ? readonly Written<Item>[]
    : Value extends object
      ? {
          readonly [Name in keyof Value]:
            | Written<Value[Name]>
            | (object extends Pick<Value, Name> ? undefined : never);
        }
      : Value;

export type WrittenOf<Schema extends TSchema> = Written<Static<Schema>>;

export const TEXT = Type.String();
export const TIME = Type.String({ format: 'date-time' });
export const COUNT = Type.Integer({ minimum: 0 });
export const VERSION_NUMBER = Type.Integer({ minimum: 1 });
export const SHA256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
export const DESCRIPTION = Type.String({ maxLength: 4000 });
export const URL_TEXT = Type.String({ format: 'uri' });
export const STRINGS = Type.Array(TEXT);

const NAME_RULE = 'a letter or digit, then up to 127 letters, digits and `_`, `.`, `-`.';

const NAME_DESCRIPTION = `A${NAME_RULE.slice(1)}`;

/** A name chosen by a user. */
export const NAME = Type.String({ pattern: RESOURCE_NAME_PATTERN, description: NAME_DESCRIPTION });

/**
 * Checks the name of a resource that is created at its path.
 *
 * @param thing completes "a … cannot have this name"
 * @param inBody the name in the body, if there is one
 * @throws RequestRefusedError
 */
export function requireName(thing: string, inPath: string, inBody: string | undefined): void {
  if (inBody !== undefined && inBody !== inPath)
    throw refused('invalidRequest', 'name must be the name in the path, or be left out.');
  if (!isResourceName(inPath))
    throw refused('notFound', `A ${thing} cannot have this name. ${NAME_DESCRIPTION}`);
}

/** Path parameters are only described, not checked: an impossible name is answered with 404. */
export const DOMAIN_PATH = Type.Object({ domain: { ...NAME, description: 'Name of a domain.' } });
export const MODEL_PATH = Type.Object({
  ...DOMAIN_PATH.properties,
  model: { ...NAME, description: 'Name of a model.' },
});

/** A parameter with free text. */
export function TextParameter(maxLength: number, description: string) {
  return Type.Optional(Type.String({ minLength: 1, maxLength, description }));
}

/** A parameter that names a resource. @param whose completes "the name of …" */
export function NameParameter(whose: string) {
  const description = `the name of ${whose}: ${NAME_RULE}`;
  return Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, pattern: RESOURCE_NAME_PATTERN, description }),
  );
}

/** A boolean parameter that is false by default. */
export function Flag(description: string) {
  return Type.Boolean({ default: false, description });
}

const LIMIT = { minimum: 1, maximum: 1000, description: 'The most items to answer; 100 if not given.' };
const OFFSET = {
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'How many items to skip; none if not given.',
};

/** The default part of a list. */
export const FIRST_PAGE = { limit: 100, offset: 0 };

/** The requested part of a list. */
export const PAGE = {
  limit: Type.Integer({ ...LIMIT, default: FIRST_PAGE.limit }),
  offset: Type.Integer({ ...OFFSET, default: FIRST_PAGE.offset }),
};

/** The same for requests that do not always list. */
export const OPTIONAL_PAGE = {
  limit: Type.Optional(Type.Integer(LIMIT)),
  offset: Type.Optional(Type.Integer(OFFSET)),
};

/** A parameter for the number of a version. @param otherwise which version is used by default */
export function VersionParameter(otherwise: string) {
  const description = `Number of a version; ${otherwise} if not given.`;
  return Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647, description }));
}

export const VERSION = { version: VersionParameter('the current one') };

/**
 * The answer of an operation with one status, for the description of the API. To the compiler, it is the schema of what a
 * handler returns: an Answer. Answers are not checked against their schemas; instead, the functions that create answers
 * are typed by the schemas.
 */
interface Response extends TUnsafe<Answer> {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: TSchema }>>;
  /** Set for an answer without a body. */
  readonly type?: 'null';
}

/** Describes a JSON answer. */
export function json(description: string, schema: TSchema): Response {
  return content(description, { 'application/json': schema });
}

/** Describes an answer with one page of a list. */
export function list(description: string, item: TSchema): Response {
  return json(description, { type: 'array', items: item });
}

/** Describes an answer whose body has one of several media types. */
export function content(description: string, schemas: Readonly<Record<string, TSchema>>): Response {
  const entries = Object.entries(schemas).map(([mediaType, schema]) => [mediaType, { schema }] as const);
  return { description, content: Object.fromEntries(entries) } as Response;
}

/** Describes an answer without a body. */
export function empty(description: string): Response {
  return { description, type: 'null' } as Response;
}

/**
 * Returns the members of a policy in three forms: given by name, given in the path, and as read.
 *
 * @param defaulted settings that may be omitted when the policy is given
 */
export function policyMembers<Settings extends TProperties, Defaulted extends TProperties>(
  settings: Settings,
  defaulted: Defaulted,
) {
  const optional = Object.entries(defaulted).map(([name, one]) => [name, Type.Optional(one)]);
  const given = {
    ...settings,
    ...(Object.fromEntries(optional) as { [Name in keyof Defaulted]: TOptional<Defaulted[Name]> }),
  };
  return {
    named: { name: NAME, ...given },
    inPath: { name: Type.Optional({ ...NAME, description: 'As in the path.' }), ...given },
    read: {
      name: NAME,
      ...settings,
      ...defaulted,
      caller: { ...TEXT, description: 'Who wrote it last.' },
      createdAt: TIME,
      modifiedAt: TIME,
    },
  };
}
