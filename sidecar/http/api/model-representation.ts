import { Type } from 'typebox';
import { metadataOf, type ModelWrite } from '../../schemas/models/index.js';
import type { Model, ModelKey, ModelTexts, ModelVersion } from '../../store/index.js';
import {
  AnyJson,
  Closed,
  COUNT,
  DESCRIPTION,
  NAME,
  OrNull,
  SHA256,
  STRINGS,
  TEXT,
  TIME,
  VERSION_NUMBER,
  type WrittenOf,
} from './schemas.js';
import { formatTime } from './answer.js';
import { apiUrl } from './routes.js';

/** Models in requests and answers: their schemas, and the functions that create such values. */

export const COMPATIBILITY = Type.Enum(['none', 'backward', 'forward', 'full'], {
  description:
    '`backward`: an update that may reject, or change the meaning of, ' +
    'entities that were valid before is refused; `forward`: one after which ' +
    'entities may be valid that the version before rejects; `full`: both.',
});

export const CHANGE_KIND = Type.Enum(['compatible', 'narrowing', 'breaking'], {
  description:
    '`narrowing`: may reject entities that were valid before; `breaking`: rejects some of them, or changes what they mean.',
});

const CHANGE_REASON = Type.Enum(
  ['meaning', 'required', 'property', 'type', 'values', 'range', 'format', 'structure', 'unproven'],
  {
    description:
      '`meaning`: stored data would be read differently; `unproven`: the comparison could not tell.',
  },
);

const STATUS = Type.Enum(['draft', 'published', 'deprecated'], {
  description: '`draft`: an update replaces its version; `deprecated`: reads have the header Deprecation.',
});

const MODEL_MEMBERS = {
  domain: NAME,
  name: NAME,
  description: Type.Optional(TEXT),
  contextBase: Type.Optional({
    ...TEXT,
    description: 'Base IRI of the terms of its context, if it has its own.',
  }),
  compatibility: COMPATIBILITY,
  status: STATUS,
  deprecatedAt: Type.Optional({ ...TIME, description: 'Since when it is deprecated.' }),
  sunset: Type.Optional({ ...TIME, description: 'When it will be removed, if known.' }),
  version: {
    ...VERSION_NUMBER,
    description: 'Number of the version: the current one if none was asked for.',
  },
  contextName: { ...TEXT, description: 'Name of the context that is generated from it.' },
  createdAt: TIME,
  modifiedAt: TIME,
};

export const MODEL_SUMMARY = Closed('ModelSummary', MODEL_MEMBERS);

const MODEL_WARNINGS = Type.Array(
  Closed('ModelWarning', {
    code: Type.Enum([
      ...(['core-term', 'encoded', 'no-term', 'other-type', 'normalized-form'] as const),
      ...(['coercion', 'core-context-not-last'] as const),
      ...(['no-iri', 'reserved-term', 'same-iri', 'scoped-context', 'undefined-prefix', 'vocab'] as const),
    ]),
    term: { ...TEXT, description: 'The name that the warning is about.' },
    detail: TEXT,
  }),
);

const DIALECT = Type.Enum(['draft-04', 'draft-06', 'draft-07', '2019-09', '2020-12'], {
  description: 'The draft of its JSON Schema.',
});

const MODEL_DETAIL_MEMBERS = {
  ...MODEL_MEMBERS,
  dialect: DIALECT,
  schema: Type.Unknown({ description: 'The JSON Schema, as it was given.' }),
  context: Type.Optional(
    Type.Unknown({ description: 'The JSON-LD context that it was given, if it has its own.' }),
  ),
  references: { ...STRINGS, description: 'URIs of the documents that the schema refers to.' },
  warnings: MODEL_WARNINGS,
};

export const MODEL = Closed('Model', MODEL_DETAIL_MEMBERS);

export const DIFFERENCES = Type.Array(
  Closed('Difference', {
    pointer: {
      ...TEXT,
      description: 'Into the new schema, or into the old one for a removed part (RFC 6901).',
    },
    class: CHANGE_KIND,
    reason: CHANGE_REASON,
    detail: TEXT,
    witness: Type.Optional(
      Type.Unknown({
        description: 'An entity in key-values form that was valid, and is refused because of the difference.',
      }),
    ),
  }),
);

export const CHANGE_REPORT = Closed('ChangeReport', { overall: CHANGE_KIND, differences: DIFFERENCES });

const OUTCOME = Type.Enum(['created', 'unchanged', 'settings', 'version', 'replaced'], {
  description:
    '`settings`: changed without a new version; `version`: a new version; `replaced`: the version of a draft was replaced.',
});

export const UPDATED_MODEL = Closed('UpdatedModel', {
  ...MODEL_DETAIL_MEMBERS,
  outcome: OUTCOME,
  change: CHANGE_REPORT,
});

export const MODEL_DRY_RUN = Closed('ModelDryRun', {
  dryRun: Type.Literal(true),
  outcome: OUTCOME,
  version: { ...VERSION_NUMBER, description: 'Number of the version that the schema would have.' },
  change: CHANGE_REPORT,
  warnings: MODEL_WARNINGS,
});

export const MODEL_VERSION = Closed('ModelVersion', {
  version: VERSION_NUMBER,
  createdAt: TIME,
  description: Type.Optional({ ...TEXT, description: "The model's description when the version was made." }),
  dialect: DIALECT,
  sha256: { ...SHA256, description: 'Of the stored schema.' },
  size: { ...COUNT, description: 'Of the stored schema, in bytes.' },
  change: Type.Optional(CHANGE_KIND),
  caller: Type.Optional({
    ...TEXT,
    description: 'Who made it; not given if the update of a document did.',
  }),
  references: STRINGS,
});

export const MODEL_DIFF = Closed('ModelDiff', {
  from: VERSION_NUMBER,
  to: VERSION_NUMBER,
  change: CHANGE_REPORT,
  pointers: Type.Array(
    Closed('ChangedPointer', {
      op: Type.Enum(['add', 'remove', 'replace']),
      pointer: {
        ...TEXT,
        description: 'Into the schema of `to`, or into that of `from` for what is removed.',
      },
    }),
    { description: 'Where the original schemas differ, annotations included; at most 1,000.' },
  ),
  pointersTotal: { ...COUNT, description: 'In how many places they differ.' },
});

const SCHEMA = AnyJson(
  'A JSON Schema (draft-04, draft-06, draft-07, 2019-09 or 2020-12) of an entity in key-values form.',
);

const CONTEXT_BASE = Type.String({
  description:
    'Base IRI of the terms of its context: http, https or urn, ending ' +
    'with a separator. Without one, the setting CONTEXT_BASE_IRI.',
});

const OWN_CONTEXT = {
  ...AnyJson(
    'Terms that take precedence over generated ones: a map of terms, an array of maps, URLs and names, the ' +
      'name of a stored context, or the URL of one that is stored here or of an allowed origin.',
  ),
  type: ['object', 'array', 'string'],
};

const SUNSET = Type.String({ description: 'When it will be removed: a date and time (RFC 3339).' });

export const NEW_MODEL = Closed('NewModel', {
  name: NAME,
  description: Type.Optional(DESCRIPTION),
  schema: SCHEMA,
  contextBase: Type.Optional(CONTEXT_BASE),
  context: Type.Optional(OWN_CONTEXT),
  compatibility: Type.Optional(COMPATIBILITY),
  status: Type.Optional({ ...STATUS, default: 'published' }),
  sunset: Type.Optional(SUNSET),
});

export const MODEL_CHANGE = Closed(
  'ModelChange',
  {
    schema: Type.Optional(SCHEMA),
    description: Type.Optional(OrNull(DESCRIPTION)),
    contextBase: Type.Optional(OrNull(CONTEXT_BASE)),
    context: Type.Optional(OrNull(OWN_CONTEXT)),
    compatibility: Type.Optional(OrNull(COMPATIBILITY)),
    status: Type.Optional(STATUS),
    sunset: Type.Optional(OrNull(SUNSET)),
  },
  'A member that is left out keeps its value; null removes it. A model that does not exist yet needs a schema.',
);

/** The key of the model named in a path. */
export function modelKey({ domain, model }: { readonly domain: string; readonly model: string }): ModelKey {
  return { domain, name: model };
}

/** The absolute URL of a model, or of a resource below it. */
export function modelUrl(baseUrl: string, { domain, name }: ModelKey, ...below: readonly string[]): string {
  return apiUrl(baseUrl, 'domains', domain, 'models', name, ...below);
}

/** Converts a model for a list. */
export function modelSummaryJson(model: Model): WrittenOf<typeof MODEL_SUMMARY> {
  const { domain, name, description, contextBase, compatibility, status, contextName } = model;
  const { deprecatedAt, sunsetAt } = model;
  return {
    domain,
    name,
    description,
    contextBase,
    compatibility,
    status,
    deprecatedAt: deprecatedAt === undefined ? undefined : formatTime(deprecatedAt),
    sunset: sunsetAt === undefined ? undefined : formatTime(sunsetAt),
    version: model.currentVersion,
    contextName,
    createdAt: formatTime(model.createdAt),
    modifiedAt: formatTime(model.modifiedAt),
  };
}

/** Writes a model as JSON; the texts of its version are inserted as they are stored. */
export function modelText({ model, version, schema, ownContext }: ModelTexts): string {
  const { dialect, warnings } = metadataOf(version);
  const members: Omit<WrittenOf<typeof MODEL>, 'schema' | 'context'> = {
    ...modelSummaryJson(model),
    version: version.number,
    dialect,
    references: version.references.map(({ uri }) => uri),
    warnings,
  };
  const context = ownContext === undefined ? '' : `,"context":${ownContext}`;
  return `${JSON.stringify(members).slice(0, -1)},"schema":${schema}${context}}`;
}

/** Writes a model after an update as JSON. */
export function updatedModelText(
  texts: ModelTexts,
  { outcome, change }: Pick<WrittenOf<typeof UPDATED_MODEL>, 'outcome' | 'change'>,
): string {
  return `${modelText(texts).slice(0, -1)},${JSON.stringify({ outcome, change }).slice(1)}`;
}

/** Converts the result of a dry run for an answer. */
export function modelDryRunJson({
  outcome,
  number,
  change,
  warnings,
}: ModelWrite): WrittenOf<typeof MODEL_DRY_RUN> {
  return { dryRun: true, outcome, version: number, change, warnings };
}

/** Converts a version for the list of versions. */
export function versionJson(version: ModelVersion): WrittenOf<typeof MODEL_VERSION> {
  const { number, createdAt, description, schema, references } = version;
  const { dialect, change, caller } = metadataOf(version);
  return {
    version: number,
    createdAt: formatTime(createdAt),
    description,
    dialect,
    ...schema,
    change,
    caller,
    references: references.map(({ uri }) => uri),
  };
}
