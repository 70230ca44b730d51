import { parseModelName, undefinedIfGone } from '../schemas/models/index.js';
import { choosePolicy } from '../schemas/writes/policy-choice.js';
import {
  type Expected,
  type IfMatch,
  type Models,
  type Page,
  type Paged,
  type WritePolicies as StoredPolicies,
  type WritePolicy,
  type WritePolicySettings,
} from '../store/index.js';
import { GatewayError, InvalidBodyError } from '../shared/errors.js';
import { candidatesFor } from './candidates.js';
import type { ModelLoader } from './model-loader.js';
import { MAX_POLICIES, type PolicyCache } from './policy-cache.js';
import type { WriteChecks } from './write-checks.js';

export interface WritePolicyServiceOptions {
  readonly store: StoredPolicies;
  readonly modelStore: Pick<Models, 'get'>;
  readonly models: Pick<ModelLoader, 'modelsOfTypes'>;
  readonly cache: PolicyCache;
  readonly checks: Pick<WriteChecks, 'writesSeen' | 'startedAt'>;
  /** Whether callers are vouched for. */
  readonly knowsCallers: boolean;
}

/** The write policies. A change takes effect in this process before it is answered, and within two seconds in others. */
export class WritePolicyService {
  readonly #options: WritePolicyServiceOptions;

  constructor(options: WritePolicyServiceOptions) {
    this.#options = options;
  }

  list(page: Page): Promise<Paged<WritePolicy>> {
    return this.#options.store.list(page);
  }

  /** @throws NotFoundError */
  get(name: string): Promise<WritePolicy> {
    return this.#options.store.get(name);
  }

  /** Creates a policy, or replaces one. @throws InvalidBodyError, PreconditionFailedError */
  async put(name: string, settings: WritePolicySettings, caller: string, expected?: Expected) {
    const { store, cache } = this.#options;
    if (settings.model !== undefined && parseModelName(settings.model) === undefined)
      throw new InvalidBodyError('The body is invalid: /model must name a model.', '/model', MODEL_NAME_RULE);
    await this.#requireCapacity(name);
    const { policy, isNew } = await store.put({ name, settings, caller }, expected);
    await cache.refresh();
    return { policy, isNew, warnings: await this.#warnings(policy) };
  }

  /** @throws NotFoundError, PreconditionFailedError */
  async delete(name: string, ifMatch?: IfMatch): Promise<void> {
    await this.#options.store.delete(name, ifMatch);
    await this.#options.cache.refresh();
  }

  async #requireCapacity(name: string): Promise<void> {
    const { items, total } = await this.#options.store.list({ limit: MAX_POLICIES, offset: 0 });
    if (total < MAX_POLICIES || items.some((one) => one.name === name)) return;
    const detail = `cannot be added: there are already ${MAX_POLICIES} policies`;
    throw new InvalidBodyError(`The policy ${detail}.`, '', detail);
  }

  async #warnings({ name, settings }: WritePolicy): Promise<readonly string[]> {
    const { checks, knowsCallers } = this.#options;
    const { mode, onUnjudged, onFailure, callers } = settings;
    const warnings: string[] = [];
    if (mode !== 'off' && checks.writesSeen === 0)
      warnings.push(
        'No write of an entity has come through this gateway since it started ' +
          `(${new Date(checks.startedAt).toISOString()}). Behind Kong, writes ` +
          'bypass it until the block ngsi-ld-write of kong.yml is switched on.',
      );
    warnings.push(...(await this.#modelWarnings(settings)));
    if (mode === 'report' && (onUnjudged === 'refuse' || onFailure === 'refuse'))
      warnings.push(
        'Nothing is refused in the mode report: onUnjudged and onFailure take effect once the mode is enforce.',
      );
    if (callers !== undefined && !knowsCallers)
      warnings.push('Without GATEWAY_TOKEN nobody vouches for callers: all of them are "anonymous".');
    const before = this.#overriddenBy(name, settings);
    if (before !== undefined)
      warnings.push(
        `The policy ${before} takes precedence over this one for every write, so this one has no effect.`,
      );
    return warnings;
  }

  /** The name of a policy that always decides before this one; undefined if there is none. */
  #overriddenBy(
    name: string,
    { tenant = '', callers = [], types = [] }: WritePolicySettings,
  ): string | undefined {
    const policies = this.#options.cache.cached?.policies ?? [];
    const own = candidatesFor(policies, 'off', { tenants: [tenant], caller: callers[0] ?? 'anonymous' });
    const type = types[0] ?? 'urn:a-type';
    const chosen = own[choosePolicy(own, [{ written: type, iri: type }])];
    if (chosen === undefined || chosen.name === name || chosen.name === '') return undefined;
    const settings = policies.find((one) => one.name === chosen.name)?.settings;
    const isForAll =
      settings?.tenant === undefined && settings?.types === undefined && settings?.callers === undefined;
    return isForAll ? chosen.name : undefined;
  }

  /** Warnings about models. The policy is already stored, so a failed lookup is a warning as well. */
  async #modelWarnings({ mode, model, types = [] }: WritePolicySettings): Promise<readonly string[]> {
    try {
      if (model !== undefined)
        return (await this.#modelExists(model))
          ? []
          : [`There is no model ${model} now: until there is, its entities are not judged.`];
      return mode === 'off' ? [] : (await this.#typesWithoutModel(types)).map(missingModelWarning);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return [
        'It could not be checked whether there is a model for its entities: store the policy again to check.',
      ];
    }
  }

  async #typesWithoutModel(types: readonly string[]): Promise<readonly string[]> {
    const { models: supply, cache } = this.#options;
    const found = await supply.modelsOfTypes(
      types.map((written) => ({ written, iri: written })),
      cache.cached?.stamp ?? '',
    );
    return found.filter(([, models]) => models.length === 0).map(([type]) => type);
  }

  async #modelExists(model: string): Promise<boolean> {
    const named = parseModelName(model);
    if (named === undefined) return false;
    const { domain, name, version } = named;
    return (await undefinedIfGone(this.#options.modelStore.get({ domain, name }, version))) !== undefined;
  }
}

function missingModelWarning(type: string): string {
  return (
    `There is no published model for the type ${type} now: until there is, its entities are not judged. ` +
    'Type names must be complete and are case-sensitive; there are no wildcards.'
  );
}

const MODEL_NAME_RULE = 'must be domain/model, or domain/model@version, such as Automotive/Vehicle@3';
