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
      columns={[
        { number: t.columns.entities },
        t.columns.share,
        text.labels.model,
        t.columns.place,
        t.columns.detail,
      ]}
    >
      {findings.map(({ domain, model, pointer, keyword, detail, entities }, position) => (
        <tr
          key={JSON.stringify([domain, model, pointer, keyword, detail])}
          {...(position === chosen ? { 'aria-current': 'true' as const } : {})}
        >
          <td class="number">{count(entities)}</td>
          <td>
            <meter min={0} max={Math.max(1, of)} value={entities} aria-hidden="true" />
            {percent(entities, of)}
          </td>
          <td>{`${domain}/${model}`}</td>
          <td>
            <code>{pointer === '' ? t.entity : pointer}</code>
          </td>
          <td>{to === undefined ? detail : <a href={to(position)}>{detail}</a>}</td>
        </tr>
      ))}
    </Table>
  );
}
