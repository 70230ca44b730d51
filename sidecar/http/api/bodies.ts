/** What the API takes, as JSON Schemas. */

import { NAME } from './parameters.js';
import { COMPATIBILITY } from './model-resources.js';

const DESCRIPTION_MAX = 4000;

const DESCRIPTION = { type: 'string', maxLength: DESCRIPTION_MAX } as const;

const SCHEMA = {
  description: 'A JSON Schema (draft-07, 2019-09 or 2020-12) of an entity in key-values form.',
} as const;

const CONTEXT_BASE_DESCRIPTION =
  'Base IRI of the terms of its context: http, https or urn, ending with a separator. Without one, the setting CONTEXT_BASE_IRI.';

const CONTEXT_VALUE = {
  description: 'A map of terms, an array of maps and URLs, a URL, or an object that holds one as `@context`.',
} as const;

export const NEW_DOMAIN = {
  title: 'NewDomain',
  type: 'object',
  properties: { name: NAME, description: DESCRIPTION },
  required: ['name'],
  additionalProperties: false,
} as const;

export const NEW_MODEL = {
  title: 'NewModel',
  type: 'object',
  properties: {
    name: NAME,
    description: DESCRIPTION,
    schema: SCHEMA,
    contextBase: { type: 'string', description: CONTEXT_BASE_DESCRIPTION },
    compatibility: COMPATIBILITY,
  },
  required: ['name', 'schema'],
  additionalProperties: false,
} as const;

export const MODEL_CHANGE = {
  title: 'ModelChange',
  type: 'object',
  description: 'What is left out stays; null takes it away.',
  properties: {
    schema: SCHEMA,
    description: { type: ['string', 'null'], maxLength: DESCRIPTION_MAX },
    contextBase: { type: ['string', 'null'], description: CONTEXT_BASE_DESCRIPTION },
    compatibility: COMPATIBILITY,
  },
  required: ['schema'],
  additionalProperties: false,
} as const;

export const NEW_CONTEXT = {
  title: 'NewContext',
  type: 'object',
  properties: { name: NAME, '@context': CONTEXT_VALUE },
  required: ['name', '@context'],
  additionalProperties: false,
} as const;

export const CONTEXT_CHANGE = {
  title: 'ContextChange',
  type: 'object',
  properties: { '@context': CONTEXT_VALUE },
  required: ['@context'],
  additionalProperties: false,
} as const;

/** Any JSON document; the application says which ones schemas can refer to. */
export const DOCUMENT = { description: 'A JSON document that `$ref`s name.' } as const;
