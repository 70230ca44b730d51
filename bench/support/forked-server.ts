import { fork } from 'node:child_process';
import { once } from 'node:events';

/** An HTTP server in a separate process. */
export interface ForkedServer {
  readonly url: string;
  readonly pid: number;
  close(): void;
}

/**
 * Runs a script of this folder that starts a server after a message, and answers with its URL.
 *
 * @param script file name; plain JavaScript, so that no loader affects the measurements
 * @param message sent to the script
 * @throws Error if its process ends before it serves
 */
export async function forkServer(script: string, message: string): Promise<ForkedServer> {
  const child = fork(new URL(script, import.meta.url), { execArgv: [] });
  const answered = once(child, 'message') as Promise<[{ url: string }]>;
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${script} ended with code ${String(code)}.`);
  });
  ended.catch(() => {});
  child.send(message);
  const [{ url }] = await Promise.race([answered, ended]);
  return { url, pid: child.pid ?? 0, close: () => child.disconnect() };
}
