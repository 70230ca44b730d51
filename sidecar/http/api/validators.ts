import { createBodyCheck } from './body-check.js';
import { readParameters, type ParametersSchema } from './parameters.js';
import type { JsonSchema } from './schema-type.js';

/** The schema of a route as a function of Fastify's validation. */
export function validatorOf(schema: JsonSchema, httpPart: string | undefined) {
  if (httpPart === 'querystring') {
    const expected = schema as unknown as ParametersSchema;
    return (query: object) => attempt(() => readParameters(expected, query));
  }
  const check = createBodyCheck(schema);
  return (body: unknown) =>
    attempt(() => {
      check(body);
      return body;
    });
}

function attempt(read: () => unknown): { readonly value: unknown } | { readonly error: Error } {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof Error) return { error };
    throw error;
  }
}
