/** For so long, in milliseconds, the same signal again counts as the one before. */
const ECHO_MS = 1000;

/**
 * Recognises a signal that merely comes twice: Ctrl+C sends SIGINT to npm and to the process that npm started, and npm
 * sends it on as well.
 *
 * @param nowMs a clock that never goes back
 * @returns true when a signal is the last one that counted, less than a second later
 */
export function createEchoFilter(nowMs: () => number): (signal: string) => boolean {
  let last: { readonly signal: string; readonly atMs: number } | undefined;
  return (signal) => {
    const atMs = nowMs();
    if (signal === last?.signal && atMs - last.atMs < ECHO_MS) return true;
    last = { signal, atMs };
    return false;
  };
}

/** Whether this process was started by `npm start` of this package, so that npm is its parent. */
export function isNpmStart(env: Readonly<Record<string, string | undefined>>): boolean {
  return env['npm_lifecycle_event'] === 'start' && env['npm_package_name'] === 'ngsi-ld-gateway';
}

/**
 * Calls `ended` once the parent process has ended. No signal says so: it looks at intervals, which costs next to nothing
 * and keeps no process alive.
 *
 * @param self `process`, whose `ppid` changes when the parent ends
 * @param everyMs the interval in milliseconds
 */
export function onParentEnd(self: { readonly ppid: number }, everyMs: number, ended: () => void): void {
  const { ppid } = self;
  const timer = setInterval(() => {
    if (self.ppid === ppid) return;
    clearInterval(timer);
    ended();
  }, everyMs);
  timer.unref();
}

const PARENT_LOOK_MS = 500;

/**
 * Ends a service by SIGTERM and SIGINT, and with the npm that started it.
 *
 * @param self `process`
 * @param isByNpm npm is its parent; see isNpmStart
 * @param nowMs a clock that never goes back
 */
export function endBySignals(
  self: Pick<NodeJS.Process, 'on' | 'ppid'>,
  ending: Ending,
  { isByNpm, nowMs }: { readonly isByNpm: boolean; readonly nowMs: () => number },
): void {
  const isEcho = createEchoFilter(nowMs);
  const onSignal = (signal: NodeJS.Signals) => {
    if (!isEcho(signal)) ending.ask({ signal });
  };
  self.on('SIGTERM', onSignal);
  self.on('SIGINT', onSignal);
  // An npm that is killed outright cannot pass the signal on; one that has passed it on asks for no hurry by its end.
  if (isByNpm) onParentEnd(self, PARENT_LOOK_MS, () => ending.ensure({ cause: 'npm has ended' }));
}

/** Causes of an end, as the log has them. */
type EndCause = Readonly<Record<string, string>>;

export interface EndingOptions {
  /** Closes the service; when it is called again, in a hurry. */
  readonly close: () => Promise<void>;
  readonly log: (cause: EndCause, words: string) => void;
  /** Called once, when all is closed. */
  readonly onClosed: () => void;
}

/** The end of a service, which comes once, however often it is asked for. */
export interface Ending {
  /** Begins, or hurries what has begun. */
  ask(cause: EndCause): void;
  /** Begins, unless it has begun: nobody asks for a hurry by that. */
  ensure(cause: EndCause): void;
}

export function createEnding({ close, log, onClosed }: EndingOptions): Ending {
  let hasBegun = false;
  const ask = (cause: EndCause) => {
    log(cause, hasBegun ? 'hurrying' : 'shutting down');
    const closed = close();
    if (hasBegun) return;
    hasBegun = true;
    void closed.then(onClosed);
  };
  return {
    ask,
    ensure: (cause) => {
      if (!hasBegun) ask(cause);
    },
  };
}

/**
 * Ends the process after a while, unless it has ended by itself: the client of a collector that does not answer would keep it
 * alive for ten seconds more.
 *
 * @param self `process`
 */
export function exitWithin(self: Pick<NodeJS.Process, 'exit'>, ms: number): void {
  setTimeout(() => self.exit(), ms).unref();
}
