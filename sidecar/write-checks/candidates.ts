import { byPriority, isStricter, type WriteMode } from '../schemas/writes/policy-choice.js';
import type { JudgeCandidate } from '../schemas/writes/protocol.js';
import type { WritePolicy, WritePolicySettings } from '../store/index.js';

/** A policy that may decide about a write; the setting WRITE_CHECK is one without a name. */
export interface CandidatePolicy extends JudgeCandidate {
  /** Undefined: all tenants. */
  readonly tenant?: string | undefined;
  readonly onFailure: 'accept' | 'refuse';
}

/** Who writes to where. */
export interface Writer {
  /** Each tenant that a broker could take the request to be for; `""` is the default one. */
  readonly tenants: readonly string[];
  readonly caller: string;
}

/** The tenants that headers may name: brokers differ in which header they read, and in whether capitals count. */
export function tenantsOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): readonly string[] {
  const named = ['ngsild-tenant', 'fiware-service'].flatMap((name) => headers[name] ?? []);
  if (named.length === 0) return DEFAULT_TENANT;
  return [...new Set(named.flatMap((one) => [one, one.trim().toLowerCase()]))];
}

const DEFAULT_TENANT: readonly string[] = [''];

/**
 * The policies for a write, the first that fits an entity's types decides. Where it is not certain which tenant is meant, the
 * strictest come first.
 *
 * @param policies all of them
 * @param setting what holds where no policy fits
 */
export function candidatesFor(
  policies: readonly WritePolicy[],
  setting: WriteMode,
  { tenants, caller }: Writer,
): readonly CandidatePolicy[] {
  const fitting = policies
    .filter(({ settings }) => isFor(settings, tenants, caller))
    .map(({ name, settings }) => candidateOf(name, settings))
    .sort(byPriority);
  if (tenants.length > 1)
    fitting.sort(
      (one, other) => Number(isStricter(other.mode, one.mode)) - Number(isStricter(one.mode, other.mode)),
    );
  const last = fitting.findIndex(({ types }) => types === undefined);
  return last === -1 ? [...fitting, settingPolicy(setting)] : fitting.slice(0, last + 1);
}

/** Where it is not certain which tenant is meant, one of them is enough to be checked, and none for not being checked. */
function isFor(
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
    thins: batch === 'valid-only',
    tenant,
    types,
    model,
  };
}

/** The setting WRITE_CHECK as a policy: it has no name. */
export function settingPolicy(mode: WriteMode): CandidatePolicy {
  const onFailure = mode === 'enforce' ? 'refuse' : 'accept';
  return { name: '', priority: -Infinity, mode, onUnjudged: 'accept', onFailure, thins: false };
}
