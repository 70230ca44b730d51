import { type Command, Option } from 'commander';
import type { PlaceOptions } from './settings.js';

/** Gives a command the options of all that talk to a gateway. */
export function onGateway(command: Command): Command {
  return command.addOption(gatewayOption()).option('--json', 'as JSON, one document a line');
}

export function gatewayOption(): Option {
  return new Option('--gateway <url>', 'the gateway; NGSILD_GATEWAY_URL unless given');
}

/** Where `--gateway` names one; the environment is asked later. */
export function gatewayNamed(gateway: string | undefined): PlaceOptions {
  return gateway === undefined ? {} : { gateway };
}
