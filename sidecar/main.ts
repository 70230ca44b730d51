import { exitOnStartupSignals } from './shared/startup-signals.js';
import { refuseOldNode } from './shared/node-version.js';

refuseOldNode(process);
exitOnStartupSignals(process);
if (process.argv.length > 2) printUsage(process.argv.slice(2));
else void import('./serve.js');

/**
 * Answers arguments with a usage message. The program takes none, and must not start a gateway for somebody who asks for help.
 */
function printUsage(words: readonly string[]): void {
  const isHelp = words.every((word) => ['-h', '--help', 'help'].includes(word));
  const lines = [
    ...(isHelp ? [] : [`Unknown arguments: ${words.join(' ')}.`]),
    'Usage: node main.js',
    'Starts the gateway. It has no arguments; environment variables configure it, and docs/config.md lists them, such as:',
    '  BROKER_URL     the NGSI-LD broker (without it, one in memory)',
    '  HOST, PORT     where it listens (127.0.0.1, 8080)',
    '  GATEWAY_TOKEN  the secret that purges and changes need',
    'For purges and models from a terminal: node cli.js --help, or ngsi-ld-gateway --help',
  ];
  (isHelp ? process.stdout : process.stderr).write(`${lines.join('\n')}\n`);
  process.exitCode = isHelp ? 0 : 2;
}
