import type { RetentionPolicy, RetentionPreview, RetentionSettings } from '../api/client.js';
import { shortDuration } from '../../sidecar/shared/duration.js';
import { optionsIn } from '../../sidecar/shared/purge-options.js';
import { formOf, unitOf } from '../purge/form.js';
import { nonEmpty, typedNumber } from '../parts/fields.js';

/** Members that are numbers: options of its purges, and the policy's own. */
const COUNTS = [...optionsIn('retention'), 'maxGrowth'] as const;
type Count = (typeof COUNTS)[number];

function counts(textOf: (name: Count) => string): Readonly<Record<Count, string>> {
  return Object.fromEntries(COUNTS.map((name) => [name, textOf(name)])) as Record<Count, string>;
}

/** The fields of a new policy as typed. */
export const NEW_POLICY = {
  name: '',
  target: 'entities' as 'entities' | 'temporal',
  query: '',
  tenant: '',
  olderThan: 'P90D',
  by: 'modifiedAt',
  schedule: '0 3 * * *',
  timeZone: 'UTC',
  ...counts((name) => (name === 'maxGrowth' ? '3' : '')),
  enabled: true,
  description: '',
};
export type PolicyForm = Readonly<typeof NEW_POLICY>;

/** Returns the fields for an existing policy. */
export function formOfPolicy(policy: RetentionPolicy): PolicyForm {
  const { name, target, query, olderThan, by, schedule, timeZone, enabled } = policy;
  const { tenant = '', description = '' } = policy;
  const texts = { name, query, tenant, olderThan, by, schedule, timeZone, description };
  return { ...texts, target, enabled, ...counts((count) => String(policy[count] ?? '')) };
}

/** Returns the body of a PUT for the form. An invalid number is sent as typed, so that the gateway refuses it. */
export function settingsOf(form: PolicyForm, before?: RetentionPolicy): RetentionSettings {
  const { target, query, olderThan, by, schedule, timeZone, enabled, tenant, description } = form;
  const numbers = COUNTS.flatMap((name) => {
    const typed = form[name].trim();
    return typed === '' ? [] : [[name, typedNumber(typed)] as const];
  });
  return {
    target,
    query: query.trim(),
    olderThan: shortDuration(olderThan.trim()) ?? olderThan.trim(),
    by: by.trim(),
    schedule: schedule.trim(),
    timeZone: timeZone.trim(),
    enabled,
    ...nonEmpty({ tenant, description }),
    ...Object.fromEntries(numbers),
    ...(before?.link === undefined ? {} : { link: before.link }),
    // A policy that is changed here only reports, until the user has seen what it would delete now.
    mode: 'report',
  };
}

/** Members that are not settings. */
const READ_ONLY = ['name', 'caller', 'createdAt', 'modifiedAt'];

/** Returns the body of a PUT that only changes a policy's mode. */
export function withMode(policy: RetentionPolicy, mode: 'report' | 'enforce'): RetentionSettings {
  const settings = Object.entries({ ...policy, mode }).filter(([name]) => !READ_ONLY.includes(name));
  return Object.fromEntries(settings) as RetentionSettings;
}

/** Returns the unit of a preview's count. For temporal data, the gateway names it. */
export function unitOfPreview({ query, unit }: Pick<RetentionPreview, 'query' | 'unit'>): string {
  return unitOf(formOf('entities', query), unit);
}
