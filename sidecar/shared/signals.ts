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
 * @param everyMs the interval in milliseconds
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

/**
 * Ends a service on SIGTERM, SIGINT and SIGHUP (its terminal is closed), and when the npm that started it ends.
 *
 * @param self `process`
 * @param startedByNpm whether npm is the parent; see isNpmStart
 * @param nowMs a clock that never goes back
 */
export function shutDownOnSignals(
  self: Pick<NodeJS.Process, 'on' | 'ppid'>,
  shutdown: Shutdown,
  { startedByNpm: isByNpm, nowMs }: { readonly startedByNpm: boolean; readonly nowMs: () => number },
): void {
  const isDuplicate = createDuplicateSignalFilter(nowMs);
  const onSignal = (signal: NodeJS.Signals) => {
    if (!isDuplicate(signal)) shutdown.request({ signal });
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) self.on(signal, onSignal);
  // If npm is killed, it cannot forward the signal. If npm ends after forwarding it, that is not a request to force the
  // stop.
  if (isByNpm) onParentExit(self, PARENT_POLL_MS, () => shutdown.ensureRequested({ cause: 'npm has ended' }));
}

/** The cause of an end, for the log. */
type ShutdownCause = Readonly<Record<string, string>>;

export interface ShutdownOptions {
  /** Closes the service; a second call forces it to stop quickly. */
  readonly close: () => Promise<void>;
  readonly log: (cause: ShutdownCause, message: string) => void;
  /** Called once, when everything is closed. */
  readonly onClosed: () => void;
}

/** The end of a service, which happens once, however often it is requested. */
export interface Shutdown {
  /** Begins to end the service, or speeds it up if it has begun. */
  request(cause: ShutdownCause): void;
  /** Begins to end the service, unless it has begun; never speeds it up. */
  ensureRequested(cause: ShutdownCause): void;
}

export function createShutdown({ close, log, onClosed }: ShutdownOptions): Shutdown {
  let hasBegun = false;
  const request = (cause: ShutdownCause) => {
    log(cause, hasBegun ? 'hurrying' : 'shutting down');
    const closed = close();
    if (hasBegun) return;
    hasBegun = true;
    void closed.then(onClosed);
  };
  return {
    request,
    ensureRequested: (cause) => {
      if (!hasBegun) request(cause);
    },
  };
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
