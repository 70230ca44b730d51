import { createInterface } from 'node:readline';
import type { Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { EntityJudge, SchemaService, Workbench } from '../schemas/models/index.js';
import type { Transfer } from '../schemas/repository/transfer.js';
import type { Clock } from '../shared/clock.js';
import { jsonText, withOwnControls } from './format.js';

/** A schema service in memory. It starts empty, fetches nothing, and loses its content when closed. */
export interface LocalModels {
  readonly service: SchemaService;
  readonly transfer: Transfer;
  readonly workbench: Workbench;
  readonly judge: EntityJudge;
  close(): Promise<void>;
}

/** The environment in which a command runs. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** For results. */
  readonly stdout: Writable & { readonly isTTY?: boolean };
  /** For questions, progress and errors. */
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly clock: Clock;
  /** The value of `--gateway` of this command, if it was given. */
  gatewayOption?: string | undefined;
  /**
   * Calls the handler on each Ctrl+C or SIGTERM, which then do not end the process. Returns a function that removes the
   * handler.
   */
  onInterrupt(handler: () => void): () => void;
  /** Ends the process at once. */
  exit(exitCode: number): void;
  openModels(): Promise<LocalModels>;
  /** Runs a gateway in this process. */
  serve(): Promise<void>;
}

/** Whether the user can be asked questions. */
export function isInteractive({ stdin, stderr }: CliContext): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** Returns a command for the user to copy, which runs on the gateway of this one. */
export function commandText(words: string, { gatewayOption }: Pick<CliContext, 'gatewayOption'>): string {
  const option = gatewayOption === undefined ? '' : ` --gateway ${quotedForShell(gatewayOption)}`;
  return `ngsi-ld-gateway ${words}${option}`;
}

function quotedForShell(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Writes lines to a stream, for people or for programs. */
export function writeLines(stream: Writable, ...lines: readonly string[]): void {
  for (const line of lines) stream.write(`${withOwnControls(line)}\n`);
}

/** Writes one JSON document to standard output, on its own line. */
export function writeJsonLine({ stdout }: CliContext, document: unknown): void {
  writeLines(stdout, jsonText(document));
}

/**
 * Writes a stream to standard output. Does not throw if standard output fails: a reader that stops early, such as `head`, is
 * not a failure, and the process reports any other, such as a full disk, when it exits.
 */
export async function writeStream(
  { stdout }: CliContext,
  source: Readable,
  ...transforms: readonly Transform[]
): Promise<void> {
  let outputError: unknown;
  const onError = (error: unknown) => (outputError = error);
  stdout.on('error', onError);
  try {
    await pipeline([source, ...transforms, stdout], { end: false });
  } catch (error) {
    if (error !== outputError) throw error;
  } finally {
    stdout.off('error', onError);
  }
}

/** Asks a question. Only `y` and `yes` mean yes; Ctrl+C, the end of the input and an aborted signal mean no. */
export async function askYesNo(
  { stdin, stderr }: CliContext,
  question: string,
  signal: AbortSignal,
): Promise<boolean> {
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  let isAnswered = false;
  try {
    return await new Promise((resolve) => {
      lines.once('close', () => {
        // The next output starts on a new line, even after Ctrl+C.
        if (!isAnswered) stderr.write('\n');
        resolve(false);
      });
      lines.once('SIGINT', () => lines.close());
      signal.addEventListener('abort', () => lines.close(), { once: true });
      if (signal.aborted) lines.close();
      else
        lines.question(question, (answer) => {
          isAnswered = true;
          resolve(/^\s*y(?:es)?\s*$/i.test(answer));
        });
    });
  } finally {
    lines.close();
  }
}
