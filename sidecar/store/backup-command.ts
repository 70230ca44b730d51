import { GatewayError } from '../shared/errors.js';
import { backUp } from './backup.js';

/** Exit codes distinguish a wrong call from a failed backup. */
const EXIT_USAGE = 2;
const EXIT_FAILED = 1;

async function main(args: readonly string[]): Promise<void> {
  const [path, target] = args;
  if (path === undefined || target === undefined || args.length > 2) {
    process.stderr.write('Usage: backup-command.js DATABASE TARGET\n');
    process.exitCode = EXIT_USAGE;
    return;
  }
  try {
    await backUp(path, target);
    process.stdout.write(`${path} is backed up to ${target}.\n`);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = EXIT_FAILED;
  }
}

await main(process.argv.slice(2));
