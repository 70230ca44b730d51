import { styleText } from 'node:util';
import { type ScalarTag, stringify, type Tags } from 'yaml';
import { truncate } from '../shared/format-value.js';
import { LosslessNumber } from '../shared/json/json.js';
import { readableQuery } from '../shared/readable-query.js';
import { writeLines, type CliContext } from './context.js';
import { usage } from './exit-codes.js';
import { formatTable, jsonText, printable } from './format.js';
import type { OutputOptions } from './program-options.js';

interface ListTable<Item> {
  readonly head: readonly string[];
  readonly row: (item: Item) => readonly string[];
  /** Says that the list is empty, instead of an empty table. */
  readonly none: string;
}

/**
 * Writes a list as a table for people, as one JSON document per line, or as one YAML list.
 *
 * @returns whether it was written for people
 */
export function writeList<Item>(
  items: readonly Item[],
  options: OutputOptions,
  { head, row, none }: ListTable<Item>,
  { stdout, stderr }: CliContext,
): boolean {
  const form = formOf(options);
  if (form === 'yaml') writeLines(stdout, yamlOf(items));
  else if (form === 'json') writeLines(stdout, ...items.map((item) => jsonText(item)));
  else if (items.length === 0) writeLines(stderr, none);
  else writeLines(stdout, ...formatTable([head, ...items.map(row)]));
  return form === 'table';
}

/** Writes one document as lines for people, as JSON, or as YAML. @param lines called only if they are needed */
export function writeDocument(
  document: unknown,
  options: OutputOptions,
  lines: () => readonly string[],
  { stdout }: CliContext,
): void {
  const form = formOf(options);
  if (form === 'table') writeLines(stdout, ...lines());
  else writeLines(stdout, form === 'yaml' ? yamlOf(document) : jsonText(document));
}

/** A query as people read it. A long one is cut on a terminal, but not in a pipe, where `grep` has to find its end. */
export function shownQuery(query: string, most: number, { stdout }: CliContext): string {
  const text = readableQuery(query);
  return stdout.isTTY === true ? truncate(text, most) : text;
}

/** Keeps compressed output off a terminal. @param file an example */
export function requireRedirected({ stdout }: CliContext, file: string): void {
  if (stdout.isTTY === true)
    throw usage(`The output is compressed with gzip: redirect it to a file, such as > ${file}`);
}

function formOf({ json, output }: OutputOptions): 'table' | 'json' | 'yaml' {
  return output ?? (json === true ? 'json' : 'table');
}

/** Writes numbers that a double cannot hold with all their digits. */
const EXACT_NUMBER: ScalarTag = {
  identify: (value) => value instanceof LosslessNumber,
  tag: 'tag:yaml.org,2002:float',
  default: true,
  resolve: (text) => text,
  stringify: ({ value }) => String(value),
};

/** Quotes strings with characters that YAML does not allow or a terminal would interpret, and escapes these characters. */
const UNPRINTABLE_STRING: ScalarTag = {
  identify: (value) =>
    typeof value === 'string' && value.split('\n').some((line) => printable(line) !== line),
  tag: 'tag:yaml.org,2002:str',
  default: true,
  resolve: (text) => text,
  stringify: ({ value }) => jsonText(value),
};

/** YAML that is also correct for YAML 1.1 parsers, which read a plain `no` as false, and `12:30` as a number. */
export function yamlOf(record: unknown): string {
  const customTags = (tags: Tags): Tags => [EXACT_NUMBER, UNPRINTABLE_STRING, ...tags];
  return stringify(record, { lineWidth: 0, compat: 'yaml-1.1', customTags }).trimEnd();
}

/** Colours of states, such as those of purges. Other words have no colour. */
const STYLES: Readonly<Record<string, Parameters<typeof styleText>[0]>> = {
  succeeded: 'green',
  published: 'green',
  enforce: 'green',
  queued: 'cyan',
  running: 'cyan',
  draft: 'cyan',
  partial: 'yellow',
  cancelling: 'yellow',
  cancelled: 'yellow',
  interrupted: 'yellow',
  deprecated: 'yellow',
  failed: 'red',
  refused: 'red',
};

/** Colours a state if standard output is a terminal and NO_COLOR is not set. @param text begins with the state */
export function colouredState(text: string, { stdout, env }: CliContext): string {
  const style = STYLES[text.split(' ', 1)[0] ?? ''];
  const isWanted = stdout.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return style === undefined || !isWanted ? text : styleText(style, text, { validateStream: false });
}
