import { Button } from '../parts/button.js';
import { allPages, api, type WithETag } from '../api/client.js';
import { Card } from '../parts/card.js';
import { Select } from '../parts/fields.js';
import { Failure, Pending } from '../parts/states.js';
import { time } from '../shared/format.js';
import { getDraft, setDraft } from '../shared/drafts.js';
import { useLoad, useAction } from '../shared/hooks.js';
import { replaceAddress } from '../shared/router.js';
import { Table } from '../parts/table.js';
import { text } from '../strings.js';
import { ChangeChip } from './change-report.js';
import { shownJson } from '../parts/json-text.js';
import { draftName, type SchemaDraft } from './model-schema.js';
import { addressIn, MODEL, pathOf, readModel, type Model } from './models-api.js';
import { toModel } from './routes.js';
import { VersionCompare } from './version-compare.js';

/** The versions of a model, newest first, and a comparison of two of them. */
export function ModelVersions({
  read,
  params,
}: {
  readonly read: WithETag<Model>;
  readonly params: URLSearchParams;
}) {
  const t = text.models;
  const model = read.value;
  const restoring = useAction();
  const { value, error, reload } = useLoad(`${model.domain}/${model.name}`, (signal) =>
    allPages((query) => api.page(`${MODEL}/versions`, { path: pathOf(model), query, signal })),
  );
  const compare = (one: number, other: number) =>
    replaceAddress(toModel(model, 'versions', { from: String(one), to: String(other) }));
  // The old version becomes the draft of the next one; the schema page then shows what saving it would change.
  const restore = async (version: number) => {
    if (getDraft(draftName(model)) !== undefined) throw new Error(t.restoreBlocked);
    const { value: older } = await readModel(model, undefined, version);
    const draft: SchemaDraft = { text: shownJson(older.schema), etag: read.etag };
    setDraft(draftName(model), draft);
    location.hash = toModel(model, 'schema');
  };
  if (error !== undefined || value === undefined) return <Pending {...{ value, error, reload }} />;
  const versions = [...value].reverse();
  // The address may name versions that do not exist. The fields show only those that do.
  const named = (name: string) =>
    versions.find(({ version }) => String(version) === params.get(name))?.version;
  const to = named('to') ?? model.version;
  const from = named('from') ?? Math.max(1, to - 1);
  const choices = versions.map(({ version }) => [String(version), t.versionName(version)] as const);
  return (
    <>
      <Card id="versions" title={t.parts.versions}>
        <Table
          label={t.parts.versions}
          isTall
          columns={[
            t.version,
            text.labels.created,
            text.labels.by,
            t.change,
            text.labels.description,
            t.dialect,
            t.size,
            { hidden: t.compare },
          ]}
        >
          {versions.map((one) => (
            <tr key={one.version}>
              <td>
                <a
                  href={addressIn(model, ['schema'], { version: String(one.version) })}
                  aria-label={t.versionName(one.version)}
                  target="_blank"
                  rel="noopener"
                >
                  {one.version}
                </a>
                {one.version === model.version && <span class="chip good">{t.current}</span>}
              </td>
              <td class="when">{time(one.createdAt)}</td>
              <td>{one.caller ?? '–'}</td>
              <td>{one.change === undefined ? '–' : <ChangeChip of={one.change} />}</td>
              <td class="prose">{one.description}</td>
              <td>{one.dialect}</td>
              <td class="when">{t.bytes(one.size)}</td>
              <td>
                {one.version > 1 && (
                  <Button
                    class="small"
                    onClick={() => compare(one.version - 1, one.version)}
                    label={t.compareWith(one.version - 1)}
                  />
                )}
                {one.version < model.version && (
                  <Button
                    class="small"
                    aria-disabled={restoring.isBusy}
                    onClick={() => restoring.run(() => restore(one.version))}
                    label={t.restore(one.version)}
                  />
                )}
              </td>
            </tr>
          ))}
        </Table>
        {restoring.error !== undefined && <Failure error={restoring.error} />}
      </Card>
      {model.version > 1 && (
        <Card id="compare" title={t.compare}>
          <div class="filters">
            <Select
              label={text.labels.from}
              value={String(from)}
              choices={choices}
              onInput={(one) => compare(Number(one), to)}
            />
            <Select
              label={text.labels.to}
              value={String(to)}
              choices={choices}
              onInput={(one) => compare(from, Number(one))}
            />
          </div>
          {from === to ? (
            <p class="quiet">{t.sameVersion}</p>
          ) : (
            <VersionCompare key={`${from} ${to}`} of={model} from={from} to={to} />
          )}
        </Card>
      )}
    </>
  );
}
