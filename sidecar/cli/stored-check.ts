import type { ApiClient } from '../client/client.js';
import type { Schemas } from '../client/operations.js';
import { defined } from '../shared/defined.js';
import type { CliContext } from './context.js';
import { CliError, EXIT, failure, usage } from './exit-codes.js';
import { formatCount, formatItems, printable } from './format.js';
import { encode } from './query-text.js';
import {
  createGatewayScanBackend,
  type EndedScan,
  findingsTable,
  followScan,
  scanExitCode,
  type ScanRequest,
} from './scan-command.js';
import { linkHeader } from '../client/purges.js';
import type { Candidate } from './stored-candidates.js';

export interface StoredOptions {
  /** Checks the broker's entities against the new versions. */
  readonly stored?: boolean;
  readonly tenant?: string;
  /** URL of the @context for the names in the entities. */
  readonly link?: string;
}

/** The effect of a new version of a model on the broker's entities. */
export interface StoredVerdict {
  readonly domain: string;
  readonly model: string;
  readonly types: readonly string[];
  readonly scan: string;
  readonly state: Schemas['Scan']['state'];
  readonly checked: number;
  readonly refused: number;
  /** How many of `refused` the current version refuses as well. The change breaks the others. */
  readonly alreadyInvalid: number;
  /** Whether `alreadyInvalid` may be too low: a scan keeps the ids of only 10,000 entities per finding. */
  readonly isAtLeast?: true;
  readonly notJudged: number;
  readonly findings: Schemas['Scan']['findings'];
  /** Ids of entities that would be refused, at most {@link MAX_IDS}. Those that the change breaks come first. */
  readonly ids: readonly string[];
  readonly warnings: readonly string[];
}

const MAX_IDS = 1000;
/** Maximum number of ids in text output. */
const MAX_SHOWN = 20;
/** Number of entities of a finding to read at a time. */
const PAGE = 1000;

/**
 * For each candidate in turn, scans the entities of its types and judges them by the candidate. Ctrl+C cancels the scan.
 *
 * @throws CliError, also if a scan does not finish
 */
export async function checkStored(
  candidates: readonly Candidate[],
  { tenant, link }: StoredOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<readonly StoredVerdict[]> {
  const backend = createGatewayScanBackend(gateway, context);
  const verdicts: StoredVerdict[] = [];
  for (const { domain, model, schema, types, exists } of candidates) {
    const name = `${domain}/${model}`;
    const current = {
      query: `type=${types.map((type) => encode(type.replaceAll('%', '%25'))).join(',')}`,
      ...defined({ tenant, link: link && linkHeader(link) }),
      model: name,
    };
    const invalidBy = async (request: ScanRequest): Promise<ScanResult> => {
      const ended = await followScan(request, backend, context);
      requireEnd(ended, name);
      const { record } = ended;
      return { record, ids: record.invalid === 0 ? new Set() : await idsOf(record, gateway) };
    };
    const next = await invalidBy({ ...current, schema });
    const before = exists && next.record.invalid > 0 ? await invalidBy(current) : undefined;
    const { id: scan, state, checked, invalid: refused, notJudged, findings, warnings } = next.record;
    verdicts.push({
      domain,
      model,
      types,
      scan,
      state,
      checked,
      refused,
      notJudged,
      findings,
      // There is no need to warn that a new model has no entities yet.
      warnings: exists || checked + notJudged > 0 ? warnings : [],
      ...comparedWith(before, next),
    });
  }
  return verdicts;
}

/** A scan that has ended, and the ids of the invalid entities, as far as the scan kept them. */
interface ScanResult {
  readonly record: Schemas['Scan'];
  readonly ids: ReadonlySet<string>;
}

/**
 * Separates the entities that only the new version refuses from those that the current version refuses, too.
 *
 * @param before the scan by the current version; undefined if there was none
 */
function comparedWith(
  before: ScanResult | undefined,
  next: ScanResult,
): Pick<StoredVerdict, 'alreadyInvalid' | 'isAtLeast' | 'ids'> {
  const already = [...next.ids].filter((id) => before?.ids.has(id) === true);
  const broken = [...next.ids].filter((id) => before?.ids.has(id) !== true);
  const isWhole = [before, next].every((one) => one === undefined || one.ids.size >= one.record.invalid);
  return {
    alreadyInvalid: already.length,
    ...(isWhole || before?.record.invalid === 0 ? {} : { isAtLeast: true }),
    ids: [...broken, ...already].slice(0, MAX_IDS),
  };
}

/** Requires `--stored` if there are other options for stored entities. */
export function requireStored({ stored, tenant, link }: StoredOptions): void {
  if (stored === true || (tenant === undefined && link === undefined)) return;
  throw usage(`${tenant === undefined ? '--link' : '--tenant'} needs --stored.`);
}

/** Whether it is certain that no stored entity would be refused. */
export function areAllAccepted(verdicts: readonly StoredVerdict[]): boolean {
  return verdicts.every(({ state, refused }) => refused === 0 && state === 'succeeded');
}

/** Formats what new versions would refuse, for people. */
export function storedLines(verdicts: readonly StoredVerdict[]): readonly string[] {
  return verdicts.flatMap((verdict) => {
    const { domain, model, types, scan, state, checked, refused, notJudged, findings, ids, warnings } =
      verdict;
    const { alreadyInvalid, isAtLeast } = verdict;
    const already =
      refused === 0 || (alreadyInvalid === 0 && isAtLeast !== true)
        ? ''
        : `; ${isAtLeast === true ? 'at least ' : ''}${formatCount(alreadyInvalid)} of them ${alreadyInvalid === 1 ? 'is' : 'are'} invalid already`;
    const shown = ids.slice(0, MAX_SHOWN);
    const more = refused - shown.length;
    const others = notJudged > 0 ? `, ${formatCount(notJudged)} not judged` : '';
    const part = state === 'succeeded' ? '' : `, but not all were checked (${state})`;
    return [
      printable(
        `${domain}/${model} would refuse ${formatCount(refused)} of ` +
          `${formatItems(checked, 'stored entities')} of type ${types.join(', ')}${already}${others}${part}.`,
      ),
      ...findingsTable(findings).map((line) => `  ${line}`),
      ...shown.map((id, index) =>
        printable(`  ${id}${index < refused - alreadyInvalid ? '' : '  (invalid already)'}`),
      ),
      ...(more > 0 ? [`  … ${formatCount(more)} more: GET /api/v2/scans/${scan}/entities?finding=0`] : []),
      ...warnings.map((warning) => printable(`  Warning: ${warning}`)),
    ];
  });
}

function requireEnd(ended: EndedScan, label: string): void {
  const { record } = ended;
  const code = scanExitCode(ended, Infinity);
  if (code === EXIT.done || code === EXIT.partial) return;
  if (record.state === 'cancelled')
    throw new CliError(code, `The scan for ${label} was cancelled. Nothing was changed.`);
  const { detail = '' } = (record.problem ?? {}) as { readonly detail?: string };
  const end = code === EXIT.refused ? 'was refused' : record.state;
  const message = printable(`The scan for ${label} ${end}. ${detail}`);
  throw code === EXIT.refused ? new CliError(code, message) : failure(message);
}

/** Returns the ids of the entities in all findings. An entity may be in several findings. */
async function idsOf({ id, findings }: Schemas['Scan'], gateway: ApiClient): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const finding of findings.keys())
    for (let offset = 0; ; offset += PAGE) {
      const query = { finding, limit: PAGE, offset };
      const { items, total } = await gateway.page('/scans/{scan}/entities', { path: { scan: id }, query });
      for (const one of items) ids.add(one.id);
      if (offset + PAGE >= total) break;
    }
  return ids;
}
