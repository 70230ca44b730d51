import { Type } from 'typebox';
import { HEADER_TEXT, JOB_MEMBERS, JobQuery, LINK, MOST } from './purge-schemas.js';
import { AnyJson, Closed, COUNT, NAME, OrNull, STRINGS, TEXT, TIME } from './schemas.js';

const MODEL_NAME = '[A-Za-z0-9][A-Za-z0-9_.-]{0,127}';

/** A model, as `D/M` or `D/M@3`. */
const MODEL = Type.String({
  pattern: `^${MODEL_NAME}/${MODEL_NAME}(?:@[1-9][0-9]{0,8})?$`,
  description: 'The model of all entities: `domain/model`, or `domain/model@3` for a version of it.',
});

export const NEW_SCAN = Closed('NewScan', {
  query: JobQuery('What a GET of entities would select.'),
  tenant: Type.Optional(HEADER_TEXT),
  link: Type.Optional(LINK),
  domain: Type.Optional({
    ...NAME,
    description: 'The domain in which to look for models; all if not given.',
  }),
  model: Type.Optional(MODEL),
  schema: Type.Optional(
    AnyJson(
      'A JSON Schema that is stored nowhere, to judge against: as the next version of `model`, if that is given.',
    ),
  ),
  sample: Type.Optional({
    ...MOST,
    description: 'Maximum number of entities to judge: the first that are listed.',
  }),
  maxPerSecond: Type.Optional({ ...MOST, description: 'Maximum entities per second.' }),
});

export const SCAN_CHANGE = Closed('ScanChange', {
  maxPerSecond: OrNull({ ...MOST, description: 'Entities per second, at most; null for no limit.' }),
});

const FINDING = Type.Object(
  {
    domain: TEXT,
    model: TEXT,
    pointer: { ...TEXT, description: 'The place in the entity. Positions in arrays are `*`.' },
    keyword: TEXT,
    detail: TEXT,
    entities: COUNT,
    sample: { ...STRINGS, description: 'Ids of some of the entities, at most 5.' },
  },
  { title: 'Finding' },
);

const MEMBERS = {
  ...JOB_MEMBERS,
  domain: Type.Optional(TEXT),
  model: Type.Optional(TEXT),
  candidate: Type.Optional({ ...TEXT, description: 'SHA-256 of the schema that was given.' }),
  sample: Type.Optional(COUNT),
  checked: { ...COUNT, description: 'Entities that were judged: `valid` and `invalid`.' },
  valid: COUNT,
  invalid: COUNT,
  notJudged: { ...COUNT, description: 'Entities without a model, and those that could not be judged.' },
  models: Type.Array(
    Type.Object({
      domain: TEXT,
      model: TEXT,
      version: { ...COUNT, description: '0 for a schema that is not stored.' },
      checked: COUNT,
      valid: COUNT,
      invalid: COUNT,
    }),
  ),
  unmodelled: Type.Array(Type.Object({ type: TEXT, entities: COUNT, sample: STRINGS })),
  previous: Type.Optional(
    Type.Object(
      { id: TEXT, invalid: COUNT, endedAt: TIME },
      { description: 'The last successful scan with the same parameters.' },
    ),
  ),
};

export const SCAN = Type.Object(
  {
    ...MEMBERS,
    findings: Type.Array(FINDING, { description: 'The most frequent first, at most 1000.' }),
  },
  { title: 'Scan' },
);

/** The record of a scan in a list, without its findings. */
export const LISTED_SCAN = Type.Object(MEMBERS, { title: 'ListedScan' });

export const FOUND_ENTITY = Type.Object(
  {
    id: TEXT,
    type: TEXT,
    errors: Type.Array(Type.Object({ pointer: TEXT, keyword: TEXT, detail: TEXT })),
  },
  { title: 'FoundEntity' },
);

/** Converts a record for an answer. */
export function shownScan<Record extends { readonly target: string; readonly policy: object }>({
  target: _target,
  policy: _policy,
  ...record
}: Record): Omit<Record, 'target' | 'policy'> {
  return record;
}
