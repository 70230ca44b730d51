import { type Command, Option } from 'commander';
import type { CheckOptions } from './check-view.js';
import type { CliContext } from './context.js';
import type { ExitCode } from './exit-codes.js';
import { gatewayActions, withListOptions, withGatewayOptions } from './program-options.js';
import { gatewayOf, type ConnectionOptions } from './settings.js';

const STORED = [
  '--stored',
  'report which stored entities the new versions would refuse; exits with 3 if there are any',
] as const;
const TENANT = ['--tenant <name>', 'with --stored: the tenant of the entities'] as const;
const LINK = ['--link <url>', 'with --stored: the @context of the names of the entities'] as const;

/** Adds the commands of `models`. @param end receives the exit code */
export function addModelsCommands(
  program: Command,
  context: CliContext,
  end: (code: ExitCode) => void,
): void {
  const atGateway = gatewayActions(context, end);
  const models = program.command('models').description('manage the data models of a gateway');
  atGateway(
    withListOptions(models.command('list'))
      .argument('[text]', 'part of a name, a description, an attribute or a type')
      .description('list the models of all domains')
      .option('--domain <name>', 'only models of this domain')
      .option('--type <type>', 'only models for entities of this type')
      .option('--attribute <name>', 'only models with this attribute'),
    async () => (await import('./models-list.js')).listModels,
  );
  atGateway(
    withListOptions(models.command('get'))
      .argument('<model>', 'DOMAIN/MODEL, or DOMAIN/MODEL@N for an older version')
      .description('show a model: its versions, and its schema'),
    async () => (await import('./models-list.js')).getModel,
  );
  atGateway(
    withListOptions(models.command('examples'))
      .argument('<model>', 'DOMAIN/MODEL')
      .argument('[name]', 'the example to show')
      .description('list the examples of a model, or show one of them'),
    async () => (await import('./models-list.js')).getExamples,
  );
  atGateway(
    withGatewayOptions(models.command('import'))
      .argument('<paths...>', 'folders of data models, e.g. clones of repositories, or one tar.gz or zip')
      .description(
        'import whole repositories; repeating it changes nothing; exits with 3 if files are refused',
      )
      .option('--domain <name>', 'the domain (default: that of the export, or the name of the repository)')
      .option('--dry-run', 'show what would happen to each file, without writing anything'),
    async () => (await import('./models-commands.js')).importModels,
  );
  atGateway(
    withGatewayOptions(models.command('diff'))
      .argument('<paths...>', 'as for import')
      .description('show what an import would change, model by model; exits with 3 if anything would change')
      .option('--domain <name>', 'the domain, as for import')
      .option(...STORED)
      .option(...TENANT)
      .option(...LINK),
    async () => (await import('./models-commands.js')).diffModels,
  );
  atGateway(
    withGatewayOptions(models.command('push'))
      .argument('<path>', 'folder of a model, with its schema.json, or a schema')
      .description('create or update one model; shows the changes, and asks if entities may become invalid')
      .option('--domain <name>', 'the domain (default: the name of the repository)')
      .option('--model <name>', 'the model (default: the name of the folder, or the title)')
      .option('--dry-run', 'show what would change, without writing anything')
      .option('-y, --yes', 'do not ask')
      .option(...STORED)
      .option(...TENANT)
      .option(...LINK),
    async () => (await import('./push-command.js')).pushModel,
  );
  withGatewayOptions(models.command('check'))
    .argument('<folders...>', 'folders of data models, including those with documents that they share')
    .description(
      'check schemas, examples and changes, locally or on a gateway; exits with 3 if something is wrong',
    )
    .option('--against <revision>', 'report changes since this git revision')
    .addOption(
      new Option('--format <format>', 'text, json, or github for annotations').choices([
        'text',
        'json',
        'github',
      ]),
    )
    .addOption(
      new Option('--fail-on <change>', 'the least severe change of a model that fails the check')
        .choices(['narrowing', 'breaking', 'never'])
        .default('breaking'),
    )
    .option('--domain <name>', 'the domain on the gateway')
    .option(...STORED)
    .option(...TENANT)
    .option(...LINK)
    .action(async (folders: string[], { gateway, ...options }: CheckOptions & ConnectionOptions) => {
      const { checkModels } = await import('./check-command.js');
      // Ignores the environment: where a check runs decides what it can see, so it has to be chosen explicitly.
      const by = gateway === undefined ? undefined : gatewayOf({ gateway }, context.env);
      end(await checkModels(folders, options, by, context));
    });
  atGateway(
    withGatewayOptions(models.command('export'))
      .description('write a domain, or everything, to a tar.gz that can be imported')
      .option('--domain <name>', 'the domain (default: all)')
      .option('-o, --output <file>', 'the output file, overwritten if it exists; - for standard output'),
    async () => (await import('./models-commands.js')).exportModels,
  );
}
