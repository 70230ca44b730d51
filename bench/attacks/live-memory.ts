import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'undici';

/** The memory that a process still needs after a garbage collection: its heap and external memory. */
export interface LiveMemory {
  /** In bytes. */
  read(): Promise<number>;
  close(): void;
}

const ATTEMPTS = 100;
const ATTEMPT_MS = 50;

/** Returns Node options for a process whose memory will be read, and the port that they set. */
export async function inspectable(): Promise<{
  readonly port: number;
  readonly nodeOptions: readonly string[];
}> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return { port, nodeOptions: [`--inspect-port=127.0.0.1:${port}`, '--inspect-publish-uid=http'] };
}

/**
 * Connects to the inspector of a process.
 *
 * @throws Error if it does not answer
 */
export async function connectMemory(pid: number, port: number): Promise<LiveMemory> {
  process.kill(pid, 'SIGUSR1');
  const socket = new WebSocket(await debuggerUrl(port));
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', () => reject(new Error('The inspector does not answer.')), {
      once: true,
    });
  });
  let id = 0;
  async function call(method: string, params: object = {}): Promise<unknown> {
    const mine = (id += 1);
    return new Promise((resolve, reject) => {
      const onMessage = ({ data }: { readonly data: unknown }) => {
        const answer = JSON.parse(String(data)) as { readonly id?: number; readonly result?: unknown };
        if (answer.id !== mine) return;
        socket.removeEventListener('message', onMessage);
        resolve(answer.result);
      };
      socket.addEventListener('message', onMessage);
      socket.addEventListener('close', () => reject(new Error('The inspector is gone.')), { once: true });
      socket.send(JSON.stringify({ id: mine, method, params }));
    });
  }
  return {
    read: async () => {
      // What the first collection releases, e.g. through finalizers, is collected by the next.
      for (let round = 0; round < 3; round += 1) await call('HeapProfiler.collectGarbage');
      const expression = '(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())';
      const answer = (await call('Runtime.evaluate', { expression })) as {
        readonly result: { readonly value: number };
      };
      return answer.result.value;
    },
    close: () => socket.close(),
  };
}

async function debuggerUrl(port: number): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/json/list`);
      const [target] = (await answer.json()) as readonly { readonly webSocketDebuggerUrl: string }[];
      if (target !== undefined) return target.webSocketDebuggerUrl;
    } catch (error) {
      if (attempt >= ATTEMPTS) throw error;
    }
    await sleep(ATTEMPT_MS);
  }
}
