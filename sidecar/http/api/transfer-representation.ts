import { Type } from 'typebox';
import type { ImportReport, UpdatedDependent } from '../../schemas/repository/transfer.js';
import { CHANGE_KIND, DIFFERENCES } from './model-representation.js';
import { Closed, COUNT, NAME, STRINGS, TEXT, URL_TEXT, VERSION_NUMBER, type WrittenOf } from './schemas.js';

/** Reports of imports. */

const LINE = { ...VERSION_NUMBER, description: 'Line of the first fault, from 1.' };

const EXAMPLES = Closed(
  'ImportedExamples',
  {
    valid: COUNT,
    invalid: Type.Array(
      Type.Object(
        { path: TEXT, pointer: TEXT, line: Type.Optional(LINE), detail: TEXT },
        { additionalProperties: false },
      ),
      { description: 'The first errors of each example that is not valid.' },
    ),
    unchecked: Type.Optional({
      ...STRINGS,
      description: 'Paths of those that were not checked, because the examples of the import took too long.',
    }),
  },
  'The examples of a model, held against its schema.',
);

const IMPORTED_FILE = Closed('ImportedFile', {
  path: TEXT,
  url: Type.Optional({ ...URL_TEXT, description: 'Under which a shared document is stored.' }),
  model: Type.Optional({ ...TEXT, description: 'The model that it becomes, as domain/model.' }),
  context: Type.Optional({ ...TEXT, description: 'Name of the stored context that it becomes.' }),
  status: Type.Enum(['created', 'updated', 'unchanged', 'refused']),
  reason: Type.Optional({ ...TEXT, description: 'Why it is refused, and what can be done.' }),
  line: Type.Optional(LINE),
  change: Type.Optional(CHANGE_KIND),
  differences: Type.Optional(DIFFERENCES),
  examples: Type.Optional(EXAMPLES),
});

export const UPDATED_DEPENDENTS = Type.Array(
  Closed('UpdatedDependent', {
    domain: NAME,
    model: NAME,
    status: Type.Enum(['updated', 'unchanged', 'refused']),
    change: Type.Optional(CHANGE_KIND),
    differences: Type.Optional(DIFFERENCES),
    reason: Type.Optional(TEXT),
  }),
  {
    description: 'Models that use a changed document or follow a changed context, and what happens to them.',
  },
);

export const IMPORT_REPORT = Closed('ImportReport', {
  summary: Type.Object(
    {
      dryRun: Type.Boolean(),
      domains: STRINGS,
      created: COUNT,
      updated: COUNT,
      unchanged: COUNT,
      refused: COUNT,
      ignored: { ...COUNT, description: 'Files that are nothing of a model.' },
      models: COUNT,
      examples: Type.Object(
        { valid: COUNT, invalid: COUNT, unchecked: COUNT },
        { additionalProperties: false },
      ),
    },
    { additionalProperties: false },
  ),
  files: Type.Array(IMPORTED_FILE),
  dependents: UPDATED_DEPENDENTS,
});

/** The report is what it is. */
export function importReportJson(report: ImportReport): WrittenOf<typeof IMPORT_REPORT> {
  return report;
}

export function dependentJson(dependent: UpdatedDependent): WrittenOf<typeof UPDATED_DEPENDENTS>[number] {
  return dependent;
}
