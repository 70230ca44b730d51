import { byPriority, isStricter, type WriteMode } from '../schemas/writes/policy-choice.js';
import type { JudgeCandidate } from '../schemas/writes/protocol.js';
import type { WritePolicy, WritePolicySettings } from '../store/index.js';

/** A policy that may apply to a write. The setting WRITE_CHECK is a policy without a name. */
export interface CandidatePolicy extends JudgeCandidate {
  /** Undefined for all tenants. */
  readonly tenant?: string | undefined;
  readonly onFailure: 'accept' | 'refuse';
}

/** Who writes, and to which tenants. */
export interface WriteOrigin {
  /** Every tenant that a broker could assign the request to; `""` is the default tenant. */
  readonly tenants: readonly string[];
  readonly caller: string;
}

/**
 * The tenants that headers may name. Brokers differ in which header they read, and in whether case matters. Most of them
 * ignore Fiware-Service, and so write to the default tenant.
 */
export function tenantsOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): readonly string[] {
  const named = ['ngsild-tenant', 'fiware-service'].flatMap((name) => headers[name] ?? []);
  if (named.length === 0) return DEFAULT_TENANT;
  const tenants = new Set(named.flatMap((one) => [one, one.trim().toLowerCase()]));
  if (headers['ngsild-tenant'] === undefined || tenants.has(STELLIO_DEFAULT_TENANT)) tenants.add('');
  return [...tenants];
}

const DEFAULT_TENANT: readonly string[] = [''];

/** The name that Stellio has for the default tenant. */
const STELLIO_DEFAULT_TENANT = 'urn:ngsi-ld:tenant:default';

/**
 * The policies for a write; the first one that applies to the types of an entity decides. If the tenant is uncertain,
 * stricter policies come first.
 *
 * @param setting applies if no policy does
 */
export function candidatesFor(
  policies: readonly WritePolicy[],
  setting: WriteMode,
  { tenants, caller }: WriteOrigin,
): readonly CandidatePolicy[] {
  const applicable = policies
    .filter(({ settings }) => appliesTo(settings, tenants, caller))
    .map(({ name, settings }) => candidateOf(name, settings))
    .sort(byPriority);
  if (tenants.length > 1)
    applicable.sort(
      (one, other) => Number(isStricter(other.mode, one.mode)) - Number(isStricter(one.mode, other.mode)),
    );
  const last = applicable.findIndex(({ types }) => types === undefined);
  return last === -1 ? [...applicable, settingPolicy(setting)] : applicable.slice(0, last + 1);
}

/**
 * Whether a policy applies to a write. If the tenant is uncertain, one matching tenant is enough for a policy that
 * checks, but all must match for a policy that is off.
 */
function appliesTo(
  { tenant, callers, mode }: WritePolicySettings,
  tenants: readonly string[],
  caller: string,
): boolean {
  if (callers !== undefined && !callers.includes(caller)) return false;
  if (tenant === undefined) return true;
  return mode === 'off'
    ? tenants.every((one) => one === tenant)
    : tenants.includes(tenant) || tenants.includes(tenant.toLowerCase());
}

function candidateOf(name: string, settings: WritePolicySettings): CandidatePolicy {
  const { priority, tenant, mode, types, model, onUnjudged, onFailure, batch } = settings;
  return {
    name,
    priority,
    mode,
    onUnjudged,
    onFailure,
    allowsPartialBatch: batch === 'valid-only',
    tenant,
    types,
    model,
  };
}

/** The setting WRITE_CHECK as a policy; it has no name. */
export function settingPolicy(mode: WriteMode): CandidatePolicy {
  const onFailure = mode === 'enforce' ? 'refuse' : 'accept';
  return { name: '', priority: -Infinity, mode, onUnjudged: 'accept', onFailure, allowsPartialBatch: false };
}
