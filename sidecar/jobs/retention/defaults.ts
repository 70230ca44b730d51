import type { RetentionSettings } from '../../store/index.js';

/** What a retention policy has where it says nothing. A new one reports first. */
export const DEFAULT_RETENTION = {
  timeZone: 'UTC',
  maxGrowth: 3,
  mode: 'report',
  enabled: true,
} as const satisfies Partial<RetentionSettings>;
