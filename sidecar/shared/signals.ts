/** For this long, in milliseconds, the same signal counts as a repetition. */
const DUPLICATE_MS = 1000;

/**
 * Recognises a signal that is merely delivered twice: Ctrl+C sends SIGINT to npm and to the process that npm started,
 * and npm forwards it as well.
 *
 * @param nowMs a clock that never goes back
 * @returns a function that returns true if a signal repeats the last one that counted within a second
 */
export function createDuplicateSignalFilter(nowMs: () => number): (signal: string) => boolean {
  let last: { readonly signal: string; readonly atMs: number } | undefined;
  return (signal) => {
    const atMs = nowMs();
    if (signal === last?.signal && atMs - last.atMs < DUPLICATE_MS) return true;
    last = { signal, atMs };
    return false;
  };
}

/** Whether this process was started by `npm start` of this package, so that npm is its parent. */
export function isNpmStart(env: Readonly<Record<string, string | undefined>>): boolean {
  return env['npm_lifecycle_event'] === 'start' && env['npm_package_name'] === 'ngsi-ld-gateway';
}

/**
 * Calls `ended` once the parent process has ended. No signal reports that, so this polls, which costs next to nothing
 * and does not keep the process alive.
 *
 * @param self `process`, whose `ppid` changes when the parent ends
 */
export function onParentExit(self: { readonly ppid: number }, everyMs: number, onExit: () => void): void {
  const { ppid } = self;
  const timer = setInterval(() => {
    if (self.ppid === ppid) return;
    clearInterval(timer);
    onExit();
  }, everyMs);
  timer.unref();
}

const PARENT_POLL_MS = 500;

interface ShutdownOptions {
  /** Closes the service; a second call forces it to stop quickly. */
  readonly close: () => Promise<void>;
  readonly log: (cause: Readonly<Record<string, string>>, message: string) => void;
  /** Called once, when everything is closed. */
  readonly onClosed: () => void;
  /** Whether npm is the parent; see isNpmStart. */
  readonly startedByNpm: boolean;
  /** A clock that never goes back. */
  readonly nowMs: () => number;
}

/**
 * Ends a service on SIGTERM, SIGINT and SIGHUP (its terminal is closed), and when the npm that started it ends. A
 * further signal speeds it up.
 *
 * @param self `process`
 */
export function shutDownOnSignals(
  self: Pick<NodeJS.Process, 'on' | 'ppid'>,
  { close, log, onClosed, startedByNpm, nowMs }: ShutdownOptions,
): void {
  let hasBegun = false;
  const shutDown = (cause: Readonly<Record<string, string>>) => {
    log(cause, hasBegun ? 'hurrying' : 'shutting down');
    const closed = close();
    if (!hasBegun) void closed.then(onClosed);
    hasBegun = true;
  };
  const isDuplicate = createDuplicateSignalFilter(nowMs);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    self.on(signal, () => {
      if (!isDuplicate(signal)) shutDown({ signal });
    });
  // If npm is killed, it cannot forward the signal. If npm ends after forwarding it, that is not a request to force the
  // stop.
  if (startedByNpm)
    onParentExit(self, PARENT_POLL_MS, () => {
      if (!hasBegun) shutDown({ cause: 'npm has ended' });
    });
}

/**
 * Ends the process after a while, unless it has ended by itself: the client of a collector that does not answer would
 * keep it alive for another ten seconds.
 *
 * @param self `process`
 */
export function exitAfter(self: Pick<NodeJS.Process, 'exit'>, ms: number): void {
  setTimeout(() => self.exit(), ms).unref();
}
