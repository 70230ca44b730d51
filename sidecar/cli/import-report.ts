import type { ImportReport } from '../schemas/repository/shapes.js';
import { CliError, EXIT } from './exit-codes.js';

type Members = Readonly<Record<string, unknown>>;

const STATUSES: readonly unknown[] = ['created', 'updated', 'unchanged', 'refused'];

/** Reads what a gateway answered to an import. @throws CliError for anything that is not a report of one */
export function readReport(answer: unknown): ImportReport {
  if (!isReport(answer))
    throw new CliError(
      EXIT.failed,
      'The gateway answered with something that is not the report of an import.',
    );
  return answer;
}

function isReport(answer: unknown): answer is ImportReport {
  if (!isMembers(answer) || !isMembers(answer['summary'])) return false;
  const { summary, files, dependents } = answer;
  const examples = summary['examples'];
  return (
    ['created', 'updated', 'unchanged', 'refused', 'models'].every((name) => isCount(summary[name])) &&
    isListOf(summary['domains'], (domain) => typeof domain === 'string') &&
    isMembers(examples) &&
    isCount(examples['valid']) &&
    isCount(examples['invalid']) &&
    isListOf(files, (file) => isMembers(file) && isText(file['path']) && isEntry(file)) &&
    isListOf(
      dependents,
      (one) => isMembers(one) && isText(one['domain']) && isText(one['model']) && isEntry(one),
    )
  );
}

/** Whether a file or a dependent has the members that a view of it reads. */
function isEntry({ status, differences, examples }: Members): boolean {
  return (
    STATUSES.includes(status) &&
    (differences === undefined || isDifferences(differences)) &&
    (examples === undefined ||
      (isMembers(examples) &&
        isListOf(examples['invalid'], (fault) => isMembers(fault) && isText(fault['path'])) &&
        (examples['unchecked'] === undefined || isListOf(examples['unchecked'], isText))))
  );
}

/** Whether these are the differences of a change report. */
export function isDifferences(differences: unknown): boolean {
  return isListOf(differences, (one) => isMembers(one) && isText(one['pointer']) && isText(one['detail']));
}

/** Whether it is a JSON object. */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value);
}
