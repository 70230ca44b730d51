import { parseJson as parseLosslessly } from '../shared/json/lossless-json.js';
import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import type { CliContext } from './context.js';
import { usage } from './exit-codes.js';

/** Reads a JSON file, or standard input for `-`; its content is not checked here. @throws CliError */
export async function readJsonText(file: string, { stdin }: CliContext): Promise<string> {
  try {
    return file === '-' ? await textOf(stdin) : await readFile(file, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw usage(`${file} cannot be read: ${why}.`, { cause });
  }
}

/** Reads a JSON file, or standard input for `-`. @throws CliError, also for what is not JSON */
export async function readJson(file: string, context: CliContext): Promise<unknown> {
  return parseJson(file, await readJsonText(file, context));
}

/** Parses the text of a file. @throws CliError */
export function parseJson(file: string, text: string): unknown {
  try {
    return parseLosslessly(text);
  } catch (cause) {
    throw usage(`${file} is not JSON: ${String(cause instanceof Error ? cause.message : cause)}.`, { cause });
  }
}
