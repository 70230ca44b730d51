import type { ImportReport, UpdatedDependent } from '../../schemas/repository/transfer.js';
import { CHANGE_REPORT } from './model-representation.js';
import { NAME } from './parameters.js';
import { COUNT, STRINGS, TEXT, URL_TEXT, VERSION_NUMBER, type TypeOf } from './schema-types.js';

/** Reports of imports. */

const { overall: CHANGE_KIND, differences: DIFFERENCES } = CHANGE_REPORT.properties;

const LINE = { ...VERSION_NUMBER, description: 'Line of the first fault, from 1.' } as const;

const EXAMPLES = {
  title: 'ImportedExamples',
  type: 'object',
  description: 'The examples of a model, held against its schema.',
  properties: {
    valid: COUNT,
    invalid: {
      type: 'array',
      description: 'The first errors of each example that is not valid.',
      items: {
        type: 'object',
        properties: { path: TEXT, pointer: TEXT, line: LINE, detail: TEXT },
        required: ['path', 'pointer', 'detail'],
        additionalProperties: false,
      },
    },
    unchecked: {
      ...STRINGS,
      description: 'Paths of those that were not checked, because the examples of the import took too long.',
    },
  },
  required: ['valid', 'invalid'],
  additionalProperties: false,
} as const;

const IMPORTED_FILE = {
  title: 'ImportedFile',
  type: 'object',
  properties: {
    path: TEXT,
    url: { ...URL_TEXT, description: 'Under which a shared document is stored.' },
    model: { ...TEXT, description: 'The model that it becomes, as domain/model.' },
    context: { ...TEXT, description: 'Name of the stored context that it becomes.' },
    status: { enum: ['created', 'updated', 'unchanged', 'refused'] },
    reason: { ...TEXT, description: 'Why it is refused, and what can be done.' },
    line: LINE,
    change: CHANGE_KIND,
    differences: DIFFERENCES,
    examples: EXAMPLES,
  },
  required: ['path', 'status'],
  additionalProperties: false,
} as const;

export const UPDATED_DEPENDENTS = {
  type: 'array',
  description:
    'Models that were made with a document which has changed, or follow a context which has, and what becomes of them.',
  items: {
    title: 'UpdatedDependent',
    type: 'object',
    properties: {
      domain: NAME,
      model: NAME,
      status: { enum: ['updated', 'unchanged', 'refused'] },
      change: CHANGE_KIND,
      differences: DIFFERENCES,
      reason: TEXT,
    },
    required: ['domain', 'model', 'status'],
    additionalProperties: false,
  },
} as const;

export const IMPORT_REPORT = {
  title: 'ImportReport',
  type: 'object',
  properties: {
    summary: {
      type: 'object',
      properties: {
        dryRun: { type: 'boolean' },
        domains: STRINGS,
        created: COUNT,
        updated: COUNT,
        unchanged: COUNT,
        refused: COUNT,
        ignored: { ...COUNT, description: 'Files that are nothing of a model.' },
        models: COUNT,
        examples: {
          type: 'object',
          properties: { valid: COUNT, invalid: COUNT, unchecked: COUNT },
          required: ['valid', 'invalid', 'unchecked'],
          additionalProperties: false,
        },
      },
      required: [
        ...[
          'dryRun',
          'domains',
          'created',
          'updated',
          'unchanged',
          'refused',
          'ignored',
          'models',
          'examples',
        ],
      ],
      additionalProperties: false,
    },
    files: { type: 'array', items: IMPORTED_FILE },
    dependents: UPDATED_DEPENDENTS,
  },
  required: ['summary', 'files', 'dependents'],
  additionalProperties: false,
} as const;

/** The report is what it is. */
export function importReportJson(report: ImportReport): TypeOf<typeof IMPORT_REPORT> {
  return report;
}

export function dependentJson(dependent: UpdatedDependent): TypeOf<typeof UPDATED_DEPENDENTS>[number] {
  return dependent;
}
