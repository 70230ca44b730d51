import type { Readable, Writable } from 'node:stream';
import type { EntityJudge, SchemaService, Workbench } from '../schemas/models/index.js';
import type { Transfer } from '../schemas/repository/transfer.js';
import type { Clock } from '../shared/clock.js';
import { jsonText } from './format.js';

/** A schema service in memory, which is gone when it is closed. It has nothing, and fetches nothing. */
export interface LocalModels {
  readonly service: SchemaService;
  readonly transfer: Transfer;
  readonly workbench: Workbench;
  readonly judge: EntityJudge;
  close(): Promise<void>;
}

/** What a command has of the world around it. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** For results. */
  readonly stdout: Writable & { readonly isTTY?: boolean };
  /** For questions, progress and complaints. */
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly clock: Clock;
  /** Calls the handler at each Ctrl+C or SIGTERM, which then do not end the process; returns what takes it away again. */
  onInterrupt(handler: () => void): () => void;
  /** Ends the process at once. */
  leave(exitCode: number): void;
  openModels(): Promise<LocalModels>;
  /** Runs a gateway in this process. */
  serve(): Promise<void>;
}

/** Whether questions can be asked. */
export function canAsk({ stdin, stderr }: CliContext): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** Writes lines for people, or for programs that read standard output. */
export function say(stream: Writable, ...lines: readonly string[]): void {
  for (const line of lines) stream.write(`${line}\n`);
}

/** Writes one JSON document on a line of its own. */
export function sayJson({ stdout }: CliContext, document: unknown): void {
  say(stdout, jsonText(document));
}
