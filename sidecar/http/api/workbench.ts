import type { Workbench } from '../../schemas/models/index.js';
import type { ProblemName } from '../problem-kinds.js';
import { computed } from './answer.js';
import { endpoint, type Endpoint } from './endpoint.js';
import { DOMAIN_NAME, MODEL_NAME, parameters, VERSION } from './parameters.js';
import { COUNT, STRINGS, TEXT, type JsonSchema } from './schema-types.js';

const tag = 'Workbench';

const ENUM = {
  type: 'boolean',
  default: false,
  description: 'Strings with few distinct values become enums.',
} as const;

const SAMPLE_FORM = {
  type: 'string',
  enum: ['keyvalues', 'ngsi-ld', 'ngsiv2', 'geojson'],
  default: 'keyvalues',
  description:
    'The form of the samples: plain objects, NGSI-LD entities of any representation, NGSIv2 normalized, or GeoJSON Features.',
} as const;

const ENTITY_FORM = {
  type: 'string',
  enum: ['normalized', 'concise', 'keyvalues', 'ngsiv2', 'geojson'],
  description: 'The representation of the entity; detected if not given.',
} as const;

const STRICT = {
  type: 'boolean',
  default: true,
  description: 'false: a violation of NGSI-LD alone is a warning, not an error.',
} as const;

const STRICT_SAMPLES = {
  type: 'boolean',
  default: true,
  description:
    'false: entities that violate NGSI-LD are taken by their values. Plain objects violate nothing.',
} as const;

const ANY_SCHEMA: JsonSchema = { description: 'A JSON Schema of draft 2020-12.' };

/** Problems of any work. */
const WORK_PROBLEMS = ['bodyInvalid', 'deadlineExceeded', 'busy'] as const satisfies readonly ProblemName[];

/** Problems of JSON-LD processing. */
const JSON_LD_PROBLEMS = [
  ...WORK_PROBLEMS,
  'contextInvalid',
  'contextRefused',
  'contextUnavailable',
  'jsonLdInvalid',
  'dataDropped',
] as const satisfies readonly ProblemName[];

/** The tools of the workbench: they work on the body of the request and store nothing. */
export function workbenchEndpoints(workbench: Workbench): readonly Endpoint[] {
  const work = { method: 'POST', tag, isComputation: true } as const;
  return [
    endpoint({
      ...work,
      path: '/workbench/schema/infer',
      id: 'inferSchema',
      summary: 'Infer a JSON Schema from samples',
      description:
        'The schema accepts every sample, does not depend on their order, and can be posted as a model.',
      query: parameters({ model: MODEL_NAME, form: SAMPLE_FORM, enum: ENUM, strict: STRICT_SAMPLES }),
      bodyText: SAMPLES,
      answers: { 200: { description: 'The schema.', content: { 'application/schema+json': ANY_SCHEMA } } },
      problems: WORK_PROBLEMS,
      handle: async ({ text, signal, query: { model, form, enum: enumerates, strict } }) => {
        const options = { model, form, enumerates, isStrict: strict, signal };
        return computed(await workbench.infer(text, options), 'application/schema+json');
      },
    }),
    endpoint({
      ...work,
      path: '/workbench/jsonld/expand',
      id: 'expandJsonLd',
      summary: 'Expand JSON-LD',
      description: 'Contexts may be stored here, bundled, or of an allowed origin.',
      bodyText: EXPAND,
      answers: {
        200: { description: 'Expanded.', content: { 'application/json': JSON_LD_RESULT } },
      },
      problems: JSON_LD_PROBLEMS,
      handle: async ({ text, signal, baseUrl }) =>
        computed(await workbench.expand(text, { baseUrl, signal })),
    }),
    endpoint({
      ...work,
      path: '/workbench/jsonld/compact',
      id: 'compactJsonLd',
      summary: 'Compact JSON-LD',
      description: 'Contexts may be stored here, bundled, or of an allowed origin.',
      bodyText: COMPACT,
      answers: {
        200: { description: 'Compacted.', content: { 'application/json': JSON_LD_RESULT } },
      },
      problems: JSON_LD_PROBLEMS,
      handle: async ({ text, signal, baseUrl }) =>
        computed(await workbench.compact(text, { baseUrl, signal })),
    }),
    endpoint({
      ...work,
      path: '/validate',
      id: 'validateByType',
      summary: 'Validate an entity, or several, against the models of their types',
      description:
        'Of several types, each one that has a model is checked. A type that has several models is 409.',
      query: parameters({ domain: DOMAIN_NAME, form: ENTITY_FORM, strict: STRICT }),
      bodyText: ENTITIES,
      answers: {
        200: {
          description: 'Whether the entity is valid, with its errors.',
          content: { 'application/json': VERDICTS },
        },
      },
      problems: [...WORK_PROBLEMS, 'notFound', 'typeAmbiguous'],
      handle: async ({ text, signal, query: { domain, form, strict } }) =>
        computed(await workbench.validateByType(text, { domain, form, isStrict: strict, signal })),
    }),
    endpoint({
      ...work,
      path: '/validate/:domain/:model',
      id: 'validateEntity',
      summary: 'Validate an entity, or several, against a model',
      description: 'Checks the structure by NGSI-LD, then the values by the schema.',
      query: parameters({ ...VERSION, form: ENTITY_FORM, strict: STRICT }),
      bodyText: ENTITIES,
      answers: {
        200: {
          description: 'Whether the entity is valid, with its errors.',
          content: { 'application/json': VERDICTS },
        },
      },
      problems: WORK_PROBLEMS,
      handle: async ({ params: { domain, model }, text, signal, query: { version, form, strict } }) => {
        const options = { version, form, isStrict: strict, signal };
        return computed(await workbench.validate({ domain, name: model }, text, options));
      },
    }),
  ];
}

/** Bodies and answers as JSON Schemas, for the documentation: the workers check the bodies. */

const CONTEXT = {
  description: 'A map of terms, a URL, an array of these, null, or an object that holds one as `@context`.',
  type: ['object', 'string', 'array', 'null'],
} as const;

const JSON_LD_DOCUMENT = {
  description: 'JSON-LD: an object, or an array of them. A URL is not loaded.',
  type: ['object', 'array'],
} as const;

const SAFE = {
  type: 'boolean',
  default: false,
  description: 'Refuse (422) a document of which data would be dropped, instead of warning.',
} as const;

const BODY = { type: 'object', required: ['document'], additionalProperties: false } as const;

const EXPAND = {
  title: 'Expand',
  ...BODY,
  properties: {
    document: JSON_LD_DOCUMENT,
    context: { ...CONTEXT, description: `Applied before that of the document. ${CONTEXT.description}` },
    safe: SAFE,
  },
} as const;

const COMPACT = {
  title: 'Compact',
  ...BODY,
  properties: {
    document: JSON_LD_DOCUMENT,
    context: {
      ...CONTEXT,
      description: `To compact with; the document's own if left out. ${CONTEXT.description}`,
    },
    safe: SAFE,
  },
} as const;

/** A place in the body: JSON pointer, and line and column from 1. */
const PLACE = { pointer: TEXT, line: COUNT, column: COUNT } as const;

const JSON_LD_WARNING = {
  title: 'JsonLdWarning',
  type: 'object',
  properties: { code: TEXT, detail: TEXT, pointer: TEXT },
  required: ['code', 'detail'],
  additionalProperties: false,
} as const;

const JSON_LD_RESULT = {
  title: 'JsonLdResult',
  type: 'object',
  properties: {
    result: { description: 'JSON-LD.', type: ['object', 'array'] },
    warnings: { type: 'array', items: JSON_LD_WARNING },
  },
  required: ['result', 'warnings'],
  additionalProperties: false,
} as const;

const SAMPLES = {
  title: 'Samples',
  description: 'One sample, or several.',
  oneOf: [{ type: 'object' }, { type: 'array', items: { type: 'object' } }],
} as const;

const ENTITIES = {
  title: 'Entities',
  description:
    'An entity: NGSI-LD normalized, concise, key-values or GeoJSON, or NGSIv2 normalized; or several.',
  oneOf: [{ type: 'object' }, { type: 'array', items: { type: 'object' } }],
} as const;

const SUGGESTION = {
  title: 'Suggestion',
  description:
    'What was probably meant: the value at the pointer, or the name of the member that it ends with.',
  oneOf: [
    {
      type: 'object',
      properties: { value: { type: ['string', 'number', 'boolean'] } },
      required: ['value'],
      additionalProperties: false,
    },
    { type: 'object', properties: { name: TEXT }, required: ['name'], additionalProperties: false },
  ],
} as const;

const VERDICT = {
  title: 'Verdict',
  type: 'object',
  properties: {
    valid: { type: 'boolean' },
    models: { ...STRINGS, description: 'domain/model of each model, where none was named.' },
    form: { enum: ENTITY_FORM.enum, description: 'The representation in which the entity was read.' },
    errors: {
      type: 'array',
      items: {
        title: 'EntityError',
        type: 'object',
        properties: { ...PLACE, detail: TEXT, keyword: TEXT, suggestion: SUGGESTION },
        required: ['pointer', 'line', 'column', 'detail', 'keyword'],
        additionalProperties: false,
      },
    },
    warnings: {
      type: 'array',
      items: {
        title: 'EntityWarning',
        type: 'object',
        properties: { ...PLACE, detail: TEXT, code: TEXT, suggestion: SUGGESTION },
        required: ['pointer', 'line', 'column', 'detail', 'code'],
        additionalProperties: false,
      },
    },
  },
  required: ['valid', 'form', 'errors', 'warnings'],
  additionalProperties: false,
} as const;

const VERDICTS = {
  title: 'Verdicts',
  description: 'One result, or one for each entity in order.',
  oneOf: [VERDICT, { type: 'array', items: VERDICT }],
} as const;
