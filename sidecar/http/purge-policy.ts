import type { PurgePolicy } from '../jobs/policy.js';
import { refused } from './errors.js';

/** Header in which the Kong plugin sends its policy; it can only narrow what the configuration allows. */
export const POLICY_HEADER = 'x-purge-policy';

const INTEGERS = {
  'max-affected': 'maxAffected',
  'page-size': 'pageSize',
  'batch-size': 'batchSize',
  concurrency: 'concurrency',
  'temporal-concurrency': 'temporalConcurrency',
} as const;
const BOOLEANS = { 'dry-run-only': 'dryRunOnly', 'allow-temporal': 'allowTemporal' } as const;

type IntegerKey = (typeof INTEGERS)[keyof typeof INTEGERS];
type BooleanKey = (typeof BOOLEANS)[keyof typeof BOOLEANS];

/**
 * Reads a policy: a dictionary of integers and booleans (RFC 9651 § 3.2), e.g. `max-affected=100, dry-run-only=?1`.
 *
 * @throws RequestRefusedError (400) for anything else: a bound that is not understood would not hold
 */
export function parsePurgePolicy(header: string | readonly string[] | undefined): PurgePolicy {
  if (header === undefined) return {};
  const text = typeof header === 'string' ? header : header.join(', ');
  const policy: Partial<Record<IntegerKey, number> & Record<BooleanKey, boolean>> = {};
  for (const member of text.split(',')) {
    const [name = '', value = '', ...rest] = member.trim().split('=');
    if (rest.length === 0 && Object.hasOwn(INTEGERS, name) && /^\d{1,15}$/.test(value) && Number(value) > 0) {
      policy[INTEGERS[name as keyof typeof INTEGERS]] = Number(value);
    } else if (rest.length === 0 && Object.hasOwn(BOOLEANS, name) && /^(?:\?[01])?$/.test(value)) {
      // A member without a value is true.
      policy[BOOLEANS[name as keyof typeof BOOLEANS]] = value !== '?0';
    } else {
      const detail = `The header X-Purge-Policy has a member that is not understood: "${member.trim().slice(0, 60)}".`;
      throw refused('invalidRequest', detail);
    }
  }
  return policy;
}
