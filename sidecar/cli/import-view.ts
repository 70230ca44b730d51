import type { Schemas } from '../client/operations.js';
import { formatCount, formatItems, printable } from './format.js';
import { truncate } from '../shared/format-value.js';

/** Maximum number of examples in text output; `--json` has all of them. */
const MAX_EXAMPLES = 50;

/** Formats the report of an import for people: problems first, each with its file and line, and the counts last. */
export function reportLines({ summary, files, dependents }: Schemas['ImportReport']): readonly string[] {
  const refused = files.filter(({ status }) => status === 'refused');
  const examples = files.flatMap((file) => file.examples?.invalid ?? []);
  const unchecked = files.flatMap((file) => file.examples?.unchecked ?? []);
  const leftOut = files.flatMap((file) => file.examples?.leftOut ?? []);
  const { dryRun, domains, models, created, updated, unchanged } = summary;
  const would = dryRun ? 'would be ' : '';
  return [
    ...(files.length > 0 ? [] : ['Nothing to import was found. A model is a folder with a schema.json.']),
    ...section(
      `Refused: ${formatItems(refused.length, 'files')}`,
      refused.map((file) => `${place(file)}: ${file.reason ?? ''}`),
    ),
    ...section(
      `Invalid examples: ${formatItems(summary.examples.invalid, 'files')}`,
      limited(examples.map((fault) => `${place(fault)}: ${fault.pointer} ${fault.detail}`)),
    ),
    ...section(
      `Examples that were not checked because others took too long: ${formatItems(unchecked.length, 'files')}`,
      limited(unchecked),
    ),
    ...section(
      `Examples that ${dryRun ? 'would not be' : 'are not'} kept: ${formatItems(leftOut.length, 'files')}`,
      limited(leftOut.map(({ path, reason }) => `${path}: ${reason}`)),
    ),
    ...section(
      dryRun ? 'Models that would change' : 'Models that changed',
      files.flatMap((file) => changeLines(file.model, file)),
    ),
    ...section(
      dryRun
        ? 'Dependents of changed documents and contexts that would change'
        : 'Dependents of changed documents and contexts',
      dependents.flatMap((one) => [
        `${one.domain}/${one.model}: ${becomes(one)}${one.reason === undefined ? '' : `. ${one.reason}`}`,
        ...changeLines(undefined, one),
      ]),
    ),
    `${formatItems(models, 'models')} in ${domains.length === 0 ? 'no domain' : domains.join(', ')}. Files: ${[
      `${formatCount(created)} ${would}created`,
      `${formatCount(updated)} ${would}updated`,
      `${formatCount(unchanged)} unchanged`,
      `${formatCount(refused.length)} refused`,
    ].join(
      ', ',
    )}. Examples: ${formatCount(summary.examples.valid)} valid, ${formatCount(summary.examples.invalid)} invalid${unchecked.length === 0 ? '' : `, ${formatCount(unchecked.length)} not checked`}, ${formatCount(summary.examples.kept)} ${would}kept.`,
  ].map(printable);
}

/** Returns a title, the lines indented below it, and an empty line; nothing if there are no lines. */
export function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`), ''];
}

function limited(lines: readonly string[]): readonly string[] {
  const more = lines.length - MAX_EXAMPLES;
  return more <= 0
    ? lines
    : [...lines.slice(0, MAX_EXAMPLES), `… and ${formatCount(more)} more; --json has all.`];
}

/** `path:line`, which editors and terminals turn into a link. */
function place({ path, line }: { readonly path: string; readonly line?: number }): string {
  return line === undefined ? path : `${path}:${line}`;
}

/** Describes what happens to a dependent. A changed context may change the meaning of a model that keeps its version. */
function becomes({ status, change }: Schemas['UpdatedDependent']): string {
  return status === 'unchanged' && change !== undefined ? `${change}, by a changed context` : status;
}

function changeLines(
  model: string | undefined,
  { change, differences = [] }: Pick<Schemas['ImportedFile'], 'change' | 'differences'>,
): readonly string[] {
  if (change === undefined || differences.length === 0) return [];
  return [
    ...(model === undefined ? [] : [`${model}: ${change}`]),
    ...differenceLines(differences).map((line) => `  ${line}`),
  ];
}

/** Maximum number of characters of a witness in text output; `--json` has the whole witness. */
const MAX_WITNESS = 400;

/** Formats the differences of a model for people, one per line, each followed by an entity that shows it if there is one. */
export function differenceLines(differences: readonly Schemas['Difference'][]): readonly string[] {
  return differences.flatMap((difference) => {
    const { pointer, detail, reason, witness } = difference;
    const labels = [difference.class, reason];
    const what = `${pointer === '' ? '(whole)' : pointer}: ${detail}`;
    return [
      `${labels.join(', ')}: ${what}`,
      ...(witness === undefined
        ? []
        : [`  no longer valid: ${truncate(JSON.stringify(witness), MAX_WITNESS)}`]),
    ];
  });
}
