import { api } from '../api/client.js';
import { MergeEditor } from '../editor/merge-editor.js';
import { Pending } from '../parts/states.js';
import { useLoad } from '../shared/hooks.js';
import { text } from '../strings.js';
import { ChangeList } from './change-report.js';
import { shownJson } from '../parts/json-text.js';
import { MODEL, pathOf, readModel, type ModelKey } from './models-api.js';

/** Compares two versions of a model side by side, and shows what the changes mean. */
export function VersionCompare({
  of,
  from,
  to,
}: {
  readonly of: ModelKey;
  readonly from: number;
  readonly to: number;
}) {
  const t = text.models;
  const { value, error, reload } = useLoad(`${of.domain}/${of.name} ${from} ${to}`, async (signal) => {
    const [diff, older, newer] = await Promise.all([
      api.json('get', `${MODEL}/versions/diff`, { path: pathOf(of), query: { from, to }, signal }),
      readModel(of, signal, from),
      readModel(of, signal, to),
    ]);
    return { diff, older: older.value, newer: newer.value };
  });
  if (error !== undefined || value === undefined) return <Pending {...{ value, error, reload }} />;
  return (
    <div class="compared">
      <MergeEditor
        label={t.compared(from, to)}
        older={{ label: t.versionName(from), value: shownJson(value.older.schema) }}
        newer={{ label: t.versionName(to), value: shownJson(value.newer.schema) }}
      />
      <div>
        <h3>{t.report}</h3>
        <ChangeList report={value.diff.change} />
      </div>
    </div>
  );
}
