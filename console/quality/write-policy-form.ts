import { nonEmpty, typedNumber } from '../parts/fields.js';
import type { WritePolicy, WriteSettings } from './write-policies-api.js';

type Tenants = 'all' | 'default' | 'one';
type Choice = WritePolicy['onUnjudged'];

/** The fields of a write policy as typed; types and callers one per line. */
export interface WritePolicyForm {
  readonly name: string;
  readonly mode: WritePolicy['mode'];
  readonly types: string;
  readonly tenants: Tenants;
  readonly tenant: string;
  readonly callers: string;
  readonly model: string;
  readonly priority: string;
  readonly onUnjudged: Choice;
  /** Empty: depends on the mode, even after the mode is changed. */
  readonly onFailure: Choice | '';
  readonly batch: WritePolicy['batch'];
  readonly description: string;
}

export const NEW_WRITE_POLICY: WritePolicyForm = {
  name: '',
  mode: 'report',
  types: '',
  tenants: 'all',
  tenant: '',
  callers: '',
  model: '',
  priority: '0',
  onUnjudged: 'accept',
  onFailure: '',
  batch: 'all',
  description: '',
};

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
