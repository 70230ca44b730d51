import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { BrokerShape, ShapedAnswer, ShapedCommand } from './shaped-protocol.js';

/** A broker of a given shape, in a separate process. */
export interface ShapedBroker {
  readonly url: string;
  seed(ids: readonly string[]): Promise<void>;
  state(): Promise<{ readonly left: number; readonly requests: number }>;
  close(): void;
}

export async function startShapedBroker(shape: BrokerShape): Promise<ShapedBroker> {
  const child = fork(new URL('./shaped-broker.js', import.meta.url));

  /** One command at a time: answers carry no number. */
  async function tell(command: ShapedCommand): Promise<ShapedAnswer> {
    const answered = once(child, 'message') as Promise<[ShapedAnswer]>;
    child.send(command);
    return (await answered)[0];
  }

  async function state(command: ShapedCommand) {
    const answer = await tell(command);
    if (!('left' in answer)) throw new Error('The shaped broker gave no state.');
    return answer;
  }

  const started = await tell({ do: 'start', shape });
  if (!('url' in started)) throw new Error('The shaped broker did not start.');
  return {
    url: started.url,
    seed: async (ids) => {
      await state({ do: 'seed', ids });
    },
    state: () => state({ do: 'state' }),
    close: () => child.disconnect(),
  };
}
