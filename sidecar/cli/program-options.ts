import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ApiClient } from '../client/client.js';
import type { CliContext } from './context.js';
import type { ExitCode } from './exit-codes.js';
import { requireGateway, type ConnectionOptions } from './settings.js';

const OUTPUTS = ['table', 'json', 'yaml'] as const;

/** The output format of a command that lists or shows something; `--json` is short for `-o json`. */
export interface OutputOptions {
  readonly json?: boolean | undefined;
  readonly output?: (typeof OUTPUTS)[number];
}

/** Adds the options that all commands on a gateway share. */
export function withGatewayOptions(command: Command): Command {
  return command.addOption(gatewayOption()).option('--json', 'JSON output, one document per line');
}

/** Adds the options of commands that list or show something on a gateway. */
export function withListOptions(command: Command): Command {
  return withGatewayOptions(command).addOption(outputOption());
}

export function outputOption(): Option {
  return new Option('-o, --output <format>', 'form of the output; json is one document per line').choices(
    OUTPUTS,
  );
}

export function gatewayOption(): Option {
  return new Option(
    '--gateway <url>',
    'URL of the gateway (default: NGSILD_GATEWAY_URL, or the current context)',
  );
}

/** Turns the value of `--rate` into the member of the API. */
export function rateOf<Rate extends number | null>(rate: Rate | undefined): { readonly maxPerSecond?: Rate } {
  return rate === undefined ? {} : { maxPerSecond: rate };
}

/** Returns the gateway named by `--gateway`, if there is one. The environment is read later. */
export function gatewayOptions(gateway: string | undefined): ConnectionOptions {
  return gateway === undefined ? {} : { gateway };
}

/** The action of a command on a gateway, with the arguments and options that commander has parsed. */
export type GatewayAction<Words extends readonly unknown[], Options> = (
  ...given: [...words: Words, options: Options, gateway: ApiClient, context: CliContext]
) => Promise<ExitCode>;

/**
 * Returns a function that gives a command its action on a gateway. The module of the action is loaded when the command runs.
 */
export function gatewayActions(context: CliContext, end: (code: ExitCode) => void) {
  return <Words extends readonly unknown[], Options extends object>(
    command: Command,
    load: () => Promise<GatewayAction<Words, Options>>,
  ) =>
    command.action(async (...read: readonly unknown[]) => {
      // Commander passes the options after the arguments, and then the command itself.
      const options = { ...(read.at(-2) as Options & ConnectionOptions) };
      const { gateway } = options;
      Reflect.deleteProperty(options, 'gateway');
      context.gatewayOption = gateway;
      const client = requireGateway(gatewayOptions(gateway), context.env);
      const run = await load();
      const words = read.slice(0, -2) as readonly unknown[] as Words;
      end(await run(...words, options, client, context));
    });
}

/** Parses the value of an option for commander: a whole number from 1. */
export function parsePositiveInteger(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}

/** Parses the value of an option for commander: a whole number from 0. */
export function parseNonNegativeInteger(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0.');
  return Number(text);
}
