import { Type, type Static } from 'typebox';
import type { WritePolicy, WritePolicySettings } from '../../store/index.js';
import { formatTime } from './answer.js';
import { Closed, COUNT, DESCRIPTION, policyMembers, STRINGS, TEXT, TIME, type WrittenOf } from './schemas.js';

/** Write policies and the findings of their checks, in requests and answers. */

const MODES = ['off', 'report', 'enforce'] as const;
const CHOICES = ['accept', 'refuse'] as const;

const NAMES = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description,
  });

const SETTINGS = {
  tenant: Type.Optional(
    Type.String({
      maxLength: 256,
      description: 'The tenant that it is for; `""` is the default one. All when not given.',
    }),
  ),
  types: Type.Optional(
    NAMES('The types of entities that it is for, by IRI, or by the name at its end. All when not given.'),
  ),
  callers: Type.Optional(
    NAMES('The callers that it is for, as the gateway in front names them. All when not given.'),
  ),
  mode: Type.Enum([...MODES], {
    type: 'string',
    description:
      '`report` passes everything on and says what is not valid, `enforce` refuses it, `off` checks nothing.',
  }),
  model: Type.Optional(
    Type.String({
      maxLength: 300,
      description:
        'The model that judges, as `domain/model` or `domain/model@3`; that of each type when not given.',
    }),
  ),
  description: Type.Optional(DESCRIPTION),
};

const DEFAULTED = {
  priority: Type.Integer({
    minimum: -1_000_000,
    maximum: 1_000_000,
    default: 0,
    description:
      'Of the policies that fit, the one with the highest priority decides; among equal ones, the first by name.',
  }),
  onUnjudged: Type.Enum([...CHOICES], {
    type: 'string',
    default: 'accept',
    description: 'What `enforce` does with what cannot be judged.',
  }),
  onFailure: Type.Enum([...CHOICES], {
    type: 'string',
    description: 'What `enforce` does if judging fails; `refuse` when not given, `accept` in a report.',
  }),
  batch: Type.Enum(['valid-only', 'all'], {
    type: 'string',
    default: 'all',
    description:
      '`all` sends nothing of a batch that contains a refused entity, `valid-only` sends the other entities.',
  }),
};

const MEMBERS = policyMembers(SETTINGS, DEFAULTED);

export const NEW_WRITE_POLICY = Closed('NewWritePolicy', MEMBERS.named);

export const WRITE_POLICY_SETTINGS = Closed('WritePolicySettings', MEMBERS.inPath);

export const WRITE_POLICY = Closed('WritePolicy', {
  ...MEMBERS.read,
  warnings: Type.Optional({
    ...STRINGS,
    description: 'In the answer to a write of the policy: effects that its author may not expect.',
  }),
});

export const WRITE_CHECKS = Closed('WriteChecks', {
  since: { ...TIME, description: 'When this process began to count.' },
  checked: { ...COUNT, description: 'Entities that were checked, including those that are not judged.' },
  invalid: COUNT,
  refused: COUNT,
  notJudged: COUNT,
  findings: Type.Array(
    Closed('WriteFinding', {
      domain: TEXT,
      model: TEXT,
      pointer: { ...TEXT, description: 'Into the entity; positions in arrays are `*`.' },
      keyword: TEXT,
      detail: { ...TEXT, description: 'Of the first entity.' },
      entities: COUNT,
      sample: { ...STRINGS, description: 'Ids of the first five.' },
    }),
  ),
});

/** Completes the settings of a policy with the defaults of omitted ones. */
export function writePolicySettings(
  given: Omit<Static<typeof WRITE_POLICY_SETTINGS>, 'name'>,
): WritePolicySettings {
  const onFailure = given.mode === 'enforce' ? 'refuse' : 'accept';
  return { ...given, priority: 0, onUnjudged: 'accept', onFailure, batch: 'all', ...given };
}

/** Converts a policy for an answer, with the warnings of the write if there are any. */
export function writePolicyJson(
  { name, settings, caller, createdAt, modifiedAt }: WritePolicy,
  warnings?: readonly string[],
): WrittenOf<typeof WRITE_POLICY> {
  const times = { createdAt: formatTime(createdAt), modifiedAt: formatTime(modifiedAt) };
  return { name, ...settings, caller, ...times, warnings };
}
