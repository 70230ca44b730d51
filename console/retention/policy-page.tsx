import { useState } from 'preact/hooks';
import { Button, ButtonLink } from '../parts/button.js';
import { api, isConflict, type Purge, type RetentionPolicy, type WithETag } from '../api/client.js';
import { Page, PendingPage } from '../parts/page.js';
import { Card, PropertyList } from '../parts/card.js';
import { PurgeTable } from '../parts/purge-table.js';
import { Failure, Pending } from '../parts/states.js';
import { ConfirmButton } from '../parts/dialog.js';
import { optionsIn, purgeOption, type OptionIn } from '../../sidecar/shared/purge-options.js';
import { readableQuery } from '../../sidecar/shared/readable-query.js';
import { count, rate, time } from '../shared/format.js';
import { replaceAddress, routeTo } from '../shared/router.js';
import { useLoad, useAction } from '../shared/hooks.js';
import { ForRole } from '../parts/for-role.js';
import { text } from '../strings.js';
import { previewPolicy, readPolicy, removePolicy, runPolicy, writePolicy } from './policies-api.js';
import { PreviewDialog, PolicyPreview, PolicySample } from './policy-preview.js';
import { ENFORCE, PolicyEditor } from './policy-editor.js';
import { withMode } from './policy-form.js';
import { nextRuns } from './schedule.js';
import { Sparkline } from '../parts/sparkline.js';
import { Table } from '../parts/table.js';

const CRUMBS = [[routeTo(['retention']), text.retention.back]] as const;

const RUNS_EVERY_MS = 5000;

/** One policy: its settings, its next runs, what it matches now, and the results of its runs. */
export function PolicyPage({ name, step }: { readonly name: string; readonly step: string | undefined }) {
  const { value, error, reload } = useLoad(name, (signal) => readPolicy(name, signal));
  // The view of a changed policy is a new component, which would not know this.
  const [hadConflict, setHadConflict] = useState(false);
  const read = (isOther: boolean) => {
    setHadConflict(isOther);
    reload();
  };
  if (value === undefined) return <PendingPage title={name} crumbs={CRUMBS} {...{ error, reload }} />;
  if (step === 'edit') return <PolicyEditor key={value.etag} read={value} onSaved={reload} />;
  return (
    <PolicyView
      key={value.etag}
      read={value}
      isToEnforce={step === ENFORCE}
      hadConflict={hadConflict}
      onChanged={() => read(false)}
      onConflict={() => read(true)}
    />
  );
}

type Asking = 'enforce' | 'run';

interface PolicyViewProps {
  readonly read: WithETag<RetentionPolicy>;
  /** Whether the address asks to enforce the policy. */
  readonly isToEnforce: boolean;
  /** Whether the policy was changed elsewhere, and was therefore read again. */
  readonly hadConflict: boolean;
  readonly onChanged: () => void;
  readonly onConflict: () => void;
}

function PolicyView({ read, isToEnforce, hadConflict, onChanged, onConflict }: PolicyViewProps) {
  const { value: policy, etag } = read;
  const { name, mode, schedule, timeZone } = policy;
  const t = text.retention;
  const [asking, setAsking] = useState<Asking | undefined>(
    isToEnforce && mode === 'report' ? 'enforce' : undefined,
  );
  const work = useAction();
  const close = () => {
    setAsking(undefined);
    // Otherwise the question would be asked again once the policy has changed.
    if (isToEnforce) replaceAddress(routeTo(['retention', name]));
  };
  const run = async () => {
    location.hash = routeTo(['purge', (await runPolicy(name, etag)).id]);
  };
  const attempt = (action: () => Promise<unknown>) =>
    work.run(() =>
      action().catch((failure: unknown) => {
        if (isConflict(failure)) onConflict();
        throw failure;
      }),
    );
  const setMode = async (next: 'report' | 'enforce') => {
    await writePolicy(name, withMode(policy, next), etag);
    close();
    onChanged();
  };
  return (
    <Page
      title={name}
      crumbs={CRUMBS}
      lead={policy.description}
      actions={
        <>
          <ModeChip policy={policy} />
          <ButtonLink href={routeTo(['retention', name, 'edit'])} label={text.labels.edit} />
          <ForRole roles={['purger']}>
            {mode === 'report' ? (
              <>
                <Button aria-disabled={work.isBusy} onClick={() => attempt(run)} label={t.runReport} />
                <Button class="danger" onClick={() => setAsking('enforce')} label={t.enforce} />
              </>
            ) : (
              <>
                <Button class="danger" onClick={() => setAsking('run')} label={t.run} />
                <Button
                  aria-disabled={work.isBusy}
                  onClick={() => attempt(() => setMode('report'))}
                  label={t.report}
                />
              </>
            )}
            <ConfirmButton
              label={text.labels.remove}
              title={t.removeTitle(name)}
              tenant={policy.tenant ?? ''}
              message={t.removeWhat}
              confirm={text.labels.removePolicy}
              onConfirm={async () => {
                await removePolicy(name, etag);
                location.hash = routeTo(['retention']);
              }}
              onConflict={onConflict}
            />
          </ForRole>
        </>
      }
    >
      {hadConflict && (
        <p class="notice warn" role="alert">
          {text.state.conflict} {t.shownAnew}
        </p>
      )}
      {work.error !== undefined && <Failure error={work.error} />}
      <div class="columns">
        <Card id="next" title={t.next}>
          <NextRuns policy={policy} />
          <h2 class="second">{t.settings}</h2>
          <Settings policy={policy} />
        </Card>
        <Preview policy={policy} etag={etag} />
      </div>
      <Runs name={name} />
      {asking !== undefined && (
        <PreviewDialog
          name={name}
          tenant={policy.tenant ?? ''}
          {...(asking === 'enforce'
            ? {
                title: t.enforceTitle(name),
                message: t.enforceWhat(schedule, timeZone),
                confirm: t.enforceGo,
              }
            : { title: t.runTitle(name), message: t.runWhat, confirm: t.runGo })}
          cancel={asking === 'enforce' ? t.enforceCancel : text.cancel}
          onClose={close}
          onConfirm={asking === 'enforce' ? () => setMode('enforce') : run}
          onConflict={onConflict}
        />
      )}
    </Page>
  );
}

/** Whether a policy deletes. */
export function ModeChip({ policy: { mode, enabled } }: { readonly policy: RetentionPolicy }) {
  const t = text.retention;
  return (
    <>
      <span class={mode === 'enforce' ? 'chip bad' : 'chip calm'}>
        {mode === 'enforce' ? t.enforcing : t.reporting}
      </span>
      {!enabled && <span class="chip">{t.off}</span>}
    </>
  );
}

function NextRuns({ policy: { enabled, schedule, timeZone } }: { readonly policy: RetentionPolicy }) {
  const t = text.retention;
  if (!enabled) return <p class="quiet">{t.noNext}</p>;
  const next = nextRuns(schedule, timeZone, 3, new Date());
  if (next === undefined) return <p class="wrong">{t.badSchedule}</p>;
  return (
    <Table label={t.next} columns={[t.nextLocal, t.nextPolicy(timeZone)]}>
      {next.map((at) => (
        <tr key={at.getTime()}>
          <td>{time(at.getTime())}</td>
          <td>{time(at.getTime(), timeZone)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** Formats the value of an option for people. */
function optionText(name: OptionIn<'retention'>, value: number | string | undefined): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  return purgeOption(name).unit === 'items per second' ? rate(value) : count(value);
}

function Settings({ policy }: { readonly policy: RetentionPolicy }) {
  const f = text.retention.fields;
  return (
    <PropertyList
      rows={[
        [text.labels.target, policy.target],
        [text.labels.query, readableQuery(policy.query)],
        [text.labels.tenant, policy.tenant],
        [f.olderThan, policy.olderThan],
        [text.labels.by, policy.by],
        [text.labels.schedule, policy.schedule],
        ...optionsIn('retention').map(
          (name) => [purgeOption(name).label ?? name, optionText(name, policy[name])] as const,
        ),
        [f.maxGrowth, String(policy.maxGrowth)],
        [f.caller, `${policy.caller}, ${time(policy.modifiedAt)}`],
      ]}
    />
  );
}

function Preview({ policy, etag }: { readonly policy: RetentionPolicy; readonly etag: string }) {
  const { name } = policy;
  const { value, error, reload, isLoading } = useLoad(`${name} ${etag}`, (signal) =>
    previewPolicy(name, signal),
  );
  return (
    <Card id="preview" title={text.labels.preview} isBusy={isLoading}>
      <Pending {...{ value, error, reload }} />
      {value !== undefined && (
        <>
          <PolicyPreview preview={value} />
          <PolicySample preview={value} settings={policy} />
        </>
      )}
    </Card>
  );
}

function Runs({ name }: { readonly name: string }) {
  const t = text.retention;
  const { value, error, reload } = useLoad(
    name,
    (signal) =>
      api.page('/retention-policies/{retentionPolicy}/runs', {
        path: { retentionPolicy: name },
        query: { limit: 20 },
        signal,
      }),
    RUNS_EVERY_MS,
  );
  const matches = (value?.items ?? []).map((run: Purge) => run.matched).reverse();
  return (
    <Card id="runs" title={t.runs}>
      <Pending {...{ value, error, reload }} />
      {value !== undefined && value.items.length === 0 && <p class="quiet">{t.noRuns}</p>}
      {matches.length > 1 && matches.some((matched) => matched > 0) && (
        <figure class="sparkline">
          <Sparkline values={matches} label={t.matches(matches)} />
          <figcaption aria-hidden="true">{t.matchesTo(matches.length, Math.max(...matches))}</figcaption>
        </figure>
      )}
      {value !== undefined && value.items.length > 0 && <PurgeTable purges={value.items} label={t.runs} />}
    </Card>
  );
}
