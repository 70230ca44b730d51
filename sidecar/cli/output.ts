import { styleText } from 'node:util';
import { parse, stringify } from 'yaml';
import { writeJson } from '../shared/json/lossless-json.js';
import { say, type CliContext } from './context.js';
import type { OutputOptions } from './program-options.js';

/**
 * Writes what was listed: a table for people, one JSON document a line, or one YAML list.
 *
 * @param table its lines, made only if they are wanted
 * @returns whether the table was written
 */
export function sayList(
  records: readonly unknown[],
  options: OutputOptions,
  table: () => readonly string[],
  context: CliContext,
): boolean {
  const form = formOf(options);
  const lines =
    form === 'table'
      ? table()
      : form === 'yaml'
        ? [yamlOf(records)]
        : records.map((record) => writeJson(record));
  say(context.stdout, ...lines);
  return form === 'table';
}

/** Writes one document, as {@link sayList} does. */
export function sayOne(
  record: unknown,
  options: OutputOptions,
  table: () => readonly string[],
  context: CliContext,
): void {
  const form = formOf(options);
  say(
    context.stdout,
    ...(form === 'table' ? table() : [form === 'yaml' ? yamlOf(record) : writeJson(record)]),
  );
}

function formOf({ json, output }: OutputOptions): 'table' | 'json' | 'yaml' {
  return output ?? (json === true ? 'json' : 'table');
}

function yamlOf(record: unknown): string {
  return stringify(parse(writeJson(record), { intAsBigInt: true }), { lineWidth: 0 }).trimEnd();
}

/** Colours of the states of purges and the like; a word that is not here has none. */
const STYLES: Readonly<Record<string, Parameters<typeof styleText>[0]>> = {
  ...{ succeeded: 'green', published: 'green', enforce: 'green' },
  ...{ queued: 'cyan', running: 'cyan', draft: 'cyan' },
  ...{
    partial: 'yellow',
    cancelling: 'yellow',
    cancelled: 'yellow',
    interrupted: 'yellow',
    deprecated: 'yellow',
  },
  ...{ failed: 'red', refused: 'red' },
};

/** Colours a state where standard output is a terminal and NO_COLOR is not set. @param text begins with the state */
export function coloured(text: string, { stdout, env }: CliContext): string {
  const style = STYLES[text.split(' ', 1)[0] ?? ''];
  const isWanted = stdout.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return style === undefined || !isWanted ? text : styleText(style, text, { validateStream: false });
}
