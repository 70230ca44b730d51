import { h, render } from 'preact';
import { act } from 'preact/test-utils';
import { settled } from './fake-page.js';

/** A hook at work, in a component that shows nothing. */
export interface RunningHook<Input, Output> {
  /** What it returned last. */
  readonly now: Output;
  /** Gives it something else, as a parent that is shown anew would. */
  give(input: Input): Promise<void>;
  /** Does something that changes its state, and lets it follow. */
  act(work: () => unknown): Promise<void>;
  /** Takes its component away. */
  leave(): Promise<void>;
}

/** Runs a hook without a browser. Its effects have run when this resolves. */
export async function runHook<Input, Output>(
  hook: (input: Input) => Output,
  first: Input,
): Promise<RunningHook<Input, Output>> {
  const root = { nodeType: 1, firstChild: null, childNodes: [], removeChild: () => undefined };
  const parent = root as unknown as HTMLElement;
  let last: { readonly output: Output } | undefined;
  const Component = ({ input }: { readonly input: Input }) => {
    last = { output: hook(input) };
    return null;
  };
  const give = async (input: Input) => act(() => render(h(Component, { input }), parent));
  await give(first);
  return {
    get now() {
      if (last === undefined) throw new Error('The hook was not called.');
      return last.output;
    },
    give,
    act: async (work) => {
      await act(async () => {
        await work();
      });
      // It is shown anew after that, and asks for what it then needs.
      await act(settled);
    },
    leave: () => act(() => render(null, parent)),
  };
}
