import { execSync } from 'node:child_process';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { makeFolders } from '../shared/make-folders.js';
import { failure, usage } from './exit-codes.js';
import { decoded, parseJson } from './json-file.js';

type Env = Readonly<Record<string, string | undefined>>;

/** A gateway with a short name. Its token is not stored; a command, such as that of a keyring, outputs it. */
export interface GatewayContext {
  readonly gateway: string;
  readonly tokenCommand?: string;
}

export interface GatewayContexts {
  readonly current?: string;
  readonly contexts: Readonly<Record<string, GatewayContext>>;
}

/**
 * Path of the file with the contexts; undefined if the user has no home directory. A relative XDG_CONFIG_HOME is ignored (XDG
 * Base Directory Specification): the contexts would be others in each folder, and their commands those of its owner.
 */
function fileOf(env: Env): string | undefined {
  const home = env['HOME'] || env['USERPROFILE'];
  const { XDG_CONFIG_HOME: chosen = '' } = env;
  const folder = isAbsolute(chosen) ? chosen : home && join(home, '.config');
  return folder ? join(folder, 'ngsi-ld-gateway', 'config.json') : undefined;
}

/** Reads the contexts. @throws CliError if the file is malformed, or if others may write to it, since its commands are run */
export function readContexts(env: Env): GatewayContexts {
  const file = fileOf(env);
  const stat = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  if (file === undefined || stat === undefined) return { contexts: {} };
  if (process.platform !== 'win32' && (stat.mode & 0o022) !== 0)
    throw usage(
      `Other users can write to ${file}, which contains commands that are run: use chmod 600 on it.`,
    );
  const content = parseJson(file, decoded(file, bytesOf(file)));
  if (areContexts(content)) return content;
  throw usage(
    `${file} is not a valid contexts file. Remove it, and create the contexts again with config set-context.`,
  );
}

function bytesOf(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw usage(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}.`, {
      cause,
    });
  }
}

function areContexts(content: unknown): content is GatewayContexts {
  const { current = '', contexts } = Object(content) as Partial<Record<keyof GatewayContexts, unknown>>;
  const all = Object.values(Object(contexts) as object) as unknown[];
  return (
    typeof current === 'string' &&
    typeof contexts === 'object' &&
    all.every((one) => {
      const { gateway, tokenCommand = '' } = Object(one) as Partial<Record<keyof GatewayContext, unknown>>;
      return typeof gateway === 'string' && typeof tokenCommand === 'string';
    })
  );
}

/** Replaces the contexts atomically. Only the owner may read and write the file. @throws CliError if it cannot be written */
export function writeContexts(contexts: GatewayContexts, env: Env): void {
  const file = fileOf(env);
  if (file === undefined)
    throw usage('There is no folder for the contexts file: set HOME or XDG_CONFIG_HOME.');
  const partial = `${file}.${process.pid}`;
  try {
    makeFolders(dirname(file), 0o700);
    writeFileSync(partial, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600 });
    renameSync(partial, file);
  } catch (cause) {
    throw failure(`${file} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}.`, {
      cause,
    });
  }
}

/** Returns the context chosen with `config use-context`. */
export function currentContext(env: Env): GatewayContext | undefined {
  const { current, contexts } = readContexts(env);
  return current === undefined ? undefined : contexts[current];
}

/** Runs the token command of a context. @throws CliError, whose message does not contain the output of the command */
export function tokenOf({ tokenCommand }: GatewayContext, env: Env): string | undefined {
  if (tokenCommand === undefined) return undefined;
  try {
    const written = execSync(tokenCommand, {
      env: { ...env },
      encoding: 'utf8',
      stdio: ['inherit', 'pipe', 'inherit'],
    });
    return written.trim();
  } catch {
    throw failure('The token command of the current context failed.');
  }
}
