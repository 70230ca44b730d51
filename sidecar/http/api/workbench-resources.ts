import { COUNT, TEXT } from './resource-parts.js';

/** What the workbench takes and answers, as JSON Schemas. Workers check the bodies: these are the documentation. */

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
  description: 'Refuse (422) what would drop data, instead of warning of it.',
} as const;

const BODY = { type: 'object', required: ['document'], additionalProperties: false } as const;

export const EXPAND = {
  title: 'Expand',
  ...BODY,
  properties: {
    document: JSON_LD_DOCUMENT,
    context: { ...CONTEXT, description: `Applied before that of the document. ${CONTEXT.description}` },
    safe: SAFE,
  },
} as const;

export const COMPACT = {
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

/** Where something stands in the body: JSON pointer, and line and column from 1. */
const PLACE = { pointer: TEXT, line: COUNT, column: COUNT } as const;

const JSON_LD_WARNING = {
  title: 'JsonLdWarning',
  type: 'object',
  properties: { code: TEXT, detail: TEXT, pointer: TEXT },
  required: ['code', 'detail'],
  additionalProperties: false,
} as const;

export const JSON_LD_RESULT = {
  title: 'JsonLdResult',
  type: 'object',
  properties: {
    result: { description: 'JSON-LD.', type: ['object', 'array'] },
    warnings: { type: 'array', items: JSON_LD_WARNING },
  },
  required: ['result', 'warnings'],
  additionalProperties: false,
} as const;

export const SAMPLES = {
  title: 'Samples',
  description: 'One sample, or several.',
  oneOf: [{ type: 'object' }, { type: 'array', items: { type: 'object' } }],
} as const;

export const ENTITIES = {
  title: 'Entities',
  description: 'An NGSI-LD entity, normalized, concise or key-values; or several.',
  oneOf: [{ type: 'object' }, { type: 'array', items: { type: 'object' } }],
} as const;

const VERDICT = {
  title: 'Verdict',
  type: 'object',
  properties: {
    valid: { type: 'boolean' },
    errors: {
      type: 'array',
      items: {
        title: 'EntityError',
        type: 'object',
        properties: { ...PLACE, detail: TEXT, keyword: TEXT },
        required: ['pointer', 'line', 'column', 'detail', 'keyword'],
        additionalProperties: false,
      },
    },
    warnings: {
      type: 'array',
      items: {
        title: 'EntityWarning',
        type: 'object',
        properties: { ...PLACE, detail: TEXT, code: TEXT },
        required: ['pointer', 'line', 'column', 'detail', 'code'],
        additionalProperties: false,
      },
    },
  },
  required: ['valid', 'errors', 'warnings'],
  additionalProperties: false,
} as const;

export const VERDICTS = {
  title: 'Verdicts',
  description: 'Of one entity; or of each entity, in their order.',
  oneOf: [VERDICT, { type: 'array', items: VERDICT }],
} as const;
