import type { WriteRoute } from '../ngsi-ld/write-route.js';
import type { JudgeInput } from '../schemas/writes/protocol.js';
import { choosePolicy, type WriteMode } from '../schemas/writes/policy-choice.js';
import type { CancelSignal } from '../shared/cancel-signal.js';
import type { Clock } from '../shared/clock.js';
import { GatewayError } from '../shared/errors.js';
import { TaskTooCostlyError } from '../shared/workers/errors.js';
import { candidatesFor, type CandidatePolicy, settingPolicy, type WriteOrigin } from './candidates.js';
import { decide, type Decision } from './decision.js';
import { type EntityLookup, type EntityTypeCache, TypeUnknownError } from './entity-type-cache.js';
import type { Judge } from './judge.js';
import type { CachedPolicies, PolicyCache } from './policy-cache.js';
import { type CountedPolicy, type WriteCounts, WriteStatistics } from './write-statistics.js';

/** One write, as received. */
export interface Write {
  readonly route: WriteRoute;
  /** Returns where to look up the entities that the write depends on. */
  readonly entityLookup: () => EntityLookup;
  readonly candidates: readonly CandidatePolicy[];
  readonly stamp: string;
  /** Aborts when the client disconnects. */
  readonly signal: CancelSignal;
}

/** The body of a write, and what is known about it. */
export type WriteBody = Pick<
  JudgeInput,
  | 'bytes'
  | 'isSimplified'
  | 'updates'
  | 'mergesLanguages'
  | 'datasetId'
  | 'link'
  | 'linkAmbiguity'
  | 'isJsonLd'
>;

/** The decision on a write, and the reason. */
export type WriteOutcome =
  | (Decision & {
      /** The batch that is sent instead of the submitted one, and the ids in it. */
      readonly thinned?: { readonly body: string; readonly ids: readonly string[] } | undefined;
      /** Ids of the entities whose types the write may change; undefined for any entity. */
      readonly ids: readonly string[] | undefined;
      /**
       * Whether the write must be answered with "not found": a check is enforced, but the broker has no entity to
       * judge the write by. It is not passed on, because the entity might exist by the time the broker receives it.
       */
      readonly isMissing: boolean;
    })
  | { readonly action: 'fail-open' | 'fail-closed'; readonly policy: string; readonly cause: unknown };

/** Called for each write. Must not throw. */
export interface WriteObserver {
  judged(decision: Decision, entities: VerdictCounts, ms: number): void;
  failed(policy: string, isRefused: boolean, cause: unknown): void;
}

type VerdictCounts = readonly {
  readonly policy: string;
  readonly verdict: 'valid' | 'invalid' | 'not-judged';
  readonly entities: number;
}[];

export interface WriteChecksOptions {
  /** WRITE_CHECK: the mode that applies if no policy does. */
  readonly setting: WriteMode;
  readonly policies: PolicyCache;
  readonly judge: Judge;
  readonly typeCache: EntityTypeCache;
  readonly clock: Pick<Clock, 'now'>;
  readonly observer: WriteObserver;
}

/** Maximum number of times that a write is judged: again whenever the type of its entity may have changed in the meantime. */
const MAX_JUDGEMENTS = 20;

/** Judges writes by the policies, and counts the results. */
export class WriteChecks {
  readonly #options: WriteChecksOptions;
  readonly #statistics = new WriteStatistics();
  readonly #candidates = new WeakMap<CachedPolicies, Map<string, readonly CandidatePolicy[]>>();
  readonly policies: PolicyCache;
  readonly typeCache: EntityTypeCache;
  readonly startedAt: number;
  #writesSeen = 0;

  constructor(options: WriteChecksOptions) {
    this.#options = options;
    this.policies = options.policies;
    this.typeCache = options.typeCache;
    this.startedAt = options.clock.now();
  }

  /** The number of writes of entities that passed through here, whether or not they were checked. */
  get writesSeen(): number {
    return this.#writesSeen;
  }

  countWrite(): void {
    this.#writesSeen += 1;
  }

  /** Whether some write may be refused, according to the known policies. */
  get mayRefuse(): boolean {
    return (
      this.#options.setting === 'enforce' ||
      this.policies.cached?.policies.some(({ settings }) => settings.mode === 'enforce') === true
    );
  }

  /** The policies that may apply to a write. @returns undefined if nothing is checked */
  candidates(known: CachedPolicies | undefined, origin: WriteOrigin): readonly CandidatePolicy[] | undefined {
    const { setting } = this.#options;
    if (known === undefined) return [settingPolicy(setting)];
    if (known.policies.length === 0 && setting === 'off') return undefined;
    const lists = this.#candidates.get(known) ?? new Map<string, readonly CandidatePolicy[]>();
    this.#candidates.set(known, lists);
    const key = JSON.stringify([origin.tenants, origin.caller]);
    const found = lists.get(key) ?? candidatesFor(known.policies, setting, origin);
    if (lists.size < MAX_ORIGINS) lists.set(key, found);
    return found.every(({ mode }) => mode === 'off') ? undefined : found;
  }

  /** Judges a write, and decides whether it is passed on. Rejects only with the reason of the signal. */
  async check(write: Write, body: WriteBody): Promise<WriteOutcome> {
    const { observer } = this.#options;
    const startedMs = performance.now();
    try {
      const judgement = await this.#judge(write, body);
      const decision = decide(judgement, write.candidates, write.route.kind.startsWith('batch-'));
      this.#statistics.add(judgement, write.candidates, decision);
      const named = (policy: number) => write.candidates[policy]?.name ?? '';
      observer.judged(
        decision,
        [
          ...judgement.valid.map(([policy, entities]) => ({
            policy: named(policy),
            verdict: 'valid' as const,
            entities,
          })),
          ...judgement.others.map(({ policy, verdict }) => ({ policy: named(policy), verdict, entities: 1 })),
        ],
        performance.now() - startedMs,
      );
      const { partialBatch, ids } = judgement;
      const isEnforced = write.candidates.some(({ mode }) => mode === 'enforce');
      const isMissing = isEnforced && judgement.isMissing === true && decision.verdict === 'not-judged';
      return {
        ...decision,
        ids,
        isMissing,
        ...(decision.action === 'thin' ? { thinned: partialBatch } : {}),
      };
    } catch (cause) {
      if (write.signal.aborted) throw cause;
      return this.decideFailed(write.candidates, cause);
    }
  }

  /** Decides on a write that could not be judged because of a failure. */
  decideFailed(candidates: readonly CandidatePolicy[], cause: unknown): WriteOutcome {
    const policy = candidates[choosePolicy(candidates, [{ written: '', iri: undefined }])];
    const isRefused = policy?.onFailure === 'refuse' && policy.mode === 'enforce';
    this.#options.observer.failed(policy?.name ?? '', isRefused, cause);
    return { action: isRefused ? 'fail-closed' : 'fail-open', policy: policy?.name ?? '', cause };
  }

  /** Decides on a write that is known in advance to be impossible to judge. */
  decideUnjudged(candidates: readonly CandidatePolicy[], reason: string): Decision {
    const policy = choosePolicy(candidates, [{ written: '', iri: undefined }]);
    const judgement = {
      valid: [],
      others: [{ index: 0, id: undefined, policy, verdict: 'not-judged' as const, reason }],
      ids: undefined,
      dependsOn: [],
    };
    const decision = decide(judgement, candidates, false);
    this.#statistics.add(judgement, candidates, decision);
    const name = candidates[policy]?.name ?? '';
    this.#options.observer.judged(decision, [{ policy: name, verdict: 'not-judged', entities: 1 }], 0);
    return decision;
  }

  /** The counts since this process began. @param policies the policies to count; the name of the setting is empty */
  counts(policies?: readonly CountedPolicy[]): WriteCounts {
    return this.#statistics.counts(policies);
  }

  async #judge({ route, entityLookup: placeOfEntities, candidates, stamp, signal }: Write, body: WriteBody) {
    const { typeCache } = this;
    const input = { ...body, ...route, candidates, stamp };
    for (let round = 1; ; round += 1) {
      const since = typeCache.changeCount;
      const judgement = await this.#options.judge.judge(input, {
        signal,
        typesOf: (ids) =>
          whileConnected(signal, (connected) => typeCache.get(placeOfEntities(), ids, connected)),
      });
      if (!typeCache.isOutdated(judgement.dependsOn, since)) return judgement;
      if (round === MAX_JUDGEMENTS) throw new TypeUnknownError('The type of the entity keeps changing.');
      await typeCache.writesEnded(judgement.dependsOn);
    }
  }
}

/** Runs work with a signal that aborts when the client disconnects, or when a part of the work fails. */
async function whileConnected<Result>(
  client: CancelSignal,
  work: (there: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const abort = () => controller.abort(client.reason);
  client.addEventListener('abort', abort);
  try {
    if (client.aborted) abort();
    return await work(controller.signal);
  } finally {
    client.removeEventListener('abort', abort);
    // After a failure, no more requests go to the broker.
    controller.abort();
  }
}

/** Maximum number of combinations of tenants and caller for which the sorted policies are kept. */
const MAX_ORIGINS = 1000;

/** Why a judgement failed, as one of a few words. */
export function failureReason(cause: unknown): string {
  if (cause instanceof TypeUnknownError) return 'entity-type';
  if (cause instanceof TaskTooCostlyError) return 'deadline';
  if (!(cause instanceof GatewayError)) return 'other';
  switch (cause.kind) {
    case 'busy':
      return 'busy';
    case 'storeUnavailable':
      return 'store';
    default:
      return cause.kind.startsWith('broker') ? 'broker' : 'other';
  }
}
