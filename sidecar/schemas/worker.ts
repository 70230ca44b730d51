import { inferenceTasks } from './inference/tasks.js';
import { jsonLdTasks } from './json-ld/tasks.js';
import { schemaTasks } from './json-schema/tasks.js';
import { repositoryTasks } from './repository/tasks.js';
import { modelTasks } from './models/model-tasks.js';
import { judgingTasks } from './validation/judging.js';
import { exampleTasks, validationTasks } from './validation/tasks.js';
import { writeTasks } from './writes/tasks.js';
import { serve } from '../shared/workers/tasks.js';

/** All tasks that run in workers. */
const tasks = {
  ...schemaTasks,
  ...modelTasks,
  ...jsonLdTasks,
  ...inferenceTasks,
  ...validationTasks,
  ...judgingTasks,
  ...exampleTasks,
  ...repositoryTasks,
  ...writeTasks,
};

/** The tasks of the workers. */
export type Tasks = typeof tasks;

/** The entry point of the worker threads; the pool loads this module in each of them. */
serve(tasks);
