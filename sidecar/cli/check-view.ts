import { writeJson } from '../shared/json/lossless-json.js';
import { basename, join } from 'node:path';
import type { ImportReport } from '../schemas/transfer/transfer.js';
import { isTooMuch, type CheckOptions, type FailOn } from './check-options.js';
import { printable } from './format.js';
import { reportLines } from './import-view.js';

export interface CheckView {
  readonly format: NonNullable<CheckOptions['format']>;
  /** The folders that were checked, as they were named. */
  readonly paths: readonly string[];
  readonly leftOut: readonly string[];
  readonly failOn: FailOn;
}

/** What a check found: for people, for programs, or as annotations of GitHub Actions. */
export function checkLines(report: ImportReport, view: CheckView): readonly string[] {
  switch (view.format) {
    case 'json':
      return [writeJson(report)];
    case 'text':
      return [...view.leftOut.map(printable), ...reportLines(report)];
    case 'github':
      return [...annotations(report, view), ...reportLines(report).slice(-1)];
  }
}

interface Annotation {
  readonly level: 'error' | 'warning';
  readonly path: string;
  readonly line?: number | undefined;
  readonly title: string;
  readonly text: string;
}

function annotations(
  { files, dependents }: ImportReport,
  { paths, leftOut, failOn }: CheckView,
): readonly string[] {
  const found = files.flatMap((file): readonly Annotation[] => {
    const { path, line, status, reason = '', examples, change } = file;
    if (status === 'refused') return [{ level: 'error', path, line, title: 'Refused', text: reason }];
    const level = change !== undefined && isTooMuch(change, failOn) ? 'error' : 'warning';
    const faults = (examples?.invalid ?? []).map((fault): Annotation => {
      const text = `${fault.pointer} ${fault.detail}`;
      return { level: 'error', path: fault.path, line: fault.line, title: 'Example is not valid', text };
    });
    const changes = (file.differences ?? []).map(({ pointer, detail }): Annotation => {
      return { level, path, title: `Change: ${change ?? ''}`, text: `${pointer}: ${detail}` };
    });
    const unchecked = (examples?.unchecked ?? []).map((one): Annotation => {
      const text = 'The examples together took too long.';
      return { level: 'error', path: one, title: 'Example was not checked', text };
    });
    return [...faults, ...unchecked, ...changes];
  });
  return [
    ...found.map((one) => annotation(one, paths)),
    ...dependents.flatMap(({ domain, model, status, reason = '', change, differences = [] }) => {
      if (status === 'refused')
        return [`::error title=Dependent refuses::${data(`${domain}/${model}: ${reason}`)}`];
      if (change === undefined || !isTooMuch(change, failOn)) return [];
      return differences.map(({ pointer, detail }) => {
        return `::error title=Change of a dependent%3A ${change}::${data(`${domain}/${model}: ${pointer}: ${detail}`)}`;
      });
    }),
    ...leftOut.map((line) => `::error title=Left out::${data(line)}`),
  ];
}

function annotation({ level, path, line, title, text }: Annotation, paths: readonly string[]): string {
  // A report calls a folder by its name; annotations need the path from where the check was started.
  const [name = '', ...inside] = path.split('/');
  const around = paths.length === 1 ? paths[0] : paths.find((one) => basename(one) === name);
  const file = around === undefined ? path : join(around, ...inside);
  const place = [`file=${property(file)}`, ...(line === undefined ? [] : [`line=${line}`])];
  return `::${level} ${[...place, `title=${property(title)}`].join(',')}::${data(text)}`;
}

/** Workflow commands end with their line, and escape as URLs do. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
