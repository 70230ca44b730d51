import type { TSchema } from 'typebox';

/**
 * The answer of an operation with one status, for the description of the API. Answers are not checked against their schemas: the
 * functions that make them have the types of these.
 */
export interface Response {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: TSchema }>>;
  /** Of an answer without a body. */
  readonly type?: 'null';
}

/** JSON. */
export function json(description: string, schema: TSchema): Response {
  return content(description, { 'application/json': schema });
}

/** One page of a list. */
export function list(description: string, item: TSchema): Response {
  return json(description, { type: 'array', items: item });
}

/** A body of one of several media types. */
export function content(description: string, schemas: Readonly<Record<string, TSchema>>): Response {
  const entries = Object.entries(schemas).map(([mediaType, schema]) => [mediaType, { schema }] as const);
  return { description, content: Object.fromEntries(entries) };
}

/** No body. */
export function empty(description: string): Response {
  return { description, type: 'null' };
}
