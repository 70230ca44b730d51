import type { RetentionSettings } from '../../sidecar/store/policy-records.js';

/** The settings of a policy that deletes cars that nobody has changed for ninety days, except for these members. */
export const settingsOf = (more: Partial<RetentionSettings> = {}): RetentionSettings => ({
  target: 'entities',
  query: 'type=Car',
  olderThan: 'P90D',
  by: 'modifiedAt',
  schedule: '0 3 * * *',
  timeZone: 'UTC',
  maxGrowth: 3,
  mode: 'enforce',
  enabled: true,
  ...more,
});
