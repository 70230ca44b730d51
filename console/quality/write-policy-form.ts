import { nonEmpty, typedNumber } from '../parts/fields.js';
import type { WritePolicy, WriteSettings } from './write-policies-api.js';

type Judgement = WritePolicy['onUnjudged'];

/** The fields of a new write policy as typed; types and callers one per line. */
export const NEW_WRITE_POLICY = {
  name: '',
  mode: 'report' as WritePolicy['mode'],
  types: '',
  tenants: 'all' as 'all' | 'default' | 'one',
  tenant: '',
  callers: '',
  model: '',
  priority: '0',
  onUnjudged: 'accept' as Judgement,
  /** Empty: depends on the mode, even after the mode is changed. */
  onFailure: '' as Judgement | '',
  batch: 'all' as WritePolicy['batch'],
  description: '',
};
export type WritePolicyForm = Readonly<typeof NEW_WRITE_POLICY>;

/** Returns the fields for an existing policy. */
export function formOfWritePolicy(policy: WritePolicy): WritePolicyForm {
  const { name, mode, tenant, types = [], callers = [], model = '', description = '' } = policy;
  const { priority, onUnjudged, onFailure, batch } = policy;
  return {
    name,
    mode,
    model,
    description,
    onUnjudged,
    batch,
    tenants: tenant === undefined ? 'all' : tenant === '' ? 'default' : 'one',
    tenant: tenant ?? '',
    types: types.join('\n'),
    callers: callers.join('\n'),
    priority: String(priority),
    onFailure: onFailure === (mode === 'enforce' ? 'refuse' : 'accept') ? '' : onFailure,
  };
}

/** Returns the body of a PUT for the form. An invalid number is sent as typed, so that the gateway refuses it. */
export function writeSettingsOf(form: WritePolicyForm): WriteSettings {
  const { mode, tenants, onUnjudged, onFailure, batch, priority, model, description } = form;
  const lines = (name: 'types' | 'callers') => {
    const given = form[name].split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
    return given.length === 0 ? {} : { [name]: given };
  };
  return {
    mode,
    onUnjudged,
    batch,
    ...lines('types'),
    ...lines('callers'),
    ...nonEmpty({ model, description }),
    ...(tenants === 'all' ? {} : { tenant: tenants === 'default' ? '' : form.tenant.trim() }),
    ...(priority.trim() === '' ? {} : { priority: typedNumber(priority.trim()) }),
    ...(onFailure === '' ? {} : { onFailure }),
  };
}
