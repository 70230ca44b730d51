import type { RetentionPolicy, RetentionPreview, RetentionSettings } from '../api/client.js';
import { shortDuration } from '../../sidecar/shared/duration.js';
import { optionsIn } from '../../sidecar/shared/purge-options.js';
import { formOf, unitOf } from '../purge/form.js';

/** Members that are numbers: options of its purges, and its own. */
const COUNTS = [...optionsIn('retention'), 'maxGrowth'] as const;
type Count = (typeof COUNTS)[number];

function counts(textOf: (name: Count) => string): Readonly<Record<Count, string>> {
  return Object.fromEntries(COUNTS.map((name) => [name, textOf(name)])) as Record<Count, string>;
}

/** The fields of a policy as they are typed. */
export interface PolicyForm extends Readonly<Record<Count, string>> {
  readonly name: string;
  readonly target: 'entities' | 'temporal';
  readonly query: string;
  readonly tenant: string;
  readonly olderThan: string;
  readonly by: string;
  readonly schedule: string;
  readonly timeZone: string;
  readonly enabled: boolean;
  readonly description: string;
}

export const NEW_POLICY: PolicyForm = {
  name: '',
  target: 'entities',
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

/** The fields of a policy that is there. */
export function formOfPolicy(policy: RetentionPolicy): PolicyForm {
  const {
    name,
    target,
    query,
    tenant = '',
    olderThan,
    by,
    schedule,
    timeZone,
    enabled,
    description = '',
  } = policy;
  return {
    name,
    target,
    query,
    tenant,
    olderThan,
    by,
    schedule,
    timeZone,
    enabled,
    description,
    ...counts((count) => String(policy[count] ?? '')),
  };
}

/** What a PUT of the form sends; a number that is none is sent as it was typed, for the gateway to refuse. */
export function settingsOf(form: PolicyForm, before?: RetentionPolicy): RetentionSettings {
  const { target, query, olderThan, by, schedule, timeZone, enabled } = form;
  const numbers = COUNTS.flatMap((name) => {
    const typed = form[name].trim();
    const value = Number(typed);
    return typed === '' ? [] : [[name, Number.isFinite(value) ? value : typed] as const];
  });
  const words = (name: 'tenant' | 'description') =>
    form[name].trim() === '' ? {} : { [name]: form[name].trim() };
  return {
    target,
    query: query.trim(),
    olderThan: shortDuration(olderThan.trim()) ?? olderThan.trim(),
    by: by.trim(),
    schedule: schedule.trim(),
    timeZone: timeZone.trim(),
    enabled,
    ...words('tenant'),
    ...words('description'),
    ...Object.fromEntries(numbers),
    ...(before?.link === undefined ? {} : { link: before.link }),
    // A policy that is changed here only reports, until what it would delete now was looked at.
    mode: 'report',
  };
}

/** Members that are not settings. */
const READ_ONLY = ['name', 'caller', 'createdAt', 'modifiedAt'];

/** What a PUT of a policy sends that is to change in its mode alone. */
export function withMode(policy: RetentionPolicy, mode: 'report' | 'enforce'): RetentionSettings {
  const settings = Object.entries({ ...policy, mode }).filter(([name]) => !READ_ONLY.includes(name));
  return Object.fromEntries(settings) as RetentionSettings;
}

/** What the count of a preview is in. Of the history, the gateway says it. */
export function unitOfPreview({ query, unit }: Pick<RetentionPreview, 'query' | 'unit'>): string {
  return unitOf(formOf('entities', query), unit);
}
