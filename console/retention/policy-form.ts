import type { components } from '../api/types.js';
import { formOf, unitOf } from '../purge/form.js';

type RetentionPolicy = components['schemas']['RetentionPolicy'];
type RetentionSettings = components['schemas']['RetentionPolicySettings'];
type RetentionPreview = components['schemas']['RetentionPreview'];

/** The fields of a policy as they are typed. */
export interface PolicyForm {
  readonly name: string;
  readonly target: 'entities' | 'temporal';
  readonly query: string;
  readonly tenant: string;
  readonly olderThan: string;
  readonly by: string;
  readonly schedule: string;
  readonly timeZone: string;
  readonly maxAffected: string;
  readonly maxPerSecond: string;
  readonly maxGrowth: string;
  readonly enabled: boolean;
  readonly description: string;
}

export const NEW_POLICY: PolicyForm = {
  ...{ name: '', target: 'entities', query: '', tenant: '', olderThan: 'P90D', by: 'modifiedAt' },
  ...{ schedule: '0 3 * * *', timeZone: 'UTC', maxAffected: '', maxPerSecond: '', maxGrowth: '3' },
  ...{ enabled: true, description: '' },
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
  const number = (value: number | undefined) => (value === undefined ? '' : String(value));
  return {
    ...{ name, target, query, tenant, olderThan, by, schedule, timeZone, enabled, description },
    maxAffected: number(policy.maxAffected),
    maxPerSecond: number(policy.maxPerSecond),
    maxGrowth: number(policy.maxGrowth),
  };
}

/** What a PUT of the form sends; a number that is none is sent as it was typed, for the gateway to refuse. */
export function settingsOf(form: PolicyForm, before?: RetentionPolicy): RetentionSettings {
  const { target, query, olderThan, by, schedule, timeZone, enabled } = form;
  const number = (name: 'maxAffected' | 'maxPerSecond' | 'maxGrowth') => {
    const typed = form[name].trim();
    if (typed === '') return {};
    const value = Number(typed);
    return { [name]: Number.isFinite(value) ? value : typed };
  };
  const words = (name: 'tenant' | 'description') =>
    form[name].trim() === '' ? {} : { [name]: form[name].trim() };
  return {
    ...{ target, query: query.trim(), olderThan: olderThan.trim(), by: by.trim() },
    ...{ schedule: schedule.trim(), timeZone: timeZone.trim(), enabled },
    ...words('tenant'),
    ...words('description'),
    ...number('maxAffected'),
    ...number('maxPerSecond'),
    ...number('maxGrowth'),
    ...(before?.link === undefined ? {} : { link: before.link }),
    // A policy that is changed here only reports, until what it would delete now was looked at.
    mode: 'report',
  };
}

/** What a PUT of a policy sends that is to change in its mode alone. */
export function withMode(policy: RetentionPolicy, mode: 'report' | 'enforce'): RetentionSettings {
  const { target, query, tenant, link, olderThan, by, schedule, timeZone, maxGrowth, enabled } = policy;
  const { maxAffected, maxPerSecond, description } = policy;
  const optional = { tenant, link, maxAffected, maxPerSecond, description };
  return {
    ...{ target, query, olderThan, by, schedule, timeZone, maxGrowth, enabled, mode },
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}

/** What the count of a preview is in. Of the history, the gateway says it. */
export function unitOfPreview({ query, unit }: Pick<RetentionPreview, 'query' | 'unit'>): string {
  return unitOf(formOf('entities', query), unit);
}
