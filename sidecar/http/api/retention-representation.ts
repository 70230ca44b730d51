import { Type, type Static } from 'typebox';
import { DEFAULT_RETENTION } from '../../jobs/retention/defaults.js';
import type { ListedPolicy } from '../../jobs/retention/retention-service.js';
import type { RetentionPolicy } from '../../store/index.js';
import { HEADER_TEXT, JobQuery, LINK, optionMembers, PURGE, TARGET, UNIT } from './purge-schemas.js';
import { Closed, COUNT, DESCRIPTION, policyMembers, STRINGS, TEXT, TIME, type WrittenOf } from './schemas.js';
import { formatTime } from './answer.js';

/** Retention policies in requests and answers: their schemas, and the functions that create such values. */

const { timeZone, maxGrowth, mode, enabled } = DEFAULT_RETENTION;

/** Settings with a default value. */
const DEFAULTED = {
  timeZone: Type.String({ maxLength: 64, default: timeZone }),
  maxGrowth: Type.Number({
    minimum: 0,
    maximum: 1_000_000,
    default: maxGrowth,
    description:
      'A run that matches more than this many times the median of the last five becomes a report; 0 turns this guard off.',
  }),
  mode: Type.Enum(['report', 'enforce'], { type: 'string', default: mode }),
  enabled: Type.Boolean({ default: enabled }),
};

const SETTINGS = {
  target: TARGET,
  query: JobQuery('As in the URL of a purge.'),
  tenant: Type.Optional(HEADER_TEXT),
  link: Type.Optional(LINK),
  olderThan: Type.String({ maxLength: 64, description: 'A duration of ISO 8601, such as P90D.' }),
  by: Type.String({
    minLength: 1,
    maxLength: 1024,
    description:
      'Entities: `modifiedAt`, `createdAt`, an attribute, or its `observedAt` as in `speed.observedAt`. ' +
      'Temporal: `observedAt`, `modifiedAt`, `createdAt`, or `speed.observedAt` for that attribute alone.',
  }),
  schedule: Type.String({
    maxLength: 256,
    description: 'A cron pattern of five fields, without nicknames and extensions: `0 3 * * *`.',
  }),
  ...optionMembers('retention'),
  description: Type.Optional(DESCRIPTION),
};

const MEMBERS = policyMembers(SETTINGS, DEFAULTED);

export const NEW_POLICY = Closed('NewRetentionPolicy', MEMBERS.named);

export const POLICY_SETTINGS = Closed('RetentionPolicySettings', MEMBERS.inPath);

export const POLICY = Closed('RetentionPolicy', MEMBERS.read);

/** A policy in a list, with a summary of its last run. */
export const LISTED_POLICY = Closed('ListedRetentionPolicy', {
  ...MEMBERS.read,
  lastRun: Type.Optional(
    Type.Pick(PURGE, ['id', 'state', 'dryRun', 'matched', 'deleted', 'createdAt', 'heldBack'], {
      description: 'The record of its last run, in short; not given if it has not run.',
    }),
  ),
});

export const PREVIEW = Closed('RetentionPreview', {
  matched: COUNT,
  sample: STRINGS,
  cutoff: { ...TIME, description: 'Data older than this is deleted.' },
  query: { ...TEXT, description: 'The query of the purge.' },
  unit: Type.Optional({
    ...UNIT,
    description: 'What is counted; if not given: entities, or attributes with drop or keep.',
  }),
  atLeast: Type.Optional(Type.Boolean({ description: 'true: there are more than could be counted.' })),
  reportAbove: Type.Optional({
    ...COUNT,
    description: 'Given if more match than this, which maxGrowth allows: a run would only report.',
  }),
});

/** Returns the settings of a policy in the order given, followed by the defaults of omitted ones. */
export function settingsOf(given: Omit<Static<typeof POLICY_SETTINGS>, 'name'>) {
  return { ...given, timeZone, maxGrowth, mode, enabled, ...given };
}

/** Converts a policy for an answer. */
export function policyJson({
  name,
  settings,
  author,
  createdAt,
  modifiedAt,
}: RetentionPolicy): WrittenOf<typeof POLICY> {
  const times = { createdAt: formatTime(createdAt), modifiedAt: formatTime(modifiedAt) };
  return { name, ...settings, caller: author.caller, ...times };
}

/** Converts a policy for a list, with a summary of its last run. */
export function listedPolicyJson({ policy, lastRun }: ListedPolicy): WrittenOf<typeof LISTED_POLICY> {
  if (lastRun === undefined) return policyJson(policy);
  const { id, state, dryRun, matched, deleted, createdAt, heldBack } = lastRun;
  return {
    ...policyJson(policy),
    lastRun: { id, state, dryRun, matched, deleted, createdAt, heldBack },
  };
}
