import { PolicyRefusedError, QueryRefusedError } from '../errors.js';

/** What is done with a purge that may empty its tenant: it needs a bound, goes as the standard has it, or is refused. */
export type WholeTenant = 'bounded' | 'allow' | 'refuse';

/**
 * Checks a purge that no filter keeps from emptying its tenant. A dry run may always be.
 *
 * @throws PolicyRefusedError under `refuse`
 * @throws QueryRefusedError under `bounded`, unless the query itself says how many may go
 */
export function checkWholeTenant(
  { dryRun, maxAffected }: { readonly dryRun: boolean; readonly maxAffected: number | undefined },
  mode: WholeTenant,
): void {
  if (dryRun || mode === 'allow') return;
  if (mode === 'refuse') {
    throw new PolicyRefusedError(
      'This gateway allows no purge that may reach every entity of a tenant (PURGE_WHOLE_TENANT=refuse): add a filter that only what is to go can meet, such as type=Vehicle; dryRun=true is allowed.',
    );
  }
  if (maxAffected !== undefined) return;
  throw new QueryRefusedError(
    'invalidRequest',
    'This query may reach every entity of the tenant: say with maxAffected how many that may be (dryRun=true counts them), or add a filter that only what is to go can meet, such as type=Vehicle.',
    'maxAffected',
  );
}
