import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Button, ButtonLink } from '../parts/button.js';
import { api, ApiError, type Problem, UnreachableError, type Purge } from '../api/client.js';
import { isFinal } from '../../sidecar/client/purges.js';
import { readableQuery } from '../../sidecar/shared/readable-query.js';
import { Page, PendingPage } from '../parts/page.js';
import { Card } from '../parts/card.js';
import { ForRole } from '../parts/for-role.js';
import { StateChip } from '../parts/purge-table.js';
import { Failure } from '../parts/states.js';
import { count, duration, rate } from '../shared/format.js';
import { routeTo } from '../shared/router.js';
import { useAction } from '../shared/hooks.js';
import { counted, text } from '../strings.js';
import { formOf } from './form.js';
import { failureText, progressOf } from './progress.js';
import { RateChart } from './rate-chart.js';
import { averageRate, usePurge } from './use-purge.js';
import { RecordDetails } from './record-details.js';
import { addressOfForm } from './purge-page.js';
import { Throttle, type Rate } from './throttle.js';
import { Archive } from './archive.js';

/** One purge: its progress, rate, failures and record. The purge continues without this page. */
export function PurgeDetails({ id }: { readonly id: string }) {
  const { record, rates, isBroken, error, retry, show } = usePurge(id);
  const progress = useRef<HTMLHeadingElement>(null);
  const crumbs = [[routeTo(['history']), text.run.back]] as const;
  if (record === undefined)
    return <PendingPage title={text.pages.purge} crumbs={crumbs} error={error} reload={retry} />;
  const { target, query, tenant, link, state } = record;
  const isOver = isFinal(record);
  const average = averageRate(record);
  const t = text.run;
  return (
    <Page
      title={record.dryRun ? t.dryTitle : target === 'restore' ? t.restoreTitle : text.pages.purge}
      crumbs={crumbs}
      actions={
        <>
          <span role="status">
            <StateChip state={state} />
          </span>
          {target !== 'restore' && (
            <ButtonLink href={addressOfForm(formOf(target, query, { tenant, link }))} label={t.again} />
          )}
        </>
      }
    >
      {record.restoreOf !== undefined && (
        <p>
          <a href={routeTo(['purge', record.restoreOf])}>{text.undo.of}</a>
        </p>
      )}
      <pre class="request" tabIndex={0} aria-label={text.labels.query}>
        {readableQuery(query)}
      </pre>
      {error !== undefined && <Failure error={error} onRetry={retry} />}
      {isBroken && (
        <p class="notice warn" role="status">
          {t.reconnecting}
        </p>
      )}
      <section class="card" aria-labelledby="progress">
        <h2 id="progress" ref={progress} tabIndex={-1}>
          {t.progress}
        </h2>
        <Progress record={record} />
        {state !== 'refused' && <Counts record={record} />}
        {!isOver && <p class="quiet">{t.leave}</p>}
        {!isOver && (
          <Controls record={record} onChanged={show} onFocusLost={() => progress.current?.focus()} />
        )}
      </section>
      {record.problem !== undefined && (
        <Failure
          error={new ApiError(record.problem as unknown as Problem, undefined)}
          title={state === 'refused' ? t.whyRefused : t.why}
          isStored
        />
      )}
      {(!isOver || rates.length > 1 || average !== undefined) && !record.dryRun && (
        <Card id="rate" title={t.rate}>
          {!isOver && record.ratePerSecond !== undefined && <p>{t.rateNow(rate(record.ratePerSecond))}</p>}
          {average !== undefined && <p>{t.rateAverage(rate(average))}</p>}
          {(!isOver || rates.length > 1) && <RateChart rates={rates} />}
        </Card>
      )}
      <Failures record={record} />
      {isOver && record.archive !== undefined && <Archive record={record} />}
      <RecordDetails record={record} />
    </Page>
  );
}

function Progress({ record }: { readonly record: Purge }) {
  const t = text.run;
  if (record.state === 'refused') return <p>{t.refused}</p>;
  if (record.dryRun) return null;
  const { settled, all, isKnown, leftMs } = progressOf(record);
  if (record.state === 'succeeded' && all === 0) return <p>{t.nothing}</p>;
  const words = isKnown
    ? t.of(count(settled), counted(all, record.unit))
    : t.soFar(counted(settled, record.unit));
  return (
    <div class="progress">
      <progress aria-labelledby="progress" {...(isKnown ? { value: settled, max: Math.max(1, all) } : {})} />
      <p>
        {words}
        {leftMs !== undefined && <span class="quiet"> · {t.left(duration(leftMs))}</span>}
      </p>
    </div>
  );
}

function Counts({ record }: { readonly record: Purge }) {
  return (
    <dl class="counts">
      {countsOf(record).map((name) => {
        const isBad = (name === 'failed' || name === 'unknown') && record[name] > 0;
        return (
          <div key={name} class={isBad ? 'bad' : undefined}>
            <dt>{name === 'matched' && !isFinal(record) ? text.run.matchedSoFar : text.run.counts[name]}</dt>
            <dd>{count(record[name] ?? 0)}</dd>
          </div>
        );
      })}
    </dl>
  );
}

/** Returns the counts that are meaningful for a record. */
function countsOf({ target, dryRun }: Purge): readonly (keyof typeof text.run.counts)[] {
  if (target === 'restore')
    return [
      'matched',
      'restored',
      'alreadyThere',
      ...(dryRun ? (['different'] as const) : (['failed', 'unknown'] as const)),
    ];
  return dryRun ? ['matched'] : ['matched', 'deleted', 'alreadyGone', 'failed', 'unknown', 'arrived'];
}

function Controls({
  record,
  onChanged,
  onFocusLost,
}: {
  readonly record: Purge;
  readonly onChanged: (record: Purge) => void;
  /** Called if the controls have the focus when they disappear, because the purge has ended. */
  readonly onFocusLost: () => void;
}) {
  const controls = useRef<HTMLDivElement>(null);
  const loseFocus = useRef(onFocusLost);
  useLayoutEffect(
    () => () => {
      if (controls.current?.contains(document.activeElement) === true) loseFocus.current();
    },
    [],
  );
  const { error, run, clear } = useAction();
  const isCancelling = record.state === 'cancelling';
  // A new record shows that the gateway can be reached again.
  useEffect(() => {
    if (error instanceof UnreachableError) clear();
  }, [record]);
  const path = { purge: record.id };
  const cancel = async () => onChanged(await api.json('post', '/purges/{purge}/cancel', { path }));
  const throttle = async (body: Rate) => {
    const changed = await api.json('patch', '/purges/{purge}', { path, body });
    onChanged(changed);
    return changed;
  };
  return (
    <div class="controls" ref={controls}>
      <ForRole roles={['purger']}>
        {!record.dryRun && <Throttle job={record} change={throttle} />}
        {/* A disabled button would lose the focus. */}
        <Button
          class="danger"
          aria-disabled={isCancelling}
          onClick={() => isCancelling || run(cancel)}
          label={text.run.cancel}
        />
      </ForRole>
      {isCancelling && <p class="quiet">{text.run.cancelled}</p>}
      {error !== undefined && <Failure error={error} />}
    </div>
  );
}

function Failures({ record }: { readonly record: Purge }) {
  const t = text.run;
  const errors = record.errors as readonly Readonly<Record<string, unknown>>[];
  const all = record.failed + record.unknown;
  return (
    <>
      {errors.length > 0 && (
        <Card id="failures" title={t.failures}>
          {all > errors.length && <p class="quiet">{t.failuresShown(errors.length, all)}</p>}
          <ul class="failures" tabIndex={0} aria-labelledby="failures">
            {errors.map(failureText).map(({ name, words }, index) => (
              <li key={index}>
                <code>{name}</code>
                <span>{words}</span>
              </li>
            ))}
          </ul>
        </Card>
      )}
      {record.warnings.length > 0 && (
        <Card id="warnings" title={text.labels.warnings}>
          <ul>
            {record.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}
