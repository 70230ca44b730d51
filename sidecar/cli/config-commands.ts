import { Argument, type Command } from 'commander';
import { defined } from '../shared/defined.js';
import { isResourceName } from '../shared/resource-name.js';
import { completionScript, completionsOf, SHELLS } from './completion.js';
import { writeLines, type CliContext } from './context.js';
import { type DeleteOptions, isConfirmed, requireYesOrTerminal, showDeleted } from './delete-resource.js';
import { EXIT, type ExitCode, usage } from './exit-codes.js';
import { printable } from './format.js';
import { readContexts, writeContexts } from './gateway-contexts.js';
import { writeList } from './output.js';
import { outputOption, type OutputOptions } from './program-options.js';
import { urlOf } from './settings.js';

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
    .option('--token-command <command>', 'command that prints the token, e.g. "pass show gateway"')
    .action((name: string, options: SetContextOptions) => end(setContext(name, options, context)));
  config
    .command('use-context')
    .argument('<name>', 'the context')
    .description('talk to this gateway unless --gateway or NGSILD_GATEWAY_URL names another')
    .action((name: string) => end(useContext(name, context)));
  config
    .command('list')
    .description('list the contexts')
    .option('--json', 'JSON output, one document per line')
    .addOption(outputOption())
    .action((options: OutputOptions) => end(listContexts(options, context)));
  config
    .command('delete-context')
    .argument('<name>', 'the context')
    .description('delete a context; the gateway stays as it is')
    .option('-y, --yes', 'do not ask')
    .option('--json', 'JSON output')
    .action(async (name: string, options: DeleteOptions) => end(await deleteContext(name, options, context)));

  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .description('print the script for completion, e.g. source <(ngsi-ld-gateway completion bash)')
    .action((shell: (typeof SHELLS)[number]) => {
      writeLines(context.stdout, completionScript(shell));
      end(EXIT.done);
    });
  program
    .command('complete', { hidden: true })
    .argument('[words...]', 'the words of the line, the last one unfinished')
    .action((words: string[]) => {
      writeLines(context.stdout, ...completionsOf(program, words, context.env));
      end(EXIT.done);
    });
}

interface SetContextOptions {
  readonly gateway?: string;
  readonly tokenCommand?: string;
}

/** Adds or changes a context. The first context becomes the current one. */
function setContext(
  name: string,
  { gateway, tokenCommand }: SetContextOptions,
  { env, stdout }: CliContext,
): ExitCode {
  // Completion scripts insert these names without quoting them.
  if (!isResourceName(name))
    throw usage(
      `The name of a context must begin with a letter or digit, followed by letters, digits, _ . -: ${printable(name)}`,
    );
  const { current = name, contexts } = readContexts(env);
  const url = gateway === undefined ? contexts[name]?.gateway : urlOf(gateway, '--gateway').href;
  if (url === undefined)
    throw usage(`There is no context ${printable(name)}: add --gateway URL to create it.`);
  const command = tokenCommand ?? contexts[name]?.tokenCommand;
  const context = { gateway: url, ...(command ? { tokenCommand: command } : {}) };
  writeContexts({ current, contexts: { ...contexts, [name]: context } }, env);
  writeLines(stdout, `Context ${printable(name)}: ${url}${current === name ? ' (current)' : ''}`);
  return EXIT.done;
}

/** Makes a context the current one. @throws CliError if there is no such context */
function useContext(name: string, { env, stdout, stderr }: CliContext): ExitCode {
  const { contexts, context } = contextNamed(name, env);
  writeContexts({ current: name, contexts }, env);
  writeLines(stdout, `Commands now use ${context.gateway}, unless --gateway names another gateway.`);
  writeLines(stderr, ...overriding(env));
  return EXIT.done;
}

/** Deletes a context; no context is current any more if it was. @throws CliError if there is no such context */
async function deleteContext(name: string, options: DeleteOptions, context: CliContext): Promise<ExitCode> {
  requireYesOrTerminal(options, context);
  const { gateway } = contextNamed(name, context.env).context;
  if (!(await isConfirmed(`the context ${printable(name)}: ${gateway}`, options, context)))
    return EXIT.interrupted;
  // The question may have waited for long.
  const { current, contexts } = contextNamed(name, context.env);
  const { [name]: _deleted, ...others } = contexts;
  const isCurrent = current === name;
  writeContexts({ ...defined({ current: isCurrent ? undefined : current }), contexts: others }, context.env);
  if (isCurrent)
    writeLines(
      context.stderr,
      'No context is current now: choose one with config use-context, or use --gateway.',
    );
  return showDeleted(name, { name, gateway }, options, context);
}

/** @throws CliError if there is no such context */
function contextNamed(name: string, env: CliContext['env']) {
  const { current, contexts } = readContexts(env);
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (context !== undefined) return { current, contexts, context };
  const names = Object.keys(contexts).map(printable).join(', ');
  throw usage(`There is no context ${printable(name)}.${names === '' ? '' : ` Available: ${names}.`}`);
}

/** Says that commands do not use the current context. */
function overriding(env: CliContext['env']): readonly string[] {
  return env['NGSILD_GATEWAY_URL']
    ? ['Warning: NGSILD_GATEWAY_URL is set, so commands use that gateway.']
    : [];
}

/** Lists the contexts. Token commands are not shown, because they may contain a token. */
function listContexts(options: OutputOptions, context: CliContext): ExitCode {
  const { current, contexts } = readContexts(context.env);
  const records = Object.entries(contexts).map(([name, { gateway, tokenCommand }]) => ({
    name,
    gateway,
    isCurrent: name === current,
    token: tokenCommand === undefined ? 'none' : 'by command',
  }));
  const table = {
    head: ['', 'NAME', 'GATEWAY', 'TOKEN'],
    row: ({ name, gateway, isCurrent, token }: (typeof records)[number]) => [
      isCurrent ? '*' : '',
      printable(name),
      gateway,
      token,
    ],
    none: 'No contexts yet. To create one, run: ngsi-ld-gateway config set-context NAME --gateway URL',
  };
  writeList(records, options, table, context);
  writeLines(context.stderr, ...overriding(context.env));
  return EXIT.done;
}
