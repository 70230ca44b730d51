/** The part of Node's private stream handles that is used here; Node has no public name for it. */
interface WithHandle {
  readonly _handle?: { setBlocking?(isBlocking: boolean): void };
}

/**
 * Lets the process go on while a terminal takes no output, as after Ctrl+S or in a remote session whose other end sleeps.
 * Node waits for a terminal with every write, and meanwhile answers no request and no signal.
 */
export function writeWithoutWaiting(...outputs: readonly NodeJS.WriteStream[]): void {
  for (const output of outputs) if (output.isTTY) (output as WithHandle)._handle?.setBlocking?.(false);
}
