import { getPriority, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import {
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  threadId,
  workerData,
} from 'node:worker_threads';
import type { CancelSignal } from '../cancel-signal.js';
import { systemThreadId, type UsedTime } from '../clock.js';

/** The functions of a worker, by kind of task. Inputs and results are sent between threads by structured clone. */
export type TaskTable = Readonly<Record<string, (input: never) => unknown>>;

export interface RunOptions {
  /** Time limit of the task from its start, in milliseconds; by default, that of the pool. */
  readonly deadlineMs?: number | undefined;
  /** Gives several tasks one time limit together: each adds what it uses, and the next one may use the rest. */
  readonly time?: UsedTime | undefined;
  /** The part of the rest that the task may use, at most 1, the default. */
  readonly share?: number | undefined;
  /** Abandons the task: it is removed from the queue, or ended after a short grace period. */
  readonly signal?: CancelSignal | undefined;
  /** Lets an abandoned task that has begun finish within its deadline. For tasks that are often abandoned. */
  readonly mayFinish?: boolean;
  /**
   * Groups tasks that are probably slow for the same reason, such as all tasks that use one schema. They wait for each
   * other instead of delaying others, and never occupy all workers. Defaults to the kind of the task.
   */
  readonly queueKey?: string | undefined;
  /** Tasks with the same affinity prefer the same worker, which still has what it compiled. Defaults to the queue key. */
  readonly affinity?: string | undefined;
  /** The thread that must run the task (`threadId`), ahead of other waiting tasks; any thread if it no longer exists. */
  readonly threadId?: number | undefined;
}

/** Runs tasks outside the calling thread. A task may run twice, so it must not have side effects. */
export interface TaskRunner<Tasks extends TaskTable> {
  /**
   * @throws {WorkersBusyError} if the task cannot even wait in the queue
   * @throws {TaskTooCostlyError} if it exceeds its deadline, or runs out of memory
   * @throws {TaskFailedError}
   */
  run<Kind extends keyof Tasks & string>(
    kind: Kind,
    input: Parameters<Tasks[Kind]>[0],
    options?: RunOptions,
  ): Promise<Awaited<ReturnType<Tasks[Kind]>>>;
}

/** A task as sent to a worker. */
export interface Job {
  readonly kind: string;
  readonly input: unknown;
}

/** The result of a job. */
export type JobResult = ({ readonly value: unknown } | { readonly error: Error }) & {
  /** How long the job took, in milliseconds. */
  readonly ms: number;
  /** The processor time that it used, in milliseconds; `ms` if it is short, or the system does not report it. */
  readonly usedMs: number;
};

/** The message that a worker sends once, when it has loaded its modules and can begin. */
export interface WorkerReady {
  readonly loaded: true;
  readonly threadId: number;
  /** The system id of its thread, if known. */
  readonly thread: string | undefined;
}

/** How much lower the priority of a worker is than that of the main thread (nice, -20 to 19). */
const NICENESS = 5;

/** The data that a worker gets when it starts. */
export interface WorkerStart {
  /** Its first element increases with each message sent to the worker. */
  readonly messageCount: Int32Array;
}

/** Called by a worker's entry module: runs the jobs sent to this thread, one after the other. */
export function serve(tasks: TaskTable): void {
  if (parentPort === null) throw new Error('Only a worker can serve.');
  const port = parentPort;
  const byKind = new Map(Object.entries(tasks));
  lowerPriority();
  // V8 would keep the code of every schema that was ever compiled, until the worker is ended for its memory.
  setFlagsFromString('--no-compilation-cache');
  port.postMessage({ loaded: true, threadId, thread: systemThreadId() } satisfies WorkerReady);
  // After the module has been loaded.
  setImmediate(() => void runJobs(port, byKind));
}

/** Waits for jobs without the event loop, which would take longer to wake up than many jobs take. */
async function runJobs(port: MessagePort, tasks: TasksByKind): Promise<never> {
  const { messageCount } = workerData as WorkerStart;
  for (;;) {
    const seen = Atomics.load(messageCount, 0);
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port))
      port.postMessage(await runAll((next as { readonly message: readonly Job[] }).message, tasks));
    Atomics.wait(messageCount, 0, seen);
  }
}

type TasksByKind = ReadonlyMap<string, (input: never) => unknown>;

/** Returns the results of jobs, which run one after the other. */
export async function runAll(jobs: readonly Job[], tasks: TasksByKind): Promise<readonly JobResult[]> {
  const outcomes: JobResult[] = [];
  for (const job of jobs) outcomes.push(await runOne(job, tasks));
  return outcomes;
}

async function runOne({ kind, input }: Job, tasks: TasksByKind): Promise<JobResult> {
  const [start, startUsed] = [performance.now(), threadTimeMs()];
  const times = () => {
    const ms = performance.now() - start;
    const usedMs = startUsed === undefined ? ms : (threadTimeMs() ?? 0) - startUsed;
    return { ms, usedMs: Math.max(usedMs, Math.min(ms, TICK_MS)) };
  };
  try {
    const task = tasks.get(kind);
    if (task === undefined) throw new Error(`No task is called ${kind}.`);
    const value = await task(input as never);
    return { value, ...times() };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)), ...times() };
  }
}

/** Systems may count processor time in steps of this length, in milliseconds. */
const TICK_MS = 10;

/** The processor time that this thread has used, in milliseconds; undefined before Node 24. */
function threadTimeMs(): number | undefined {
  const measuring: { readonly threadCpuUsage?: () => NodeJS.CpuUsage } = process;
  const used = measuring.threadCpuUsage?.();
  return used && (used.user + used.system) / 1000;
}

/** Lowers the priority of this thread. On Linux, a priority applies to one thread; elsewhere to the whole process. */
function lowerPriority(): void {
  if (parentPort === null || process.platform !== 'linux') return;
  try {
    // A new thread inherits the priority of the thread that started it.
    setPriority(Math.min(19, getPriority() + NICENESS));
  } catch {
    // Some sandboxes forbid it. Nothing depends on it.
  }
}
