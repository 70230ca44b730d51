import { runCli } from './program.js';
import { systemClock } from '../shared/clock.js';
import { exitOnStartupSignals } from '../shared/startup-signals.js';
import { writeWithoutWaiting } from '../shared/terminal-output.js';
import { VERSION } from '../shared/version.js';

function onInterrupt(handler: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, handler);
  return () => {
    for (const signal of signals) process.off(signal, handler);
  };
}

writeWithoutWaiting(process.stdout, process.stderr);

// A reader that stops early, such as `head`, is not a failure. The command continues in any case, because it may be deleting.
let writeError: NodeJS.ErrnoException | undefined;
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') writeError ??= error;
  });
}

const exitCode = await runCli(process.argv.slice(2), VERSION, {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  clock: systemClock,
  onInterrupt,
  exit: (code) => process.exit(code),
  openModels: async () => (await import('../schemas/open-schemas.js')).openSchemasInMemory(systemClock),
  serve: async () => {
    exitOnStartupSignals(process);
    await import('../serve.js');
  },
});
if (exitCode !== undefined) process.exitCode = exitCode;
process.on('exit', () => {
  if (writeError === undefined) return;
  process.stderr.write(`The output could not be written: ${writeError.message}.\n`);
  process.exitCode ||= 1;
});
