import { type Command, Option } from 'commander';
import type { CheckOptions } from './check-options.js';
import type { CliContext } from './context.js';
import type { ExitCode } from './exit-codes.js';
import type { DiffCommandOptions, ExportCommandOptions, ImportCommandOptions } from './models-commands.js';
import { gatewayNamed, onGateway } from './program-options.js';
import type { PushCommandOptions } from './push-command.js';
import { demandGateway, gatewayOf, type PlaceOptions } from './settings.js';

/** The commands of `models`. @param end takes what the process is to end with */
export function addModelsCommands(
  program: Command,
  context: CliContext,
  end: (code: ExitCode) => void,
): void {
  const { env } = context;
  const models = program.command('models').description('the data models of a gateway');
  onGateway(models.command('import'))
    .argument('<paths...>', 'folders of data models, e.g. clones of repositories; or one tar.gz or zip')
    .description('import whole repositories; the same again changes nothing; 3 when files are refused')
    .option('--domain <name>', 'the domain; that of the export or the name of the repository unless given')
    .option('--dry-run', 'say what would become of each file, and write nothing')
    .action(async (paths: string[], { gateway, ...options }: ImportCommandOptions & PlaceOptions) => {
      const { importModels } = await import('./models-commands.js');
      end(await importModels(paths, options, demandGateway(gatewayNamed(gateway), env), context));
    });
  onGateway(models.command('diff'))
    .argument('<paths...>', 'as for import')
    .description(
      'what an import would change, model by model; writes nothing; 3 when it would change anything',
    )
    .option('--domain <name>', 'the domain, as for import')
    .action(async (paths: string[], { gateway, ...options }: DiffCommandOptions & PlaceOptions) => {
      const { diffModels } = await import('./models-commands.js');
      end(await diffModels(paths, options, demandGateway(gatewayNamed(gateway), env), context));
    });
  onGateway(models.command('push'))
    .argument('<path>', 'the folder of a model, with its schema.json; or a schema')
    .description('create or update one model; shows what changes, and asks where entities may become invalid')
    .option('--domain <name>', 'the domain; the name of the repository unless given')
    .option('--model <name>', 'the model; the name of the folder, or else the title, unless given')
    .option('--dry-run', 'show what would change, and write nothing')
    .option('-y, --yes', 'do not ask')
    .action(async (path: string, { gateway, ...options }: PushCommandOptions & PlaceOptions) => {
      const { pushModel } = await import('./push-command.js');
      end(await pushModel(path, options, demandGateway(gatewayNamed(gateway), env), context));
    });
  onGateway(models.command('check'))
    .argument(
      '<folders...>',
      'folders of data models; the documents that they share may be in others of them',
    )
    .description(
      'check schemas, examples and changes, here or by a gateway; writes nothing; 3 when something is wrong',
    )
    .option('--against <revision>', 'report what changes since this revision of git')
    .addOption(
      new Option('--format <format>', 'text, json, or github for annotations').choices([
        'text',
        'json',
        'github',
      ]),
    )
    .addOption(
      new Option('--fail-on <change>', 'the least change of a model that is wrong')
        .choices(['narrowing', 'breaking', 'never'])
        .default('breaking'),
    )
    .option('--domain <name>', 'the domain at the gateway')
    .action(async (folders: string[], { gateway, ...options }: CheckOptions & PlaceOptions) => {
      const { checkModels } = await import('./check-command.js');
      // Not by the environment: where a check is done decides what it can see.
      const by = gateway === undefined ? undefined : gatewayOf({ gateway }, env);
      end(await checkModels(folders, options, by, context));
    });
  onGateway(models.command('export'))
    .description('write a domain, or everything, to a tar.gz that import takes')
    .option('--domain <name>', 'the domain; all of them unless given')
    .option('-o, --output <file>', 'the file, which is replaced; - is standard output')
    .action(async ({ gateway, ...options }: ExportCommandOptions & PlaceOptions) => {
      const { exportModels } = await import('./models-commands.js');
      end(await exportModels(options, demandGateway(gatewayNamed(gateway), env), context));
    });
}
