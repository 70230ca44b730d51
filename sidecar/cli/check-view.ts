import { join } from 'node:path';
import type { Schemas } from '../client/operations.js';
import { jsonText, printable } from './format.js';
import { reportLines } from './import-view.js';
import { areAllAccepted, storedLines, type StoredOptions, type StoredVerdict } from './stored-check.js';

export interface CheckOptions extends StoredOptions {
  readonly domain?: string;
  /** The Git revision with which the first folder is compared. */
  readonly against?: string;
  readonly format?: 'text' | 'json' | 'github';
  readonly json?: boolean;
  /** The least severe change of a model that fails the check. @default breaking */
  readonly failOn?: FailOn;
}

export type FailOn = 'narrowing' | 'breaking' | 'never';

export interface CheckView {
  readonly format: NonNullable<CheckOptions['format']>;
  /** The paths of the checked folders as the user gave them, by the names that the report uses. */
  readonly folders: ReadonlyMap<string, string>;
  readonly leftOut: readonly string[];
  readonly failOn: FailOn;
  /** Models that exist in the revision but not in the folders. */
  readonly gone?: readonly string[];
  /** Paths of files that cannot be compared with those of the revision. */
  readonly uncompared?: readonly string[];
  readonly stored?: readonly StoredVerdict[] | undefined;
}

/** Formats the findings of a check for people, for programs, or as annotations for GitHub Actions. */
export function checkLines(report: Schemas['ImportReport'], view: CheckView): readonly string[] {
  const { gone = [], uncompared = [], stored } = view;
  switch (view.format) {
    case 'json':
      return [
        jsonText({
          ...report,
          gone: gone.length === 0 ? undefined : gone,
          uncompared: uncompared.length === 0 ? undefined : uncompared,
          stored,
        }),
      ];
    case 'text':
      return [
        ...view.leftOut.map(printable),
        ...gone.map((model) => printable(goneText(model))),
        ...uncompared.map((path) => printable(`${path}: ${UNCOMPARED}`)),
        ...reportLines(report),
        ...storedLines(stored ?? []),
      ];
    case 'github':
      return [
        ...annotations(report, view),
        ...gone.map((model) => `::warning title=Model is gone::${escapedData(goneText(model))}`),
        ...uncompared.map((path) => {
          const level = view.failOn === 'never' ? 'warning' : 'error';
          return annotation({ level, path, title: 'Not compared', text: UNCOMPARED }, view.folders);
        }),
        ...(stored ?? [])
          .filter((one) => !areAllAccepted([one]))
          .map((one) => `::error title=Stored entities::${escapedData(storedLines([one]).join('\n'))}`),
        ...reportLines(report).slice(-1),
      ];
  }
}

const UNCOMPARED = 'The change is unknown, because the file is refused at the revision.';

function goneText(model: string): string {
  return `The model ${model} is no longer in the folders. An import does not delete it from a gateway.`;
}

interface Annotation {
  readonly level: 'error' | 'warning' | 'notice';
  readonly path: string;
  readonly line?: number | undefined;
  readonly title: string;
  readonly text: string;
}

function annotations(
  { files, dependents }: Schemas['ImportReport'],
  { folders, leftOut, failOn }: CheckView,
): readonly string[] {
  const found = files.flatMap((file): readonly Annotation[] => {
    const { path, line, status, reason = '', examples } = file;
    if (status === 'refused') return [{ level: 'error', path, line, title: 'Refused', text: reason }];
    const faults = (examples?.invalid ?? []).map((fault): Annotation => {
      const text = `${fault.pointer} ${fault.detail}`;
      return { level: 'error', path: fault.path, line: fault.line, title: 'Example is not valid', text };
    });
    const changes = (file.differences ?? []).map(({ pointer, detail, class: change }): Annotation => {
      return {
        level: levelOf(change, failOn),
        path,
        title: `Change: ${change}`,
        text: `${pointer}: ${detail}`,
      };
    });
    const unchecked = (examples?.unchecked ?? []).map((one): Annotation => {
      const text = 'Other examples took too long.';
      return { level: 'error', path: one, title: 'Example was not checked', text };
    });
    const leftOut = (examples?.leftOut ?? []).map((one): Annotation => {
      return { level: 'warning', path: one.path, title: 'Example would not be kept', text: one.reason };
    });
    return [...faults, ...unchecked, ...leftOut, ...changes];
  });
  return [
    ...found.map((one) => annotation(one, folders)),
    ...dependents.flatMap(({ domain, model, status, reason = '', change, differences = [] }) => {
      if (status === 'refused')
        return [`::error title=Dependent refused::${escapedData(`${domain}/${model}: ${reason}`)}`];
      if (change === undefined || !failsCheck(change, failOn)) return [];
      return differences.map(({ pointer, detail, class: one }) => {
        return (
          `::${levelOf(one, failOn)} title=Change of a dependent%3A ` +
          `${one}::${escapedData(`${domain}/${model}: ${pointer}: ${detail}`)}`
        );
      });
    }),
    ...leftOut.map((line) => `::error title=Left out::${escapedData(line)}`),
  ];
}

/** A compatible change is a notice, not a warning. */
function levelOf(change: Parameters<typeof failsCheck>[0], failOn: FailOn): Annotation['level'] {
  if (failsCheck(change, failOn)) return 'error';
  return change === 'compatible' ? 'notice' : 'warning';
}

function annotation(
  { level, path, line, title, text }: Annotation,
  folders: ReadonlyMap<string, string>,
): string {
  // Paths in a report begin with the name of a folder; annotations need paths relative to where the check was started.
  const [name = '', ...inside] = path.split('/');
  const folder = folders.get(name);
  const file = folder === undefined ? path : join(folder, ...inside);
  const place = [`file=${escapedProperty(file)}`, ...(line === undefined ? [] : [`line=${line}`])];
  return `::${level} ${[...place, `title=${escapedProperty(title)}`].join(',')}::${escapedData(text)}`;
}

/** Escapes the text of a workflow command; a line break would end the command. */
function escapedData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapedProperty(text: string): string {
  return escapedData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** From least to most severe. */
const CHANGES = ['compatible', 'narrowing', 'breaking'] as const;

/** Whether a change fails a check. */
export function failsCheck(change: Schemas['ChangeReport']['overall'], failOn: FailOn): boolean {
  return failOn !== 'never' && CHANGES.indexOf(change) >= CHANGES.indexOf(failOn);
}
