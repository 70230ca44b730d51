/**
 * Set by scripts/test-process.js if test files share a process: what has to be closed after the last file.
 */
const closedLast = (globalThis as { closedAfterLastFile?: (() => Promise<void>)[] }).closedAfterLastFile;

/** Something that is slow to start and is shared by all tests of a process. */
export interface Shared<Thing> {
  /** Returns the thing, and starts it on first use. */
  get(): Thing;
  /**
   * Called when a file no longer needs the thing: closes it, unless following files in this process
   * use it.
   */
  release(): Promise<void>;
}

export function shared<Thing extends { close(): Promise<void> }>(start: () => Thing): Shared<Thing> {
  let thing: Thing | undefined;
  const close = async () => {
    const ended = thing;
    thing = undefined;
    await ended?.close();
  };
  return {
    get: () => {
      if (thing === undefined) closedLast?.push(close);
      return (thing ??= start());
    },
    release: async () => {
      if (closedLast === undefined) await close();
    },
  };
}
