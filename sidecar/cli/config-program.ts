import { Argument, type Command } from 'commander';
import { completionScript, completionsOf, SHELLS } from './completion.js';
import type { SetContextOptions } from './config-commands.js';
import { say, type CliContext } from './context.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { outputOption, type OutputOptions } from './program-options.js';

/** Adds the commands `config` and `completion`. @param end receives the exit code */
export function addConfigCommands(
  program: Command,
  context: CliContext,
  end: (code: ExitCode) => void,
): void {
  const config = program.command('config').description('choose the gateway that commands talk to');
  config
    .command('set-context')
    .argument('<name>', 'a short name, e.g. production')
    .description('add or change a context: a gateway under a short name')
    .option('--gateway <url>', 'URL of the gateway')
    .option('--token-command <command>', 'command that writes the token, e.g. "pass show gateway"')
    .action(async (name: string, options: SetContextOptions) =>
      end((await import('./config-commands.js')).setContext(name, options, context)),
    );
  config
    .command('use-context')
    .argument('<name>', 'the context')
    .description('talk to this gateway unless --gateway or NGSILD_GATEWAY_URL names another')
    .action(async (name: string) => end((await import('./config-commands.js')).useContext(name, context)));
  config
    .command('list')
    .description('list the contexts')
    .option('--json', 'JSON output, one document per line')
    .addOption(outputOption())
    .action(async (options: OutputOptions) =>
      end((await import('./config-commands.js')).listContexts(options, context)),
    );

  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .description('print the script for completion, e.g. source <(ngsi-ld-gateway completion bash)')
    .action((shell: (typeof SHELLS)[number]) => {
      say(context.stdout, completionScript(shell));
      end(EXIT.done);
    });
  program
    .command('complete', { hidden: true })
    .argument('[words...]', 'the words of the line, the last one unfinished')
    .action((words: string[]) => {
      say(context.stdout, ...completionsOf(program, words, context.env));
      end(EXIT.done);
    });
}
