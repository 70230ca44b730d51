import { parseWithDoubles } from '../../shared/json/lossless-json.js';
import { threadId } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { NameReader } from '../json-ld/names.js';
import { WriteJudge } from './write-judge.js';
import { ModelCache, MissingInputError } from './model-cache.js';
import type { JudgeInput, JudgeNeeds, JudgeOutcome, PrepareInput, PrepareOutcome } from './protocol.js';

const names = new NameReader();

/** Maximum number of stamps whose caches are kept: writes from before and after a change may be judged at the same time. */
const MAX_STAMPS = 3;

const caches = new LRUCache<string, ModelCache>({ max: MAX_STAMPS });

/** Tasks that judge writes. They run in workers, because models have patterns. */
export const writeTasks = {
  /** Judges the entities of a write, each by its policy and its models. It may first need something. */
  async judgeWrite(input: JudgeInput): Promise<JudgeOutcome> {
    const cache = cacheFor(input.stamp);
    cache.addSupplied(input);
    // The first task in a new worker is slow, so the worker is prepared first, with a longer deadline.
    if (!names.isReady) return { needs: withThreadId({ unprepared: [] }) };
    try {
      return { judged: await new WriteJudge(input, cache).judge() };
    } catch (error) {
      if (error instanceof MissingInputError) return { needs: withThreadId(error.needs) };
      throw error;
    }
  },

  /** Prepares models and a context. */
  async prepareWrites(input: PrepareInput): Promise<PrepareOutcome> {
    const { stamp, context, contexts, models } = input;
    const cache = cacheFor(stamp);
    await names.read(undefined, stamp, []);
    const urls: string[] = [];
    for (const model of models) urls.push(...(await cache.prepare(model, input)));
    if (context !== undefined) {
      const outcome = await names.read(parseWithDoubles(context), stamp, contexts);
      if ('needs' in outcome) urls.push(...outcome.needs.urls);
    }
    return { urls };
  },
};

/** The cache for a stamp. The stamp begins with the revision of the store. */
function cacheFor(stamp: string): ModelCache {
  const cached = caches.get(stamp);
  if (cached !== undefined) return cached;
  const revision = stamp.slice(0, stamp.indexOf(' ') + 1);
  const before = [...caches.entries()].find(([other]) => other.startsWith(revision));
  const next = new ModelCache(names, before?.[1]);
  caches.set(stamp, next);
  return next;
}

function withThreadId(needs: JudgeNeeds): JudgeNeeds {
  return { ...needs, threadId };
}

export type WriteTasks = typeof writeTasks;
