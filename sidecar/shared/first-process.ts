/** What shells and Docker call the end of a process by a signal: 128, and the number of the signal. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Ends the first process of a container by SIGTERM and SIGINT while it starts: as long as nothing else listens to them. Linux
 * keeps such signals from a first process that has no listener. It would go on to start, take up work, and be killed in the
 * middle of that, when the time is over that it had to stop. Any other process ends without this.
 */
export function endWhileStarting(self: Pick<NodeJS.Process, 'pid' | 'on' | 'listenerCount' | 'exit'>): void {
  if (self.pid !== 1) return;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    self.on(signal, () => {
      if (self.listenerCount(signal) === 1) self.exit(EXIT_CODES[signal]);
    });
}
