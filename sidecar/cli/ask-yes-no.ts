import { createInterface } from 'node:readline';
import type { CliContext } from './context.js';

/** Asks a question. Only `y` and `yes` mean yes; Ctrl+C, the end of the input and an aborted signal mean no. */
export async function askYesNo(
  { stdin, stderr }: CliContext,
  question: string,
  signal: AbortSignal,
): Promise<boolean> {
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  let isAnswered = false;
  try {
    return await new Promise((resolve) => {
      lines.once('close', () => {
        // The next output starts on a new line, even after Ctrl+C.
        if (!isAnswered) stderr.write('\n');
        resolve(false);
      });
      lines.once('SIGINT', () => lines.close());
      signal.addEventListener('abort', () => lines.close(), { once: true });
      if (signal.aborted) lines.close();
      else
        lines.question(question, (answer) => {
          isAnswered = true;
          resolve(/^\s*y(?:es)?\s*$/i.test(answer));
        });
    });
  } finally {
    lines.close();
  }
}
