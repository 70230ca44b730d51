import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { GatewayError } from '../shared/errors.js';
import { optionsIn, purgeOption } from '../shared/purge-options.js';
import { say, type CliContext } from './context.js';
import { CliError, EXIT, type ExitCode } from './exit-codes.js';
import type { CopyOptions } from './database-commands.js';
import type { JsonLdOptions, InferOptions } from './file-commands.js';
import { gatewayFailure } from './gateway-answers.js';
import { addModelsCommands } from './models-program.js';
import { gatewayNamed, gatewayOption, onGateway } from './program-options.js';
import type { PurgeOptions } from './purge-command.js';
import type { PurgePlace } from './purge-place.js';
import type { ListOptions } from './purges-commands.js';
import {
  authorizationOf,
  brokerOf,
  demandGateway,
  engineConfig,
  gatewayOf,
  type PlaceOptions,
} from './settings.js';
import type { ValidateOptions } from './validate-command.js';

interface JsonOption {
  readonly json?: boolean;
}

/**
 * Runs one command.
 *
 * @param words the arguments, without node and the program
 * @param version of this program
 * @returns what the process is to end with; undefined where a gateway runs in it from now on
 */
export async function runCli(
  words: readonly string[],
  version: string,
  context: CliContext,
): Promise<ExitCode | undefined> {
  let exitCode: ExitCode | undefined = EXIT.done;
  const program = createProgram(version, context, (code) => (exitCode = code));
  try {
    await program.parseAsync(words, { from: 'user' });
    return exitCode;
  } catch (caught) {
    // Of commander itself: its sentence was written, or the help that was asked for.
    if (caught instanceof CommanderError) return caught.exitCode === 0 ? EXIT.done : EXIT.usage;
    const error = gatewayFailure(caught);
    say(context.stderr, error instanceof GatewayError ? error.message : `Unexpected: ${String(error)}`);
    return error instanceof CliError ? error.exitCode : EXIT.failed;
  }
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
  NGSILD_GATEWAY_URL     the gateway, in place of --gateway
  NGSILD_GATEWAY_TOKEN   its token (X-Gateway-Token)
  NGSILD_AUTHORIZATION   Authorization for the broker, straight or through the gateway
  DATABASE_URL, DATABASE_PATH
                         the database, for migrate, copy and backup; serve takes all settings of docs/config.md

Exit codes: 0 done, 1 failed, 2 wrong call or query, 3 partial or not valid, 4 refused by gateway or broker, 130 interrupted.
`;

const VALIDATE_EXAMPLES = `
Examples:
  ngsi-ld-gateway validate bike.jsonld --schema ./dataModel.City/Bike
  ngsi-ld-gateway validate *.jsonld --schema ./dataModel.City --schema ./data-models
  ngsi-ld-gateway validate bike.jsonld --model City/Bike --gateway http://localhost:8080
`;

/** Modules are loaded by the command that needs them: the engine takes longer than most commands. */
function createProgram(
  version: string,
  context: CliContext,
  end: (code: ExitCode | undefined) => void,
): Command {
  const { env } = context;
  const program = new Command('ngsi-ld-gateway')
    .description(
      'Purges entities of NGSI-LD brokers by query, at a broker or through a gateway, and serves the gateway.',
    )
    .version(version)
    .exitOverride()
    .showHelpAfterError('(add --help for more)')
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(text),
    })
    .addHelpText('after', EXAMPLES);

  program
    .command('serve')
    .description('run a gateway, configured by the environment')
    .action(async () => {
      await context.serve();
      end(undefined);
    });

  const purge = program
    .command('purge')
    .argument(
      '<query...>',
      'what to delete, as people write it: type=Vehicle&q=speed<600 (%XX is taken as encoded)',
    )
    .description('delete every match of a query: shows count and sample, asks, and follows it to its end')
    .option('--temporal', 'purge the history instead of the current entities')
    .option('--tenant <name>', 'NGSILD-Tenant')
    .option('--link <url>', 'the @context of the names in the query')
    .option('--older-than <time>', 'only what is older: 90d, 12h, 30min, 2w, 6mo, 1y, P90D')
    .option('--by <time>', 'older by what: modifiedAt, createdAt, ATTRIBUTE or ATTRIBUTE.observedAt');
  for (const name of optionsIn('query')) {
    const { flag, help, type } = purgeOption(name);
    if (flag === undefined) continue;
    const option = new Option(flag, help);
    if (type === 'count') option.argParser(wholeNumber);
    else if (type !== 'flag') option.choices(type);
    purge.addOption(option);
  }
  purge
    .option('-y, --yes', 'do not ask')
    .option('--detach', 'leave it to the gateway, and do not wait')
    .option('--json', 'one JSON document a line, the final record last')
    .addOption(gatewayOption())
    .option('--broker <url>', 'purge straight at this broker, without a gateway')
    .action(async (query: string[], options: PurgeOptions & PlaceOptions) => {
      const { purgeCommand } = await import('./purge-command.js');
      const place = await placeOf(options, context);
      try {
        end(await purgeCommand(query, options, place, context));
      } finally {
        await place.close();
      }
    });

  const purges = program.command('purges').description('the purges of a gateway');
  onGateway(purges.command('list'))
    .description('list them, newest first')
    .option('--state <state>', 'queued, running, succeeded, failed …')
    .option('--tenant <name>', 'of one tenant')
    .option('--caller <name>', 'of one caller')
    .option('--dry-run', 'dry runs alone')
    .option('--no-dry-run', 'no dry runs')
    .option('--limit <n>', 'how many', wholeNumber)
    .option('--offset <n>', 'how many to skip', countFromZero)
    .action(async ({ gateway, ...options }: ListOptions & PlaceOptions) => {
      const { listPurges } = await import('./purges-commands.js');
      end(await listPurges(options, demandGateway(gatewayNamed(gateway), env), context));
    });
  const onePurge = (name: string) => onGateway(purges.command(name)).argument('<id>', 'of the purge');
  onePurge('show')
    .description('show the record of a purge')
    .action(async (id: string, options: JsonOption & PlaceOptions) => {
      const { showPurge } = await import('./purges-commands.js');
      end(await showPurge(id, options, demandGateway(options, env), context));
    });
  onePurge('follow')
    .description('follow a purge to its end; Ctrl+C leaves it alone')
    .action(async (id: string, options: JsonOption & PlaceOptions) => {
      const { followOne } = await import('./purges-commands.js');
      end(await followOne(id, options, demandGateway(options, env), context));
    });
  onePurge('cancel')
    .description('cancel a purge, and say what it had done')
    .action(async (id: string, options: JsonOption & PlaceOptions) => {
      const { cancelOne } = await import('./purges-commands.js');
      end(await cancelOne(id, options, demandGateway(options, env), context));
    });
  onePurge('throttle')
    .argument('<rate>', 'deletes per second, or off')
    .description('change how fast a purge may delete')
    .option('--concurrency <n>', 'delete requests in flight', wholeNumber)
    .action(
      async (id: string, rate: string, options: JsonOption & PlaceOptions & { concurrency?: number }) => {
        const { throttleOne } = await import('./purges-commands.js');
        end(await throttleOne(id, rate, options, demandGateway(options, env), context));
      },
    );

  const retention = program.command('retention').description('what a gateway purges by age, on a schedule');
  onGateway(retention.command('list'))
    .description('list the policies')
    .action(async (options: JsonOption & PlaceOptions) => {
      const { listPolicies } = await import('./retention-commands.js');
      end(await listPolicies(options, demandGateway(options, env), context));
    });
  onGateway(retention.command('apply'))
    .argument('<file>', 'a policy or an array of them, as JSON; - is standard input')
    .description('create policies, or replace those of the same names')
    .action(async (file: string, options: JsonOption & PlaceOptions) => {
      const { applyPolicies } = await import('./retention-commands.js');
      end(await applyPolicies(file, options, demandGateway(options, env), context));
    });
  onGateway(retention.command('preview'))
    .argument('<name>', 'of the policy')
    .description('count what a policy matches now; nothing is deleted')
    .action(async (name: string, options: JsonOption & PlaceOptions) => {
      const { previewPolicy } = await import('./retention-commands.js');
      end(await previewPolicy(name, options, demandGateway(options, env), context));
    });
  onGateway(retention.command('run'))
    .argument('<name>', 'of the policy')
    .description('run a policy now, in its own mode, and follow it; Ctrl+C leaves it alone')
    .action(async (name: string, options: JsonOption & PlaceOptions) => {
      const { runPolicy } = await import('./retention-commands.js');
      end(await runPolicy(name, options, demandGateway(options, env), context));
    });

  addModelsCommands(program, context, end);

  onGateway(program.command('validate'))
    .argument('<files...>', 'each an entity or an array of them; - is standard input')
    .description('check entities against a model, here or by a gateway; exits with 3 when one is not valid')
    .option(
      '--schema <path>',
      "here, without a gateway: a model's schema.json or its folder, or a folder of models, of which each entity takes that of its type; once more: a folder with documents that they share",
      (path: string, all: readonly string[] | undefined) => [...(all ?? []), path],
    )
    .option(
      '--model <model>',
      'DOMAIN/MODEL of a gateway, or of the folder of models; by the types of the entities unless given',
    )
    .option('--form <form>', 'the representation of the entities; detected unless given')
    .addHelpText('after', VALIDATE_EXAMPLES)
    .action(async (files: string[], { gateway, ...options }: ValidateOptions & PlaceOptions) => {
      if (gateway !== undefined && options.schema !== undefined)
        throw new CliError(EXIT.usage, 'Say --schema or --gateway, not both.');
      const { validateFiles } = await import('./validate-command.js');
      const by = options.schema === undefined ? gatewayOf(gatewayNamed(gateway), env) : undefined;
      end(await validateFiles(files, options, by, context));
    });

  for (const how of ['expand', 'compact'] as const) {
    onGateway(program.command(how))
      .argument('<file>', 'a JSON-LD document; - is standard input')
      .description(`JSON-LD ${how === 'expand' ? 'expansion' : 'compaction'} by the contexts of a gateway`)
      .option('--context <file or url>', 'the @context')
      .option('--safe', 'fail where something would be lost')
      .action(async (file: string, options: JsonLdOptions & PlaceOptions) => {
        const { processJsonLd } = await import('./file-commands.js');
        end(await processJsonLd(how, file, options, demandGateway(options, env), context));
      });
  }

  onGateway(program.command('infer'))
    .argument('<file>', 'a sample or an array of samples; - is standard input')
    .description('a JSON Schema from samples; here, unless a gateway is given')
    .option('--model <name>', 'the name of the model')
    .option('--form <form>', 'keyvalues, ngsi-ld, ngsiv2 or geojson', 'keyvalues')
    .option('--enums', 'list the strings of places that have few of them')
    .action(async (file: string, options: InferOptions & PlaceOptions) => {
      const { inferSchema } = await import('./file-commands.js');
      end(await inferSchema(file, options, gatewayOf(options, env), context));
    });

  program
    .command('backup')
    .argument('<target>', 'the file to write; it must not exist')
    .description('copy the database of a gateway, while it may be running')
    .option('--database <path>', 'the database; DATABASE_PATH, or else ./data/schema.db, unless given')
    .action(async (target: string, { database }: { database?: string }) => {
      const { backUpCommand } = await import('./backup-command.js');
      end(await backUpCommand(target, database, context));
    });
  program
    .command('migrate')
    .description('bring the database to the format of this version; a gateway does it at its start')
    .option('--database <path or url>', 'the database; DATABASE_URL, or else DATABASE_PATH, unless given')
    .action(async ({ database }: { database?: string }) => {
      const { migrateCommand } = await import('./database-commands.js');
      end(await migrateCommand(database, context));
    });
  program
    .command('copy')
    .description(
      'copy everything from SQLite to PostgreSQL, checked by count and hash; stop the gateway before',
    )
    .option('--from <sqlite:path>', 'the SQLite file; DATABASE_PATH unless given')
    .option('--to <url>', 'the PostgreSQL; DATABASE_URL unless given, which keeps its password out of sight')
    .option('--json', 'as JSON')
    .action(async (options: CopyOptions) => {
      const { copyCommand } = await import('./database-commands.js');
      end(await copyCommand(options, context));
    });
  return program;
}

async function placeOf(
  options: PurgeOptions & PlaceOptions,
  { env, clock }: CliContext,
): Promise<PurgePlace> {
  const brokerUrl = brokerOf(options);
  if (brokerUrl === undefined) {
    const gateway = gatewayOf(options, env);
    if (gateway === undefined)
      throw new CliError(EXIT.usage, 'Where? Say --gateway URL or --broker URL, or set NGSILD_GATEWAY_URL.');
    return (await import('./gateway-place.js')).createGatewayPlace(gateway, clock);
  }
  const config = engineConfig(env, brokerUrl);
  const { createBrokerPlace } = await import('./broker-place.js');
  return createBrokerPlace({
    brokerUrl,
    config,
    authorization: authorizationOf(env),
    clock,
    random: Math.random,
  });
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}

function countFromZero(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0.');
  return Number(text);
}
