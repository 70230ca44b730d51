import { ButtonLink } from '../parts/button.js';
import { api, type Schemas } from '../api/client.js';
import { Listing, usePagedList } from '../parts/listing.js';
import { Page } from '../parts/page.js';
import { StateChip } from '../parts/purge-table.js';
import { readableQuery } from '../../sidecar/shared/readable-query.js';
import { time } from '../shared/format.js';
import { routeTo } from '../shared/router.js';
import { Table } from '../parts/table.js';
import { text } from '../strings.js';
import { PolicyEditor } from './policy-editor.js';
import { ModeChip, PolicyPage } from './policy-page.js';
import { nextRuns } from './schedule.js';

/** The name in the address of the form for a new policy; no policy can have it. */
const NEW = '+';

/** The list of retention policies, or the one that the address names. */
export function RetentionPage({
  name,
  step,
  params,
}: {
  readonly name: string | undefined;
  readonly step: string | undefined;
  readonly params: URLSearchParams;
}) {
  if (name === NEW) return <PolicyEditor key={NEW} />;
  if (name !== undefined) return <PolicyPage key={name} name={name} step={step} />;
  return <PolicyList params={params} />;
}

function PolicyList({ params }: { readonly params: URLSearchParams }) {
  const t = text.retention;
  const list = usePagedList(params, 'policies', (query, signal) =>
    api.page('/retention-policies', { query, signal }),
  );
  return (
    <Page
      title={text.pages.retention}
      lead={t.lead}
      actions={<ButtonLink href={routeTo(['retention', NEW])} label={t.create} />}
    >
      <Listing
        list={list}
        to={(one) => routeTo(['retention'], { page: one })}
        empty={
          <>
            <p>{t.empty}</p>
            <a href={routeTo(['retention', NEW])}>{t.create}</a>
          </>
        }
      >
        {(items) => (
          <Table
            label={text.pages.retention}
            columns={[
              text.labels.name,
              text.labels.mode,
              text.labels.query,
              t.fields.olderThan,
              t.lastRun,
              t.nextRun,
            ]}
          >
            {items.map((policy) => (
              <tr key={policy.name}>
                <td class="name">
                  <a href={routeTo(['retention', policy.name])}>{policy.name}</a>
                </td>
                <td>
                  <ModeChip policy={policy} />
                </td>
                <td class="query">
                  <code class="clamped">{readableQuery(policy.query)}</code>
                </td>
                <td>
                  {policy.olderThan} · {policy.by}
                </td>
                <td>
                  {policy.lastRun === undefined ? (
                    <span class="quiet">{t.neverRan}</span>
                  ) : (
                    <LastRun run={policy.lastRun} />
                  )}
                </td>
                <td class="when">{policy.enabled ? nextOf(policy.schedule, policy.timeZone) : t.off}</td>
              </tr>
            ))}
          </Table>
        )}
      </Listing>
    </Page>
  );
}

/** The result of a run, and when it was. */
function LastRun({ run }: { readonly run: NonNullable<Schemas['ListedRetentionPolicy']['lastRun']> }) {
  const t = text.retention;
  const { id, state, createdAt, deleted, matched, dryRun } = run;
  return (
    <>
      <StateChip state={state} />{' '}
      <a href={routeTo(['history', id])}>{dryRun ? t.wouldGo(matched) : t.deleted(deleted)}</a>
      <br />
      <span class="quiet">{time(createdAt)}</span>
    </>
  );
}

function nextOf(schedule: string, timeZone: string): string {
  const [next] = nextRuns(schedule, timeZone, 1, new Date()) ?? [];
  return next === undefined ? text.retention.badSchedule : time(next.getTime());
}
