import { Command, CommanderError, Option } from 'commander';
import { UnreachableError } from '../client/errors.js';
import { GatewayError } from '../shared/errors.js';
import { optionsIn, purgeOption } from '../shared/purge-options.js';
import { isInteractive, writeLines, type CliContext } from './context.js';
import { CliError, EXIT, type ExitCode, usage } from './exit-codes.js';
import type { CopyOptions } from './database-commands.js';
import type { InferOptions } from './file-commands.js';
import { printable } from './format.js';
import { gatewayFailure } from './gateway-responses.js';
import { withOptionsBehindCommand } from './leading-options.js';
import { addModelsCommands } from './models-program.js';
import { addConfigCommands } from './config-commands.js';
import {
  parseNonNegativeInteger,
  gatewayActions,
  gatewayOptions,
  gatewayOption,
  withListOptions,
  withGatewayOptions,
  parsePositiveInteger,
} from './program-options.js';
import type { PurgeOptions } from './purge-command.js';
import type { PurgeBackend } from './purge-backend.js';
import type { ScanOptions } from './scan-command.js';
import {
  authorizationOf,
  brokerOf,
  requireGateway,
  engineConfig,
  gatewayOf,
  type ConnectionOptions,
} from './settings.js';
import type { ValidateOptions } from './validate-command.js';

/**
 * Runs one command.
 *
 * @param words the arguments, without node and the script
 * @returns the exit code; undefined if a gateway keeps running in this process
 */
export async function runCli(
  words: readonly string[],
  version: string,
  context: CliContext,
): Promise<ExitCode | undefined> {
  let exitCode: ExitCode | undefined = EXIT.done;
  const program = createProgram(version, context, (code) => (exitCode = code));
  // Commander's own help takes one name only: it would show the help of purges for "help purges show".
  const asked = words[0] === 'help' ? [...words.slice(1), '--help'] : words;
  try {
    await program.parseAsync(withOptionsBehindCommand(program, asked), { from: 'user' });
    return exitCode;
  } catch (caught) {
    // Commander has already written its error message, or the help that was asked for.
    if (caught instanceof CommanderError) return caught.exitCode === 0 ? EXIT.done : EXIT.usage;
    const error = gatewayFailure(caught, ...proxyHints(caught, context));
    const message = error instanceof GatewayError ? error.message : `Unexpected error: ${String(error)}`;
    // A broker or a gateway may have written a part of it, colours included.
    writeLines(context.stderr, ...message.split('\n').map(printable));
    return error instanceof CliError ? error.exitCode : EXIT.failed;
  }
}

/** Says that a proxy may be what cannot be reached, since the error names only the gateway. */
function proxyHints(error: unknown, { env }: CliContext): readonly string[] {
  const cause = error instanceof CliError ? error.cause : error;
  return cause instanceof UnreachableError && env['NODE_USE_ENV_PROXY'] === '1'
    ? [
        'NODE_USE_ENV_PROXY is set: the proxy of HTTP_PROXY or HTTPS_PROXY may be at fault. NO_PROXY names hosts without one.',
      ]
    : [];
}

const EXAMPLES = `
Examples:
  ngsi-ld-gateway serve
  ngsi-ld-gateway purge --broker http://localhost:1026 'type=Vehicle&q=speed<600' --dry-run
  ngsi-ld-gateway purge --gateway http://localhost:8080 type=Sensor --older-than 90d
  ngsi-ld-gateway purges list --state running
  ngsi-ld-gateway models import ./dataModel.Transportation --dry-run
  ngsi-ld-gateway validate bike.jsonld --schema ./dataModel.City/Bike

Environment:
  NGSILD_GATEWAY_URL     URL of the gateway, if there is no --gateway; without both, that of the current context (config)
  NGSILD_GATEWAY_TOKEN   token of the gateway (X-Gateway-Token), or an access token as "Bearer …"
  NGSILD_AUTHORIZATION   Authorization header for the broker, directly or through the gateway
  NODE_EXTRA_CA_CERTS    file with the certificate of your own authority
  NODE_USE_ENV_PROXY     1: reach the gateway through HTTP_PROXY or HTTPS_PROXY
  NO_COLOR               no colors
  DATABASE_URL, DATABASE_PATH
                         database for migrate, copy and backup; serve reads all settings in docs/config.md

Exit codes: 0 done, 1 failed, 2 wrong usage or query, 3 partial or invalid, 4 refused by gateway or broker, 130 interrupted.
`;

const VALIDATE_EXAMPLES = `
Examples:
  ngsi-ld-gateway validate bike.jsonld --schema ./dataModel.City/Bike
  ngsi-ld-gateway validate *.jsonld --schema ./dataModel.City --schema ./data-models
  ngsi-ld-gateway validate bike.jsonld --model City/Bike --gateway http://localhost:8080
`;

/** Each command loads the modules that it needs, because loading the engine takes longer than most commands. */
function createProgram(
  version: string,
  context: CliContext,
  end: (code: ExitCode | undefined) => void,
): Command {
  const { env } = context;
  const program = new Command('ngsi-ld-gateway')
    .description(
      'Purges entities of NGSI-LD brokers by query, directly or through a gateway, and runs the gateway itself.',
    )
    .version(version)
    .exitOverride()
    // Without this, --version after a command would print the version of this program instead of being refused.
    .enablePositionalOptions()
    .showHelpAfterError('(add --help for more)')
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(text),
    })
    .addHelpText('after', EXAMPLES);

  program
    .command('serve')
    .description('run a gateway, configured by environment variables')
    .action(async () => {
      await context.serve();
      end(undefined);
    });

  const purge = program
    .command('purge')
    .argument('<query...>', 'what to delete, e.g. type=Vehicle&q=speed<600 (%XX counts as percent-encoded)')
    .description(
      'delete everything that matches a query: shows the count and a sample, asks, and follows the purge to its end',
    )
    .option('--temporal', 'purge the history instead of the current entities')
    .option('--tenant <name>', 'NGSILD-Tenant')
    .option('--link <url>', 'the @context of the names in the query')
    .option('--older-than <time>', 'only data older than this: 90d, 12h, 30min, 2w, 6mo, 1y, P90D')
    .option('--by <time>', 'how age is measured: modifiedAt, createdAt, ATTRIBUTE or ATTRIBUTE.observedAt');
  for (const name of optionsIn('query')) {
    const { flag, help, type } = purgeOption(name);
    if (flag === undefined) continue;
    const option = new Option(flag, help);
    if (type === 'count') option.argParser(parsePositiveInteger);
    else if (type !== 'flag') option.choices(type);
    purge.addOption(option);
  }
  purge
    .option('-y, --yes', 'do not ask')
    .option('--detach', 'start it on the gateway and do not wait')
    .option('--json', 'JSON output, one document per line, the final record last')
    .addOption(gatewayOption())
    .option('--broker <url>', 'purge directly at this broker, without a gateway')
    .action(async (query: string[], options: PurgeOptions & ConnectionOptions) => {
      const { purgeCommand } = await import('./purge-command.js');
      const backend = await backendOf(options, context);
      try {
        end(await purgeCommand(query, options, backend, context));
      } finally {
        await backend.close();
      }
    });

  program
    .command('scan')
    .argument('<query...>', 'the entities to check, e.g. type=Vehicle')
    .description(
      'check the entities of a broker against their models, and show what is wrong; exits with 3 if any are invalid',
    )
    .option('--tenant <name>', 'NGSILD-Tenant')
    .option('--link <url>', 'the @context of the names in the query')
    .option('--domain <name>', 'the domain in which to look for the models')
    .option('--model <model>', 'DOMAIN/MODEL or DOMAIN/MODEL@VERSION, for all entities')
    .option('--schema <path>', 'file with a JSON Schema to check against')
    .option('--sample <n>', 'check at most this many entities', parsePositiveInteger)
    .option('--rate <n>', 'maximum entities per second', parsePositiveInteger)
    .option('--max-invalid <n>', 'number of invalid entities to accept', parseNonNegativeInteger)
    .option('--json', 'JSON output, one record per line, the final one last')
    .addOption(gatewayOption())
    .option('--broker <url>', 'scan directly at this broker, without a gateway; needs --schema')
    .action(async (query: string[], options: ScanOptions & ConnectionOptions) => {
      const { createGatewayScanBackend, scanCommand } = await import('./scan-command.js');
      const brokerUrl = brokerOf(options);
      const backend =
        brokerUrl === undefined
          ? createGatewayScanBackend(requireGateway(options, env), context)
          : (await import('./broker-scan-backend.js')).createBrokerScanBackend(
              brokerUrl,
              engineConfig(env, brokerUrl),
              authorizationOf(env),
              context,
            );
      end(await scanCommand(query, options, backend, context));
    });

  const atGateway = gatewayActions(context, end);
  const purges = program.command('purges').description('manage the purges of a gateway');
  atGateway(
    withListOptions(purges.command('list'))
      .description('list purges, newest first, without dry runs')
      .option('--state <state>', 'queued, running, succeeded, failed …')
      .option('--tenant <name>', 'only purges of this tenant')
      .option('--caller <name>', 'only purges of this caller')
      .option('--policy <name>', 'only runs of this retention policy')
      .option('--since <time>', 'created at this time or later, such as 2026-11-28 or 2026-11-28T09:00:00Z')
      .option('--until <time>', 'created before this time')
      .option('--query <text>', 'only purges whose query contains this text')
      .option('--type <name>', 'only purges of this entity type')
      .option('--dry-run', 'only dry runs')
      .option('--all', 'include dry runs')
      .option('--limit <n>', 'how many (default: 100)', parsePositiveInteger)
      .option('--offset <n>', 'how many to skip', parseNonNegativeInteger),
    async () => (await import('./purges-commands.js')).listPurges,
  );
  const onePurge = (name: string, description: string, to = withGatewayOptions) =>
    to(purges.command(name)).argument('<id>', 'ID of the purge, or its beginning').description(description);
  atGateway(
    onePurge('show', 'show the record of a purge', withListOptions),
    async () => (await import('./purges-commands.js')).showPurge,
  );
  atGateway(
    onePurge('follow', 'follow a purge to its end; Ctrl+C does not stop the purge'),
    async () => (await import('./purges-commands.js')).followPurgeCommand,
  );
  atGateway(
    onePurge('cancel', 'cancel a purge and show what it did; exits with 1 if it had already ended'),
    async () => (await import('./purges-commands.js')).cancelPurgeCommand,
  );
  atGateway(
    onePurge('restore', 'restore what a purge archived; existing data is never overwritten')
      .option('--id <urn...>', 'only these entities')
      .option('--dry-run', 'compare with existing data, create nothing')
      .option('--rate <n>', 'maximum items per second', parsePositiveInteger)
      .option('--detach', 'do not wait for the restore to end'),
    async () => (await import('./undo-commands.js')).restorePurge,
  );
  atGateway(
    onePurge(
      'archive',
      'write what a purge archived to standard output, as NDJSON compressed with gzip',
      (command) => command.addOption(gatewayOption()),
    ),
    async () => (await import('./undo-commands.js')).readArchive,
  );
  atGateway(
    onePurge('throttle', 'change how fast a purge may delete')
      .argument('<rate>', 'deletes per second, or off')
      .option('--concurrency <n>', 'concurrent delete requests', parsePositiveInteger),
    async () => (await import('./purges-commands.js')).throttlePurgeCommand,
  );

  const retention = program
    .command('retention')
    .description('manage the retention policies of a gateway, which purge old data on a schedule');
  atGateway(
    withListOptions(retention.command('list')).description('list the policies'),
    async () => (await import('./retention-commands.js')).listPolicies,
  );
  atGateway(applyCommand(retention), async () => (await import('./retention-commands.js')).applyPolicies);
  atGateway(
    withListOptions(retention.command('preview'))
      .argument('<name>', 'name of the policy')
      .description('count what a policy matches now, without deleting anything'),
    async () => (await import('./retention-commands.js')).previewPolicy,
  );
  atGateway(
    withGatewayOptions(retention.command('run'))
      .argument('<name>', 'name of the policy')
      .description('run a policy now, in its own mode, and follow it; Ctrl+C does not stop the run'),
    async () => (await import('./retention-commands.js')).runPolicy,
  );
  atGateway(
    deleteCommand(retention, 'delete a policy; a run in progress continues, and the records of runs stay'),
    async () => (await import('./retention-commands.js')).deletePolicy,
  );

  const writes = program
    .command('write-policies')
    .description(
      'manage which writes of entities a gateway checks, and whether it reports or refuses those that violate their models',
    );
  atGateway(
    withListOptions(writes.command('list')).description('list the policies'),
    async () => (await import('./write-policy-commands.js')).listWritePolicies,
  );
  atGateway(
    applyCommand(writes),
    async () => (await import('./write-policy-commands.js')).applyWritePolicies,
  );
  atGateway(
    withListOptions(writes.command('show'))
      .argument('<name>', 'name of the policy')
      .description('show a policy, and what its checks have found since the gateway started'),
    async () => (await import('./write-policy-commands.js')).showWritePolicy,
  );
  atGateway(
    deleteCommand(writes, 'delete a policy; the next one that fits then decides'),
    async () => (await import('./write-policy-commands.js')).deleteWritePolicy,
  );

  addModelsCommands(program, context, end);

  withGatewayOptions(program.command('validate'))
    .argument('<files...>', 'files with an entity or an array of entities; - for standard input')
    .description('check entities against a model, locally or on a gateway; exits with 3 if one is invalid')
    .option(
      '--schema <path>',
      'check locally: the schema.json of a model or its folder, or a folder of models, where each ' +
        'entity is checked by the model of its type; repeat it for folders with shared documents',
      (path: string, all: readonly string[] | undefined) => [...(all ?? []), path],
    )
    .option(
      '--model <model>',
      'DOMAIN/MODEL of a gateway or a model of the folder (default: by the types of the entities)',
    )
    .addOption(
      new Option('--form <form>', 'representation of the entities (default: detected)').choices([
        'normalized',
        'concise',
        'keyvalues',
        'ngsiv2',
        'geojson',
      ]),
    )
    .addHelpText('after', VALIDATE_EXAMPLES)
    .action(async (files: string[], { gateway, ...options }: ValidateOptions & ConnectionOptions) => {
      if (gateway !== undefined && options.schema !== undefined)
        throw usage('Use either --schema or --gateway.');
      const { validateFiles } = await import('./validate-command.js');
      const by = options.schema === undefined ? gatewayOf(gatewayOptions(gateway), env) : undefined;
      end(await validateFiles(files, options, by, context));
    });

  for (const how of ['expand', 'compact'] as const)
    atGateway(
      withGatewayOptions(program.command(how))
        .argument('<file>', 'JSON-LD document; - for standard input')
        .description(
          `JSON-LD ${how === 'expand' ? 'expansion' : 'compaction'} with the contexts of a gateway`,
        )
        .option('--context <file or url>', 'the @context')
        .option('--safe', 'fail if data would be dropped'),
      async () => (await import('./file-commands.js'))[how],
    );

  withGatewayOptions(program.command('infer'))
    .argument('<file>', 'file with a sample or an array of samples; - for standard input')
    .description('infer a JSON Schema from samples, locally unless there is a gateway')
    .option('--model <name>', 'name of the model')
    .addOption(
      new Option('--form <form>', 'representation of the samples')
        .choices(['keyvalues', 'ngsi-ld', 'ngsiv2', 'geojson'])
        .default('keyvalues'),
    )
    .option('--enums', 'turn a few distinct strings into an enumeration')
    .action(async (file: string, options: InferOptions & ConnectionOptions) => {
      const { inferSchema } = await import('./file-commands.js');
      end(await inferSchema(file, options, gatewayOf(options, env), context));
    });

  program
    .command('backup')
    .argument('<target>', 'file to write; it must not exist')
    .description('back up the database of a gateway, which may be running')
    .option('--database <path>', 'the database (default: DATABASE_PATH, or ./data/schema.db)')
    .action(async (target: string, { database }: { database?: string }) => {
      const { backUpCommand } = await import('./database-commands.js');
      end(await backUpCommand(target, database, context));
    });
  program
    .command('migrate')
    .description('migrate the database to the format of this version; a gateway does this when it starts')
    .option('--database <path or url>', 'the database (default: DATABASE_URL, or DATABASE_PATH)')
    .action(async ({ database }: { database?: string }) => {
      const { migrateCommand } = await import('./database-commands.js');
      end(await migrateCommand(database, context));
    });
  program
    .command('copy')
    .description(
      'copy everything from SQLite to PostgreSQL and verify counts and hashes; stop the gateway first',
    )
    .option('--from <sqlite:path>', 'the SQLite file (default: DATABASE_PATH)')
    .option(
      '--to <url>',
      'the PostgreSQL database (default: DATABASE_URL, which keeps the password out of sight)',
    )
    .option('--json', 'as JSON')
    .action(async (options: CopyOptions) => {
      const { copyCommand } = await import('./database-commands.js');
      end(await copyCommand(options, context));
    });
  addConfigCommands(program, context, end);
  return program;
}

/** Adds the command `apply` for a file of policies. @param of the parent command */
function applyCommand(of: Command): Command {
  return withGatewayOptions(of.command('apply'))
    .argument('<file>', 'JSON or YAML file with a policy or a list of policies; - for standard input')
    .description('create policies, or replace those with the same names; shows what changes, and asks')
    .option('--dry-run', 'show what would change, without applying anything')
    .option('-y, --yes', 'do not ask');
}

/** Adds the command `delete` for a policy. @param of the parent command */
function deleteCommand(of: Command, description: string): Command {
  return withGatewayOptions(of.command('delete'))
    .argument('<name>', 'name of the policy')
    .description(description)
    .option('-y, --yes', 'do not ask');
}

async function backendOf(
  options: PurgeOptions & ConnectionOptions,
  context: CliContext,
): Promise<PurgeBackend> {
  const { env, clock, stderr } = context;
  context.gatewayOption = options.gateway;
  const brokerUrl = brokerOf(options);
  if (brokerUrl === undefined) {
    const gateway = gatewayOf(options, env);
    if (gateway === undefined)
      throw usage('Name a gateway or a broker: --gateway URL, --broker URL or NGSILD_GATEWAY_URL.');
    // A gateway that was set earlier may not be the one that the user has in mind.
    if (options.gateway === undefined && isInteractive(context))
      writeLines(stderr, `Gateway: ${gateway.url}`);
    return (await import('./gateway-backend.js')).createGatewayBackend(gateway, context);
  }
  // A purge without an archive would be one that the user did not ask for.
  if (options.archive !== undefined && options.archive !== 'none')
    throw usage('--archive needs a gateway that keeps archives: it needs --gateway.');
  const config = engineConfig(env, brokerUrl);
  const { createBrokerBackend } = await import('./broker-backend.js');
  return createBrokerBackend({
    brokerUrl,
    config,
    authorization: authorizationOf(env),
    clock,
    random: Math.random,
  });
}
