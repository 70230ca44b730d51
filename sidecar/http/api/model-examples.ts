import { type Static, Type } from 'typebox';
import {
  EXAMPLE_NAME_PATTERN,
  EXAMPLE_NAME_RULE,
  isExampleName,
  isStrictExample,
  MAX_EXAMPLE_BYTES,
  type SchemaService,
  type Workbench,
} from '../../schemas/models/index.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import type { Example, ModelKey } from '../../store/index.js';
import { ClientDisconnect } from '../client-disconnect.js';
import { refused } from '../refused.js';
import {
  created,
  document,
  expectedStateOf,
  NO_CONTENT,
  ok,
  page,
  withLifecycle,
  preconditionsOfExisting,
} from './answer.js';
import {
  ANY_JSON,
  Closed,
  content,
  COUNT,
  empty,
  json,
  list,
  MODEL_PATH,
  PAGE,
  Query,
  SHA256,
  TextOf,
  URL_TEXT,
  type WrittenOf,
} from './schemas.js';
import { modelKey, modelUrl } from './model-representation.js';
import type { Api } from './routes.js';
import { ENTITIES, ENTITY_FORM, VERDICT } from './workbench.js';

const tag = 'Examples of a model';
const EXAMPLES = '/domains/:domain/models/:model/examples';

const NAME = Type.String({ pattern: EXAMPLE_NAME_PATTERN, description: `${EXAMPLE_NAME_RULE}.` });
const EXAMPLE_PATH = Type.Object({
  ...MODEL_PATH.properties,
  example: { ...NAME, description: 'Name of an example.' },
});

/** The routes of examples: entities stored with a model to show what it describes. */
export function modelExampleRoutes(
  api: Api,
  { store, files, cachedModels }: SchemaService,
  workbench: Workbench,
): void {
  api.get(EXAMPLES, {
    schema: {
      tags: [tag],
      operationId: 'listModelExamples',
      summary: 'List the examples of a model',
      params: MODEL_PATH,
      querystring: Query(PAGE),
      response: { 200: list('Examples by name.', EXAMPLE) },
    },
    handler: async ({ params, query, baseUrl }) => {
      const key = modelKey(params);
      const { model } = await cachedModels.of(key);
      const { items, total } = await store.examples.list(key, query);
      const shown = items.map((example) => exampleJson(example, key, baseUrl));
      return withLifecycle(page(shown, total, query, modelUrl(baseUrl, key, 'examples')), model);
    },
  });

  api.get(`${EXAMPLES}/:example`, {
    schema: {
      tags: [tag],
      operationId: 'getModelExample',
      summary: 'An example of a model',
      params: EXAMPLE_PATH,
      response: {
        200: content('As it was given: `application/ld+json` if its name ends with `.jsonld`.', {
          'application/json': ANY_JSON,
          'application/ld+json': ANY_JSON,
        }),
      },
    },
    handler: async ({ params }) => {
      const key = modelKey(params);
      const { model } = await cachedModels.of(key);
      const example = document(await files.example(key, params.example));
      return withLifecycle(example, model);
    },
  });

  api.put(`${EXAMPLES}/:example`, {
    schema: {
      tags: [tag],
      operationId: 'putModelExample',
      summary: 'Store an example, or replace one',
      description:
        'It is validated against the current version of the model, and stored whether it is valid or not: the answer says ' +
        'what is wrong. If the name ends with `.json`, what NGSI-LD alone forbids is a warning. The model keeps its version.',
      params: EXAMPLE_PATH,
      body: TextOf(ENTITIES),
      response: {
        200: json('The example as it is now.', PUT_EXAMPLE),
        201: json('The new example.', PUT_EXAMPLE),
      },
    },
    bodyLimit: MAX_EXAMPLE_BYTES,
    config: { isConditional: true },
    handler: async ({ params, body: text, conditions, baseUrl }, reply) => {
      const [key, name] = [modelKey(params), params.example];
      if (!isExampleName(name))
        throw refused('invalidRequest', `The name of an example must be ${EXAMPLE_NAME_RULE}.`);
      const expected = expectedStateOf(conditions);
      const options = { isStrict: isStrictExample(name), signal: new ClientDisconnect(reply.raw) };
      const verdict = parseJson(await workbench.validate(key, text, options)) as Verdict | readonly Verdict[];
      const verdicts = [verdict].flat();
      const put = await store.examples.put(key, name, { text, form: formOf(verdicts) }, expected);
      const written: WrittenOf<typeof PUT_EXAMPLE> = {
        ...exampleJson(put.example, key, baseUrl),
        valid: verdicts.every(({ valid }) => valid),
        errors: verdicts.flatMap(({ errors }) => errors).slice(0, MAX_ERRORS),
      };
      const { sha256: etag } = put.example.content;
      return put.isNew ? created(written.url, written, etag) : ok(written, etag);
    },
  });

  api.delete(`${EXAMPLES}/:example`, {
    schema: {
      tags: [tag],
      operationId: 'deleteModelExample',
      summary: 'Delete an example of a model',
      params: EXAMPLE_PATH,
      response: { 204: empty('Deleted.') },
    },
    config: { isConditional: true },
    handler: async ({ params, conditions }) => {
      const [key, name] = [modelKey(params), params.example];
      const { ifMatch } = await preconditionsOfExisting(conditions, () => store.examples.get(key, name));
      await store.examples.delete(key, name, ifMatch);
      return NO_CONTENT;
    },
  });
}

const EXAMPLE = Closed('ModelExample', {
  name: NAME,
  form: Type.Optional(
    Type.Enum(ENTITY_FORM.enum, { description: 'The representation of the entity, if known.' }),
  ),
  size: { ...COUNT, description: 'In bytes.' },
  sha256: SHA256,
  url: { ...URL_TEXT, description: 'Where the example is.' },
});

/** Maximum number of errors in an answer; a validation lists all. */
const MAX_ERRORS = 100;

const PUT_EXAMPLE = Closed('PutModelExample', {
  ...EXAMPLE.properties,
  valid: Type.Boolean({ description: 'By the current version of the model.' }),
  errors: { ...VERDICT.properties.errors, description: `The first ${MAX_ERRORS} of them.` },
});

type Verdict = Static<typeof VERDICT>;

/** The representation of the entities, if it is the same for all. */
function formOf(verdicts: readonly Verdict[]): Verdict['form'] | undefined {
  const forms = new Set(verdicts.map(({ form }) => form));
  return forms.size === 1 ? verdicts[0]?.form : undefined;
}

function exampleJson(
  { name, form, content: { size, sha256 } }: Example,
  key: ModelKey,
  baseUrl: string,
): WrittenOf<typeof EXAMPLE> {
  return { name, form, size, sha256, url: modelUrl(baseUrl, key, 'examples', name) };
}
