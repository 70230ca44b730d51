/** The exit code by which shells and Docker report a process ended by a signal: 128 plus the number of the signal. */
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Lets SIGTERM, SIGINT and SIGHUP end the first process of a container during startup, before there are other listeners. Linux
 * does not deliver such signals to a first process without a listener: it would finish starting, take up work, and be
 * killed in the middle of it when its time to stop is over. Other processes do not need this.
 */
export function exitOnStartupSignals(
  self: Pick<NodeJS.Process, 'pid' | 'on' | 'listenerCount' | 'exit'>,
): void {
  if (self.pid !== 1) return;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    self.on(signal, () => {
      if (self.listenerCount(signal) === 1) self.exit(EXIT_CODES[signal]);
    });
}
