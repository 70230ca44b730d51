import type { RetentionSettings } from '../../store/index.js';

/** The default settings of a retention policy. A new policy only reports. */
export const DEFAULT_RETENTION = {
  timeZone: 'UTC',
  maxGrowth: 3,
  mode: 'report',
  enabled: true,
} as const satisfies Partial<RetentionSettings>;
