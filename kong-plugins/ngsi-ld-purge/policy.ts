import type { PluginConfig } from './config-schema.js';

/** The members of the policy, in the order in which they are written, and the field each comes from. */
const limits = [
  ['max-affected', 'max_affected'],
  ['page-size', 'page_size'],
  ['batch-size', 'batch_size'],
  ['concurrency', 'concurrency'],
  ['temporal-concurrency', 'temporal_concurrency'],
] as const;

/**
 * Returns the value of X-Purge-Policy: a dictionary of RFC 9651 § 3.2 with the configured limits, e.g. `max-affected=1000,
 * page-size=500, dry-run-only=?1`, or "" if there are none. The sidecar only uses it to narrow its own limits.
 */
export function purgePolicy(config: PluginConfig): string {
  const members: string[] = [];
  for (const [member, field] of limits) {
    const limit = config[field];
    if (limit !== undefined) members.push(`${member}=${limit}`);
  }
  if (!config.allow_temporal) members.push('allow-temporal=?0');
  if (config.dry_run_only) members.push('dry-run-only=?1');
  if (config.archive !== undefined) members.push(`archive=${config.archive}`);
  return members.join(', ');
}
