import { writeJson } from '../../sidecar/shared/json/lossless-json.js';
import { api, ApiError, type Schemas } from '../api/client.js';
import { createDomain, listExamples, readExample, readFile, readModel } from '../models/models-api.js';
import { writeModel } from '../models/model-write.js';
import { examplesOf } from '../models/samples.js';
import { CORE_CONTEXT, EXAMPLE, EXAMPLE_MODEL, modelOf, type Bench } from './bench.js';

export type Verdict = Schemas['Verdict'];
export type Finding = Schemas['EntityError'] | Schemas['EntityWarning'];
export type JsonLdResult = Schemas['JsonLdResult'];

/** Holds what is on the workbench against a model. @throws ApiError, UnreachableError */
export async function validate(
  { text, model, form, isStrict }: Bench,
  signal: AbortSignal,
): Promise<readonly Verdict[]> {
  const named = modelOf(model);
  const query = new URLSearchParams({
    ...(form === '' ? {} : { form }),
    strict: String(isStrict),
  }).toString();
  const asked = { query, body: text, isRead: true, signal };
  const answer =
    named === undefined
      ? await api.json('post', '/validate', asked)
      : await api.json('post', '/validate/{domain}/{model}', {
          ...asked,
          path: { domain: named[0], model: named[1] },
        });
  return [answer].flat();
}

/**
 * An entity to begin with: a stored example of the model that is named, of NGSI-LD if there is one, else the first example in its
 * schema, else one that the gateway makes of it; {@link EXAMPLE} where none is named.
 *
 * @throws ApiError for a model that is not there, or that has no example; UnreachableError
 */
export async function exampleOf(model: string): Promise<string> {
  const named = modelOf(model);
  if (named === undefined) return EXAMPLE;
  const [domain, name] = named;
  // Nobody stops it: it ends by itself.
  const { signal } = new AbortController();
  const stored = await listExamples({ domain, name }, signal);
  const kept = stored.find(({ form }) => form === 'normalized') ?? stored[0];
  if (kept !== undefined) return writeJson(await readExample({ domain, name }, kept.name, signal), 2);
  const { value } = await readModel({ domain, name }, signal);
  const [own] = examplesOf(value.schema);
  return writeJson(own ?? (await readFile({ domain, name }, 'example-normalized.jsonld', signal)), 2);
}

/** Stores the model of the example, in a domain of its own. @throws ApiError, UnreachableError */
export async function storeExampleModel(): Promise<void> {
  const { domain, name, schema } = EXAMPLE_MODEL;
  try {
    await createDomain({ name: domain });
  } catch (error) {
    // It may be there, with other examples.
    if (!(error instanceof ApiError && error.problem.status === 409)) throw error;
  }
  await writeModel({ domain, name }, { schemaText: JSON.stringify(schema) }, 'absent');
}

/**
 * The context that was chosen, as JSON; undefined for that of the document. Brokers read a document without one by the core
 * context.
 */
export function contextOf({ text, context, url, inline }: Bench): string | undefined {
  switch (context) {
    case 'own':
      return /"@context"\s*:/.test(text) ? undefined : JSON.stringify(CORE_CONTEXT);
    case 'core':
      return JSON.stringify(CORE_CONTEXT);
    case 'url':
      return url.trim() === '' ? undefined : JSON.stringify(url.trim());
    case 'inline':
      return inline.trim() === '' ? undefined : inline;
  }
}

/** Expands or compacts what is on the workbench. The texts are sent as they are. @throws ApiError, UnreachableError */
export async function process(
  operation: 'expand' | 'compact',
  bench: Bench,
  signal: AbortSignal,
): Promise<JsonLdResult> {
  const context = contextOf(bench);
  const body = `{"document":${bench.text}${context === undefined ? '' : `,"context":${context}`}}`;
  return api.json('post', `/workbench/jsonld/${operation}`, { body, isRead: true, signal });
}
