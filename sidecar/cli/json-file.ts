import { parseJson as parseLosslessly } from '../shared/json/lossless-json.js';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { CliContext } from './context.js';
import { type CliError, usage } from './exit-codes.js';
import { errorCode } from '../shared/errors.js';

/** Reads the text of a JSON or YAML file, or of standard input for `-`, without checking it. */
export async function readJsonText(file: string, { stdin }: CliContext): Promise<string> {
  return decoded(file, await bytesOf(file, stdin));
}

async function bytesOf(file: string, stdin: CliContext['stdin']): Promise<Uint8Array> {
  try {
    return file === '-' ? await buffer(stdin) : await readFile(file);
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

/** The error for a file or folder that cannot be read. @param cause of the file system */
export function unreadable(path: string, cause: unknown): CliError {
  const code = errorCode(cause);
  if (code === 'ENOENT') return usage(`${path} does not exist.`, { cause });
  const why =
    code === 'EACCES' ? 'permission denied' : code === 'EISDIR' ? 'it is a folder' : (code ?? String(cause));
  return usage(`${path} cannot be read: ${why}.`, { cause });
}

/** Decodes UTF-8, or UTF-16 as Windows PowerShell writes it. Drops a byte order mark. */
export function decoded(file: string, bytes: Uint8Array): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (cause) {
    throw usage(`${file} is not UTF-8: save it in that encoding.`, { cause });
  }
}

/** Reads a JSON file, or standard input for `-`. @throws CliError, also if the content is not JSON */
export async function readJson(file: string, context: CliContext): Promise<unknown> {
  return parseJson(file, await readJsonText(file, context));
}

/** Parses the text of a file. */
export function parseJson(file: string, text: string): unknown {
  try {
    return parseLosslessly(text);
  } catch (cause) {
    throw usage(`${file} is not JSON: ${String(cause instanceof Error ? cause.message : cause)}.`, { cause });
  }
}
