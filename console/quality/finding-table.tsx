import type { Schemas } from '../api/client.js';
import { count, percent } from '../shared/format.js';
import { Table } from '../parts/table.js';
import { text } from '../strings.js';

/** A table of the findings of scans or checked writes, most frequent first, each with a bar for its share. */
export function FindingTable({
  findings,
  of,
  chosen,
  to,
}: {
  readonly findings: readonly Schemas['Finding'][];
  /** Number of checked entities. */
  readonly of: number;
  /** Position of the finding whose entities are shown. */
  readonly chosen?: number | undefined;
  /** Returns the address of a finding's entities; without it, rows are not links. */
  readonly to?: (position: number) => string;
}) {
  const t = text.quality;
  return (
    <Table
      label={text.labels.findings}
      columns={[t.columns.detail, { number: t.columns.entities }, t.columns.share]}
    >
      {findings.map(({ domain, model, pointer, keyword, detail, entities }, position) => (
        <tr
          key={JSON.stringify([domain, model, pointer, keyword, detail])}
          {...(position === chosen ? { 'aria-current': 'true' as const } : {})}
        >
          <td class="prose">
            {to === undefined ? detail : <a href={to(position)}>{detail}</a>}
            <p class="hint">
              <code>{pointer === '' ? t.entity : pointer}</code> ·{' '}
              {domain === '' ? model : `${domain}/${model}`}
            </p>
          </td>
          <td class="number">{count(entities)}</td>
          <td class="when">
            <meter min={0} max={Math.max(1, of)} value={entities} aria-hidden="true" />
            {percent(entities, of)}
          </td>
        </tr>
      ))}
    </Table>
  );
}
