import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A bare Fastify server in a separate process (bare-fastify.js). */
export interface BareFastify {
  readonly url: string;
  close(): void;
}

/** Starts the server. @param document the answer to GET /document */
export async function startBareFastify(document: {
  readonly text: string;
  readonly mediaType: string;
}): Promise<BareFastify> {
  const child = fork(new URL('./bare-fastify.js', import.meta.url));
  const answered = once(child, 'message') as Promise<[{ url: string }]>;
  child.send(document);
  const [{ url }] = await answered;
  return { url, close: () => child.disconnect() };
}
