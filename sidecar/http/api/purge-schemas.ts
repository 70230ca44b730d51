import { Type, type TOptional, type TUnsafe } from 'typebox';
import { JOB_STATES } from '../../store/index.js';
import {
  type OptionIn,
  type OptionValues,
  optionSchemas,
  type OptionPlace,
} from '../../shared/purge-options.js';
import { COUNT, OrNull, STRINGS, TEXT, TIME } from './schemas.js';

/** Returns the schemas of the purge options that are allowed in a place, as optional members. */
export function optionMembers<Where extends OptionPlace>(place: Where) {
  const members = Object.entries<object>(optionSchemas(place)).map(([name, schema]) => [
    name,
    Type.Optional(Type.Unsafe(schema)),
  ]);
  return Object.fromEntries(members) as {
    [Name in OptionIn<Where>]: TOptional<TUnsafe<NonNullable<OptionValues<Where>[Name]>>>;
  };
}

export const TARGET = Type.Enum(['entities', 'temporal'], { type: 'string' });
const RECORD_TARGET = Type.Enum(['entities', 'temporal', 'restore'], { type: 'string' });
export const UNIT = Type.Enum(['entities', 'attributes', 'datasets', 'instances'], { type: 'string' });
export const HEADER_TEXT = Type.String({
  minLength: 1,
  maxLength: 4096,
  pattern: '^[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$',
});

export const LINK = {
  ...HEADER_TEXT,
  description: 'A Link header that names one @context: its URL in angle brackets, and its relation.',
};

/** The query of a job. */
export function JobQuery(description: string) {
  return Type.String({ minLength: 1, maxLength: 16_384, description });
}

/** A maximum number of items, or of items per second. */
export const MOST = Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 });

const ARCHIVE = Type.Object(
  {
    entities: COUNT,
    bytes: { ...COUNT, description: 'As stored: compressed, and perhaps encrypted.' },
    segments: Type.Optional({ ...COUNT, description: 'Minimum number of objects.' }),
    listDigest: Type.Optional(
      Type.String({ description: 'SHA-256 of the list of its objects, so that missing ones are noticed.' }),
    ),
    expiresAt: TIME,
    erasedAt: Type.Optional({ ...TIME, description: 'When it was erased by request.' }),
  },
  { title: 'PurgeArchive', description: 'What was archived of what the purge deleted.' },
);

/** Members that say where the request of a record came from. */
const CLIENT = {
  clientAddress: Type.Optional({
    ...TEXT,
    description: 'The address that the request came from; given if sign-in is on, or with TRUSTED_PROXIES.',
  }),
  userAgent: Type.Optional({
    ...TEXT,
    description: 'The program that sent it, according to its User-Agent.',
  }),
};

export const JOB_MEMBERS = {
  id: TEXT,
  state: Type.Enum(JOB_STATES, { type: 'string' }),
  query: TEXT,
  tenant: Type.Optional(TEXT),
  link: Type.Optional(TEXT),
  /** The place of the entities according to the FIWARE headers. */
  fiware: Type.Optional(Type.Object({ service: Type.Optional(TEXT), servicePath: Type.Optional(TEXT) })),
  caller: TEXT,
  ...CLIENT,
  requestId: TEXT,
  traceparent: Type.Optional({ ...TEXT, description: 'The trace that it belongs to (W3C Trace Context).' }),
  worker: TEXT,
  waitsFor: Type.Optional({
    ...TEXT,
    description: 'The broker that it waits for in the queue, because BROKER_URL names another.',
  }),
  maxPerSecond: OrNull(Type.Integer()),
  matched: COUNT,
  requests: COUNT,
  retries: COUNT,
  expected: Type.Optional(COUNT),
  ratePerSecond: Type.Optional(Type.Number()),
  estimatedEndAt: Type.Optional(TIME),
  createdAt: TIME,
  startedAt: Type.Optional(TIME),
  endedAt: Type.Optional(TIME),
  problem: Type.Optional(Type.Object({})),
  warnings: STRINGS,
};

export const PURGE = Type.Object(
  {
    ...JOB_MEMBERS,
    target: RECORD_TARGET,
    unit: Type.Optional(UNIT),
    retentionPolicy: Type.Optional(TEXT),
    heldBack: Type.Optional(
      Type.Boolean({
        description: 'true for a run that only reported, because it matched too many or a clock was wrong.',
      }),
    ),
    dryRun: Type.Boolean(),
    policy: Type.Object({}),
    concurrency: COUNT,
    deleted: COUNT,
    alreadyGone: COUNT,
    failed: COUNT,
    unknown: COUNT,
    arrived: COUNT,
    errors: Type.Array(Type.Object({})),
    sample: Type.Optional(STRINGS),
    archive: Type.Optional(ARCHIVE),
    plan: Type.Optional(
      Type.Object(
        { items: COUNT, expiresAt: TIME },
        { description: 'Of a dry run: what it found can be applied.' },
      ),
    ),
    planOf: Type.Optional({ ...TEXT, description: 'The dry run whose plan it applies.' }),
    restoreOf: Type.Optional({ ...TEXT, description: 'Of a restore: the purge that it undoes.' }),
    restored: Type.Optional({
      ...COUNT,
      description: 'Created again; in a dry run, the number that would be.',
    }),
    alreadyThere: Type.Optional({ ...COUNT, description: 'Existed before, and were left unchanged.' }),
    different: Type.Optional({
      ...COUNT,
      description: 'Of a dry run of a restore: those of alreadyThere that differ from the archive.',
    }),
  },
  { title: 'Purge' },
);

const CHANGEABLE = optionMembers('change');

export const PURGE_CHANGE = Type.Object(
  // Null removes the limit.
  { ...CHANGEABLE, maxPerSecond: Type.Optional(OrNull(CHANGEABLE.maxPerSecond)) },
  { title: 'PurgeChange', minProperties: 1, additionalProperties: false },
);
