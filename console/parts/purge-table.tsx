import type { Purge } from '../api/client.js';
import { readableQuery } from '../../sidecar/shared/readable-query.js';
import { count, time } from '../shared/format.js';
import { routeTo } from '../shared/router.js';
import { Table } from './table.js';
import { text } from '../strings.js';

/** A table of purges with a link to the record of each. */
export function PurgeTable({ purges, label }: { readonly purges: readonly Purge[]; readonly label: string }) {
  const { columns, dry, policyRun } = text.history;
  return (
    <Table
      label={label}
      columns={[
        text.labels.requested,
        text.labels.state,
        text.labels.query,
        { number: columns.matched },
        { number: columns.deleted },
        text.labels.caller,
      ]}
    >
      {purges.map((purge) => (
        <tr key={purge.id}>
          <td class="when">{time(purge.createdAt)}</td>
          <td>
            <StateChip state={purge.state} />
            {purge.dryRun && <span class="chip">{dry}</span>}
          </td>
          <td class="query">
            <a class="clamped" href={routeTo(['history', purge.id])}>
              {queryText(purge)}
            </a>
          </td>
          <td class="number">{count(purge.matched)}</td>
          <td class="number">{purge.dryRun || purge.target === 'restore' ? '–' : count(purge.deleted)}</td>
          <td>
            {purge.retentionPolicy === undefined ? (
              purge.caller
            ) : (
              <a href={routeTo(['retention', purge.retentionPolicy])}>{policyRun(purge.retentionPolicy)}</a>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** The query of a purge, with its tenant, and what it is for if that is not to delete entities. */
function queryText({ target, query, tenant }: Purge): string {
  return [
    target === 'entities' ? undefined : target,
    query === '' ? '?' : readableQuery(query),
    tenant && `@ ${tenant}`,
  ]
    .filter((part) => part !== undefined && part !== '')
    .join(' ');
}

const COLORS = {
  queued: 'calm',
  running: 'busy',
  cancelling: 'busy',
  succeeded: 'good',
  partial: 'warn',
  failed: 'bad',
  cancelled: 'calm',
  refused: 'warn',
  interrupted: 'warn',
} as const satisfies Record<Purge['state'], string>;

/** The states of a purge, as the API names them. */
export const JOB_STATES = Object.keys(COLORS) as readonly Purge['state'][];

/** The state of a purge, with a colour. */
export function StateChip({ state }: Pick<Purge, 'state'>) {
  return <span class={`chip ${COLORS[state]}`}>{state}</span>;
}
