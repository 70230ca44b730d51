import { positionsOf } from '../../shared/json/json-positions.js';
import { tokensOf } from '../../shared/json/json.js';
import { GatewayError } from '../../shared/errors.js';
import { TaskFailedError, WorkersBusyError } from '../../shared/workers/errors.js';
import { StoreUnavailableError } from '../../store/index.js';
import { IncompatibleChangeError } from '../models/errors.js';
import { type ChangeReport, worst } from '../json-schema/differences.js';
import type { ImportedFile } from './shapes.js';

/** Errors that are not caused by the imported files; they end the import. */
const OUTAGES = [StoreUnavailableError, WorkersBusyError, TaskFailedError];

/** Maximum number of faults in a reason. */
const MAX_FAULTS = 3;

/** Maximum number of differences of a model in a report. */
const MAX_DIFFERENCES = 20;

export type Refusal = Pick<ImportedFile, 'reason' | 'line' | 'change' | 'differences'> & {
  readonly status: 'refused';
  readonly reason: string;
};

/**
 * Explains a refusal to a person: the sentence of the error, what is wrong in which line, and what to do.
 *
 * @param text of the file, to find line numbers
 * @param base pointer to the content of the file, within the input of the service
 * @throws the error itself, if the imported files did not cause it
 */
export function refusalOf(error: unknown, text: string | undefined, base: string): Refusal {
  if (!(error instanceof GatewayError) || OUTAGES.some((outage) => error instanceof outage)) throw error;
  const { errors = [], missing = [] } = error.members;
  const places = errors.map(({ pointer }) =>
    pointer.startsWith(base) ? pointer.slice(base.length) : pointer,
  );
  const lines =
    text === undefined
      ? []
      : positionsOf(
          text,
          places.map((place) => tokensOf(place) ?? []),
        );
  const [first] = lines;
  const listed = missing.length > 0 ? [] : errors.slice(0, MAX_FAULTS);
  const details = listed.flatMap(({ detail }, index) => {
    const place = places[index] ?? '';
    if (place !== '') return [`${place}: ${detail}`];
    // Often the sentence of the error already says what is wrong with the whole document.
    return error.message.includes(detail.replace(/\.$/, '')) ? [] : [detail];
  });
  const more =
    errors.length > listed.length && listed.length > 0 ? ` (and ${errors.length - listed.length} more)` : '';
  const reason = [
    sentence(error.message),
    ...(details.length === 0 ? [] : [sentence(details.join('; ') + more)]),
    ...(missing.length === 0 ? [] : [MISSING_ADVICE]),
  ].join(' ');
  return {
    status: 'refused',
    reason,
    ...(first === undefined || errors.length === 0 ? {} : { line: first.line }),
    ...(error instanceof IncompatibleChangeError ? changeOf(error.report) : {}),
  };
}

const MISSING_ADVICE =
  'Import them together with it, e.g. the repository that contains them, ' +
  'or store each with PUT /api/v2/references?uri=…, and import again.';

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** Adds to an entry how a changed context affects the model. */
export function withChange<Entry extends Pick<ImportedFile, 'change' | 'differences'>>(
  entry: Entry,
  { overall, differences }: ChangeReport,
): Entry {
  if (differences.length === 0) return entry;
  const { change: own, differences: others = [] } = entry;
  const kinds = own === undefined ? [overall] : [overall, own];
  return { ...entry, ...changeOf({ overall: worst(kinds), differences: [...differences, ...others] }) };
}

/** Returns the worst class of the differences, and the first differences. */
export function changeOf({
  overall,
  differences,
}: ChangeReport): Pick<ImportedFile, 'change' | 'differences'> {
  return { change: overall, differences: differences.slice(0, MAX_DIFFERENCES) };
}
