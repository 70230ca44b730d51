import { Type } from 'typebox';
import type { Workbench } from '../../schemas/models/index.js';
import { ClientDisconnect } from '../client-disconnect.js';
import { computed } from './answer.js';
import {
  AnyJson,
  Closed,
  content,
  COUNT,
  Flag,
  json,
  MODEL_PATH,
  NameParameter,
  Query,
  STRINGS,
  TEXT,
  TextOf,
  VERSION,
} from './schemas.js';
import { modelKey } from './model-representation.js';
import type { Api } from './routes.js';

const tag = 'Workbench';

const ENUM = Flag('Strings with few distinct values become enums.');

const SAMPLE_FORM = Type.Enum(['keyvalues', 'ngsi-ld', 'ngsiv2', 'geojson'], {
  type: 'string',
  default: 'keyvalues',
  description:
    'The form of the samples: plain objects, NGSI-LD entities of any representation, NGSIv2 normalized, or GeoJSON Features.',
});

export const ENTITY_FORM = Type.Enum(['normalized', 'concise', 'keyvalues', 'ngsiv2', 'geojson'], {
  type: 'string',
  description: 'The representation of the entity; detected if not given.',
});

const STRICT = Type.Boolean({
  default: true,
  description: 'false: a violation of NGSI-LD alone is a warning, not an error.',
});

const STRICT_SAMPLES = Type.Boolean({
  default: true,
  description:
    'false: entities that violate NGSI-LD are read by their values. Plain objects violate nothing.',
});

const ANY_SCHEMA = AnyJson('A JSON Schema of draft 2020-12.');

/** The routes of the workbench: tools that work on the body of the request and store nothing. */
export function workbenchRoutes(api: Api, workbench: Workbench): void {
  api.post('/workbench/schema/infer', {
    schema: {
      tags: [tag],
      operationId: 'inferSchema',
      summary: 'Infer a JSON Schema from samples',
      description:
        'The schema accepts every sample, does not depend on their order, and can be posted as a model.',
      querystring: Query({
        model: NameParameter('a model'),
        form: SAMPLE_FORM,
        enum: ENUM,
        strict: STRICT_SAMPLES,
      }),
      body: TextOf(SAMPLES),
      response: { 200: content('The schema.', { 'application/schema+json': ANY_SCHEMA }) },
    },
    config: { isComputation: true },
    handler: async ({ body, query: { model, form, enum: enumerates, strict } }, reply) => {
      const signal = new ClientDisconnect(reply.raw);
      const options = { model, form, enumerates, isStrict: strict, signal };
      return computed(await workbench.infer(body, options), 'application/schema+json');
    },
  });

  for (const [how, operationId, summary, body, result] of JSON_LD_TOOLS)
    api.post(`/workbench/jsonld/${how}`, {
      schema: {
        tags: [tag],
        operationId,
        summary,
        description: 'Contexts may be stored here, bundled, or of an allowed origin.',
        body: TextOf(body),
        response: { 200: json(result, JSON_LD_RESULT) },
      },
      config: { isComputation: true },
      handler: async ({ body: text, baseUrl }, reply) => {
        const signal = new ClientDisconnect(reply.raw);
        return computed(await workbench[how](text, { baseUrl, signal }));
      },
    });

  api.post('/validate', {
    schema: {
      tags: [tag],
      operationId: 'validateByType',
      summary: 'Validate an entity, or several, against the models of their types',
      description:
        'If there are several types, each one that has a model is checked. 409 if a type has several models.',
      querystring: Query({
        domain: NameParameter('a domain'),
        form: Type.Optional(ENTITY_FORM),
        strict: STRICT,
      }),
      body: TextOf(ENTITIES),
      response: { 200: json('Whether the entity is valid, with its errors.', VERDICTS) },
    },
    config: { isComputation: true },
    handler: async ({ body, query: { domain, form, strict } }, reply) => {
      const options = { domain, form, isStrict: strict, signal: new ClientDisconnect(reply.raw) };
      return computed(await workbench.validateByType(body, options));
    },
  });

  api.post('/validate/:domain/:model', {
    schema: {
      tags: [tag],
      operationId: 'validateEntity',
      summary: 'Validate an entity, or several, against a model',
      description: 'Checks the structure by NGSI-LD, then the values by the schema.',
      params: MODEL_PATH,
      querystring: Query({ ...VERSION, form: Type.Optional(ENTITY_FORM), strict: STRICT }),
      body: TextOf(ENTITIES),
      response: { 200: json('Whether the entity is valid, with its errors.', VERDICTS) },
    },
    config: { isComputation: true },
    handler: async ({ params, body, query: { version, form, strict } }, reply) => {
      const options = { version, form, isStrict: strict, signal: new ClientDisconnect(reply.raw) };
      return computed(await workbench.validate(modelKey(params), body, options));
    },
  });
}

/** Bodies and answers as JSON Schemas, for the documentation; the workers check the bodies. */

const CONTEXT_FORMS =
  'A map of terms, a URL, an array of these, null, or an object that holds one as `@context`.';
const CONTEXT_TYPES = ['object', 'string', 'array', 'null'];

const DOCUMENT = {
  description: 'JSON-LD: an object, or an array of them. A URL is not loaded.',
  type: ['object', 'array'],
};

const SAFE = Type.Optional(
  Flag('Refuse (422) a document from which data would be dropped, instead of warning.'),
);

const EXPAND = Closed('Expand', {
  document: DOCUMENT,
  context: Type.Optional({
    description: `Applied before that of the document. ${CONTEXT_FORMS}`,
    type: CONTEXT_TYPES,
  }),
  safe: SAFE,
});

const COMPACT = Closed('Compact', {
  document: DOCUMENT,
  context: Type.Optional({
    description: `To compact with; the document's own if left out. ${CONTEXT_FORMS}`,
    type: CONTEXT_TYPES,
  }),
  safe: SAFE,
});

/** A place in the body: JSON pointer, and line and column, starting at 1. */
const PLACE = { pointer: TEXT, line: COUNT, column: COUNT };

const JSON_LD_WARNING = Closed('JsonLdWarning', { code: TEXT, detail: TEXT, pointer: Type.Optional(TEXT) });

const JSON_LD_RESULT = Closed('JsonLdResult', {
  result: { description: 'JSON-LD.', type: ['object', 'array'] },
  warnings: Type.Array(JSON_LD_WARNING),
});

const JSON_LD_TOOLS = [
  ['expand', 'expandJsonLd', 'Expand JSON-LD', EXPAND, 'Expanded.'],
  ['compact', 'compactJsonLd', 'Compact JSON-LD', COMPACT, 'Compacted.'],
] as const;

const OBJECTS = { oneOf: [Type.Object({}), Type.Array(Type.Object({}))] };

const SAMPLES = { title: 'Samples', description: 'One sample, or several.', ...OBJECTS };

export const ENTITIES = {
  title: 'Entities',
  description:
    'An entity: NGSI-LD normalized, concise, key-values or GeoJSON, or NGSIv2 normalized; or several.',
  ...OBJECTS,
};

const SUGGESTION = {
  title: 'Suggestion',
  description:
    'What was probably meant: the value at the pointer, or the name of the member that it ends with.',
  oneOf: [
    Type.Object(
      { value: { type: ['string', 'number', 'boolean', 'array'], items: {} } },
      { additionalProperties: false },
    ),
    Type.Object({ name: TEXT }, { additionalProperties: false }),
  ],
};

export const VERDICT = Closed('Verdict', {
  valid: Type.Boolean(),
  models: Type.Optional({ ...STRINGS, description: 'domain/model of each model, if none was named.' }),
  form: Type.Enum(ENTITY_FORM.enum, { description: 'The representation in which the entity was read.' }),
  errors: Type.Array(
    Closed('EntityError', { ...PLACE, detail: TEXT, keyword: TEXT, suggestion: Type.Optional(SUGGESTION) }),
  ),
  warnings: Type.Array(
    Closed('EntityWarning', { ...PLACE, detail: TEXT, code: TEXT, suggestion: Type.Optional(SUGGESTION) }),
  ),
});

const VERDICTS = {
  title: 'Verdicts',
  description: 'One result, or one for each entity in order.',
  oneOf: [VERDICT, Type.Array(VERDICT)],
};
