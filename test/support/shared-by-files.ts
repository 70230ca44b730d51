/** Set by scripts/test.js where test files share a process: what is closed after the last of them. */
const closedLast = (globalThis as { closedAfterLastFile?: (() => Promise<void>)[] }).closedAfterLastFile;

/** Something that takes long to start, and serves all tests of a process. */
export interface Shared<Thing> {
  /** Starts it for the first who needs it. */
  get(): Thing;
  /** Says that a file needs it no more: closes it, unless it serves the files that follow in this process. */
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
