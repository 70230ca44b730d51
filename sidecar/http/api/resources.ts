import { CHANGE_REPORT } from './model-resources.js';
import { NAME } from './parameters.js';
import { COUNT, SHA256, STRINGS, TEXT, TIME, URL_TEXT, VERSION_NUMBER } from './resource-parts.js';

/** What the API answers, as JSON Schemas; represent.ts makes values of these types. */

export const DOMAIN = {
  title: 'Domain',
  type: 'object',
  properties: { name: NAME, description: TEXT, createdAt: TIME, modifiedAt: TIME },
  required: ['name', 'createdAt', 'modifiedAt'],
  additionalProperties: false,
} as const;

const CONTEXT_MEMBERS = {
  name: TEXT,
  kind: {
    enum: ['custom', 'generated', 'core'],
    description: '`generated` from a model; `core`: comes with this product.',
  },
  version: { ...VERSION_NUMBER, description: 'Number of the current version.' },
  url: { ...URL_TEXT, description: 'By which clients and brokers name it.' },
  canonicalUrl: { ...URL_TEXT, description: 'Of a core context: where it is published.' },
  createdAt: TIME,
  modifiedAt: TIME,
} as const;

export const CONTEXT = {
  title: 'Context',
  type: 'object',
  properties: CONTEXT_MEMBERS,
  required: ['name', 'kind', 'version', 'url'],
  additionalProperties: false,
} as const;

export const WRITTEN_CONTEXT = {
  title: 'WrittenContext',
  type: 'object',
  properties: {
    ...CONTEXT_MEMBERS,
    warnings: {
      type: 'array',
      items: {
        title: 'ContextWarning',
        type: 'object',
        properties: { code: TEXT, pointer: TEXT, detail: TEXT },
        required: ['code', 'pointer', 'detail'],
        additionalProperties: false,
      },
    },
  },
  required: ['name', 'kind', 'version', 'url', 'warnings'],
  additionalProperties: false,
} as const;

export const REFERENCE = {
  title: 'Reference',
  type: 'object',
  properties: {
    uri: TEXT,
    source: {
      enum: ['stored', 'fetched'],
      description: '`fetched`: was missing when a schema named it, and came from an allowed origin.',
    },
    size: { ...COUNT, description: 'In bytes.' },
    sha256: SHA256,
    createdAt: TIME,
    modifiedAt: TIME,
  },
  required: ['uri', 'source', 'size', 'sha256', 'createdAt', 'modifiedAt'],
  additionalProperties: false,
} as const;

/** RFC 9457, and the members that some kinds of problems add. */
export const PROBLEM = {
  title: 'Problem',
  type: 'object',
  properties: {
    type: { type: 'string', format: 'uri' },
    title: TEXT,
    status: { type: 'integer' },
    detail: TEXT,
    instance: { type: 'string', format: 'uri-reference' },
    errors: {
      type: 'array',
      description: 'What is wrong with the body, and where (RFC 6901).',
      items: {
        type: 'object',
        properties: { pointer: TEXT, detail: TEXT },
        required: ['pointer', 'detail'],
      },
    },
    line: { ...COUNT, description: 'Where a body cannot be read, from 1.' },
    column: { ...COUNT, description: 'In that line, from 1, in UTF-16 units.' },
    url: { ...TEXT, description: 'Of the context at fault.' },
    parameter: { ...TEXT, description: 'The query parameter at fault.' },
    missing: { ...STRINGS, description: 'URIs of documents that are not there.' },
    report: CHANGE_REPORT,
    dependents: {
      type: 'array',
      description: 'What uses the thing; the first of `total`.',
      items: { type: 'object' },
    },
    total: COUNT,
  },
  required: ['type', 'title', 'status', 'detail', 'instance'],
} as const;
