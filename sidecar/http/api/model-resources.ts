import { NAME } from './parameters.js';
import { COUNT, SHA256, STRINGS, TEXT, TIME, URL_TEXT, VERSION_NUMBER } from './resource-parts.js';

/** What the API answers about models, as JSON Schemas; represent.ts makes values of these types. */

export const COMPATIBILITY = {
  enum: ['none', 'backward'],
  description: '`backward`: updates that may refuse what passed before are refused.',
} as const;

const CHANGE_KIND = {
  enum: ['compatible', 'narrowing', 'breaking'],
  description: '`narrowing`: may refuse what passed before; `breaking`: does refuse it.',
} as const;

const MODEL_MEMBERS = {
  domain: NAME,
  name: NAME,
  description: TEXT,
  contextBase: { ...TEXT, description: 'Base IRI of the terms of its context, where it has its own.' },
  compatibility: COMPATIBILITY,
  version: { ...VERSION_NUMBER, description: 'Number of the current version.' },
  contextName: { ...TEXT, description: 'Name of the context that is generated from it.' },
  createdAt: TIME,
  modifiedAt: TIME,
} as const;

const MODEL_REQUIRED = [
  'domain',
  'name',
  'compatibility',
  'version',
  'contextName',
  'createdAt',
  'modifiedAt',
] as const;

export const MODEL_SUMMARY = {
  title: 'ModelSummary',
  type: 'object',
  properties: MODEL_MEMBERS,
  required: MODEL_REQUIRED,
  additionalProperties: false,
} as const;

const MODEL_WARNING = {
  title: 'ModelWarning',
  type: 'object',
  properties: {
    code: { enum: ['core-term', 'encoded', 'no-term', 'other-type'] },
    term: { ...TEXT, description: 'The name that the warning is about.' },
    detail: TEXT,
  },
  required: ['code', 'term', 'detail'],
  additionalProperties: false,
} as const;

const MODEL_DETAIL_MEMBERS = {
  ...MODEL_MEMBERS,
  dialect: { enum: ['draft-07', '2019-09', '2020-12'], description: 'The draft of its JSON Schema.' },
  schema: { description: 'The JSON Schema, as it was given.' },
  references: { ...STRINGS, description: 'URIs of the documents that the schema refers to.' },
  warnings: { type: 'array', items: MODEL_WARNING },
} as const;

const MODEL_DETAIL_REQUIRED = [...MODEL_REQUIRED, 'dialect', 'schema', 'references', 'warnings'] as const;

export const MODEL = {
  title: 'Model',
  type: 'object',
  properties: MODEL_DETAIL_MEMBERS,
  required: MODEL_DETAIL_REQUIRED,
  additionalProperties: false,
} as const;

export const CHANGE_REPORT = {
  title: 'ChangeReport',
  type: 'object',
  properties: {
    overall: CHANGE_KIND,
    differences: {
      type: 'array',
      items: {
        title: 'Difference',
        type: 'object',
        properties: {
          pointer: {
            ...TEXT,
            description: 'Into the new schema, or into the old one for what is no longer there (RFC 6901).',
          },
          kind: CHANGE_KIND,
          detail: TEXT,
        },
        required: ['pointer', 'kind', 'detail'],
        additionalProperties: false,
      },
    },
  },
  required: ['overall', 'differences'],
  additionalProperties: false,
} as const;

const OUTCOME = {
  enum: ['unchanged', 'settings', 'version'],
  description: '`settings`: changed without a new version; `version`: a new version.',
} as const;

export const UPDATED_MODEL = {
  title: 'UpdatedModel',
  type: 'object',
  properties: { ...MODEL_DETAIL_MEMBERS, outcome: OUTCOME, change: CHANGE_REPORT },
  required: [...MODEL_DETAIL_REQUIRED, 'outcome', 'change'],
  additionalProperties: false,
} as const;

export const MODEL_DRY_RUN = {
  title: 'ModelDryRun',
  type: 'object',
  properties: {
    dryRun: { const: true },
    outcome: OUTCOME,
    version: { ...VERSION_NUMBER, description: 'Number of the version that the schema would have.' },
    change: CHANGE_REPORT,
    warnings: { type: 'array', items: MODEL_WARNING },
  },
  required: ['dryRun', 'outcome', 'version', 'change', 'warnings'],
  additionalProperties: false,
} as const;

export const MODEL_VERSION = {
  title: 'ModelVersion',
  type: 'object',
  properties: {
    version: VERSION_NUMBER,
    createdAt: TIME,
    description: { ...TEXT, description: "The model's description when the version was made." },
    dialect: MODEL_DETAIL_MEMBERS.dialect,
    sha256: { ...SHA256, description: 'Of the schema as it is stored.' },
    size: { ...COUNT, description: 'Of the schema as it is stored, in bytes.' },
    change: CHANGE_KIND,
    references: STRINGS,
  },
  required: ['version', 'createdAt', 'dialect', 'sha256', 'size', 'references'],
  additionalProperties: false,
} as const;

export const MODEL_FILE = {
  title: 'ModelFile',
  type: 'object',
  properties: {
    name: TEXT,
    mediaType: TEXT,
    size: { ...COUNT, description: 'In bytes.' },
    sha256: SHA256,
    uri: { ...TEXT, description: 'What the `$ref`s say, for a document that the schema refers to.' },
    url: { ...URL_TEXT, description: 'Where the file is.' },
  },
  required: ['name', 'mediaType', 'size', 'sha256', 'url'],
  additionalProperties: false,
} as const;
