import { Judging } from './judging.js';
import { Knowledge, Missing } from './knowledge.js';
import type { JudgeInput, JudgeOutcome, PrepareInput, PrepareOutcome } from './protocol.js';

const knowledge = new Knowledge();

/** Tasks that judge writes. They run in workers, because models have patterns. */
export const writeTasks = {
  /** Judges the entities of a write, each by its policy and its models. It may need something first. */
  async judgeWrite(input: JudgeInput): Promise<JudgeOutcome> {
    knowledge.take(input);
    // What comes first in a worker takes longer.
    if (!knowledge.names.isReady) return { needs: { unprepared: [] } };
    try {
      return { judged: await new Judging(input, knowledge).judge() };
    } catch (error) {
      if (error instanceof Missing) return { needs: error.needs };
      throw error;
    }
  },

  /** Gets models and a context ready. */
  async prepareWrites(input: PrepareInput): Promise<PrepareOutcome> {
    const { stamp, context, contexts, models } = input;
    knowledge.renew(stamp);
    await knowledge.names.read(undefined, stamp, []);
    const urls: string[] = [];
    for (const model of models) urls.push(...(await knowledge.prepare(model, input)));
    if (context !== undefined) {
      const outcome = await knowledge.names.read(JSON.parse(context), stamp, contexts);
      if ('needs' in outcome) urls.push(...outcome.needs.urls);
    }
    return { urls };
  },
};

export type WriteTasks = typeof writeTasks;
