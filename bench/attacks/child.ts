import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A process that answers one command at a time. */
export interface Child<Command> {
  readonly pid: number;
  /** @throws Error when the process ends before it answers */
  send<Answer>(command: Command): Promise<Answer>;
  close(): void;
}

/** Runs a script of this folder. Scripts are plain JavaScript, so that no loader is involved. */
export function startChild<Command extends object>(script: string): Child<Command> {
  const child = fork(new URL(script, import.meta.url), { execArgv: [] });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${script} ended with code ${String(code)}.`);
  });
  ended.catch(() => {});
  return {
    pid: child.pid ?? 0,
    send: async <Answer>(command: Command) => {
      const answered = once(child, 'message') as Promise<[Answer]>;
      child.send(command);
      return (await Promise.race([answered, ended]))[0];
    },
    close: () => {
      if (child.connected) child.disconnect();
    },
  };
}
