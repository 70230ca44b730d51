import { metadataOf, type ModelWrite, type StoredModel } from '../../schemas/models/index.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import type { JsonValue } from '../../shared/json/json.js';
import type { Model, ModelVersion } from '../../store/records.js';
import { NAME } from './parameters.js';
import {
  COUNT,
  DESCRIPTION,
  SHA256,
  STRINGS,
  TEXT,
  TIME,
  timeText,
  VERSION_NUMBER,
  type TypeOf,
} from './schema-types.js';

/** Models in requests and answers: their JSON Schemas, and the functions that make values of these types. */

export const COMPATIBILITY = {
  enum: ['none', 'backward', 'forward', 'full'],
  description:
    '`backward`: an update that may reject, or change the meaning of, entities that were valid before is refused; `forward`: one after which entities may be valid that the version before rejects; `full`: both.',
} as const;

const CHANGE_KIND = {
  enum: ['compatible', 'narrowing', 'breaking'],
  description:
    '`narrowing`: may reject entities that were valid before; `breaking`: rejects some of them, or changes what they mean.',
} as const;

const CHANGE_REASON = {
  enum: ['meaning', 'required', 'property', 'type', 'values', 'range', 'format', 'structure', 'unproven'],
  description: '`meaning`: stored data would be read otherwise; `unproven`: the comparison could not tell.',
} as const;

const STATUS = {
  enum: ['draft', 'published', 'deprecated'],
  description: '`draft`: an update replaces its version; `deprecated`: reads have the header Deprecation.',
} as const;

const MODEL_MEMBERS = {
  domain: NAME,
  name: NAME,
  description: TEXT,
  contextBase: { ...TEXT, description: 'Base IRI of the terms of its context, where it has its own.' },
  compatibility: COMPATIBILITY,
  status: STATUS,
  deprecatedAt: { ...TIME, description: 'Since when it is deprecated.' },
  sunset: { ...TIME, description: 'When it will be removed, where that is known.' },
  version: {
    ...VERSION_NUMBER,
    description: 'Number of the version: the current one if none was asked for.',
  },
  contextName: { ...TEXT, description: 'Name of the context that is generated from it.' },
  createdAt: TIME,
  modifiedAt: TIME,
} as const;

const MODEL_REQUIRED = [
  'domain',
  'name',
  'compatibility',
  'status',
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
    code: {
      enum: [
        ...['core-term', 'encoded', 'no-term', 'other-type', 'coercion', 'core-context-not-last', 'no-iri'],
        ...['reserved-term', 'scoped-context', 'undefined-prefix', 'vocab'],
      ],
    },
    term: { ...TEXT, description: 'The name that the warning is about.' },
    detail: TEXT,
  },
  required: ['code', 'term', 'detail'],
  additionalProperties: false,
} as const;

const MODEL_DETAIL_MEMBERS = {
  ...MODEL_MEMBERS,
  dialect: {
    enum: ['draft-04', 'draft-06', 'draft-07', '2019-09', '2020-12'],
    description: 'The draft of its JSON Schema.',
  },
  schema: { description: 'The JSON Schema, as it was given.' },
  context: { description: 'The JSON-LD context that it was given, where it has its own.' },
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
            description: 'Into the new schema, or into the old one for a removed part (RFC 6901).',
          },
          class: CHANGE_KIND,
          reason: CHANGE_REASON,
          detail: TEXT,
          witness: {
            description:
              'An entity in key-values form that was valid, and is refused because of the difference.',
          },
        },
        required: ['pointer', 'class', 'reason', 'detail'],
        additionalProperties: false,
      },
    },
  },
  required: ['overall', 'differences'],
  additionalProperties: false,
} as const;

const OUTCOME = {
  enum: ['created', 'unchanged', 'settings', 'version', 'replaced'],
  description:
    '`settings`: changed without a new version; `version`: a new version; `replaced`: the version of a draft is another one.',
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
    sha256: { ...SHA256, description: 'Of the stored schema.' },
    size: { ...COUNT, description: 'Of the stored schema, in bytes.' },
    change: CHANGE_KIND,
    references: STRINGS,
  },
  required: ['version', 'createdAt', 'dialect', 'sha256', 'size', 'references'],
  additionalProperties: false,
} as const;

export const MODEL_DIFF = {
  title: 'ModelDiff',
  type: 'object',
  properties: {
    from: VERSION_NUMBER,
    to: VERSION_NUMBER,
    change: CHANGE_REPORT,
    pointers: {
      type: 'array',
      description: 'Where the schemas differ as they were given, annotations included; at most 1,000.',
      items: {
        title: 'ChangedPointer',
        type: 'object',
        properties: {
          op: { enum: ['add', 'remove', 'replace'] },
          pointer: {
            ...TEXT,
            description: 'Into the schema of `to`, or into that of `from` for what is removed.',
          },
        },
        required: ['op', 'pointer'],
        additionalProperties: false,
      },
    },
    pointersTotal: { ...COUNT, description: 'In how many places they differ.' },
  },
  required: ['from', 'to', 'change', 'pointers', 'pointersTotal'],
  additionalProperties: false,
} as const;

const SCHEMA = {
  description:
    'A JSON Schema (draft-04, draft-06, draft-07, 2019-09 or 2020-12) of an entity in key-values form.',
} as const;

const CONTEXT_BASE_DESCRIPTION =
  'Base IRI of the terms of its context: http, https or urn, ending with a separator. Without one, the setting CONTEXT_BASE_IRI.';

const OWN_CONTEXT = {
  type: ['object', 'array', 'string'],
  description:
    'Terms that win over generated ones: a map of terms, an array of maps, URLs and names, the name of a stored context, or the URL of one that is stored here or of an allowed origin.',
} as const;

const SUNSET = {
  type: 'string',
  description: 'When it will be removed: a date and time (RFC 3339).',
} as const;

export const NEW_MODEL = {
  title: 'NewModel',
  type: 'object',
  properties: {
    name: NAME,
    description: DESCRIPTION,
    schema: SCHEMA,
    contextBase: { type: 'string', description: CONTEXT_BASE_DESCRIPTION },
    context: OWN_CONTEXT,
    compatibility: COMPATIBILITY,
    status: { ...STATUS, default: 'published' },
    sunset: SUNSET,
  },
  required: ['name', 'schema'],
  additionalProperties: false,
} as const;

export const MODEL_CHANGE = {
  title: 'ModelChange',
  type: 'object',
  description:
    'A member that is left out keeps its value; null removes it. A model that is not there yet needs a schema.',
  properties: {
    schema: SCHEMA,
    description: { type: ['string', 'null'], maxLength: DESCRIPTION.maxLength },
    contextBase: { type: ['string', 'null'], description: CONTEXT_BASE_DESCRIPTION },
    context: { ...OWN_CONTEXT, type: [...OWN_CONTEXT.type, 'null'] },
    compatibility: { ...COMPATIBILITY, enum: [...COMPATIBILITY.enum, null] },
    status: STATUS,
    sunset: { ...SUNSET, type: ['string', 'null'] },
  },
  additionalProperties: false,
} as const;

export function modelSummaryJson(model: Model): TypeOf<typeof MODEL_SUMMARY> {
  const { domain, name, description, contextBase, compatibility, status, contextName } = model;
  const { deprecatedAt, sunsetAt } = model;
  return {
    domain,
    name,
    description,
    contextBase,
    compatibility,
    status,
    ...(deprecatedAt === undefined ? {} : { deprecatedAt: timeText(deprecatedAt) }),
    ...(sunsetAt === undefined ? {} : { sunset: timeText(sunsetAt) }),
    version: model.currentVersion,
    contextName,
    createdAt: timeText(model.createdAt),
    modifiedAt: timeText(model.modifiedAt),
  };
}

export function modelJson({ model, version, schema, ownContext }: StoredModel): TypeOf<typeof MODEL> {
  const { dialect, warnings } = metadataOf(version);
  return {
    ...modelSummaryJson(model),
    ...{ version: version.number, dialect, schema: parseJson(schema) as JsonValue },
    ...(ownContext === undefined ? {} : { context: parseJson(ownContext) as JsonValue }),
    ...{ references: version.references.map(({ uri }) => uri), warnings },
  };
}

export function modelDryRunJson({
  outcome,
  number,
  change,
  warnings,
}: ModelWrite): TypeOf<typeof MODEL_DRY_RUN> {
  return { dryRun: true, outcome, version: number, change, warnings };
}

export function versionJson(version: ModelVersion): TypeOf<typeof MODEL_VERSION> {
  const { number, createdAt, description, schema, references } = version;
  const { dialect, change } = metadataOf(version);
  return {
    ...{ version: number, createdAt: timeText(createdAt), description, dialect, ...schema },
    ...(change === undefined ? {} : { change }),
    references: references.map(({ uri }) => uri),
  };
}
