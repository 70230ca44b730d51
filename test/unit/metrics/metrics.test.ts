import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createMetrics } from '../../../sidecar/metrics/metrics.js';
import { idle, seriesOf, valueOf } from './series.js';

const DONE = { deleted: 7, alreadyGone: 2, failed: 1, unknown: 3 };

it('the metrics of purges count each end by target, outcome and dry run, and the items by their result', async () => {
  const metrics = createMetrics(idle());
  metrics.purges.started('entities');
  metrics.purges.ended('entities', 'partial', DONE);
  metrics.purges.started('temporal');
  metrics.purges.ended('temporal', 'succeeded', { ...DONE, failed: 0 });
  const text = await metrics.text();
  assert.equal(valueOf(text, 'purges_started_total', { target: 'temporal' }), 1);
  assert.equal(
    valueOf(text, 'purges_total', { target: 'entities', outcome: 'partial', dry_run: 'false' }),
    1,
  );
  for (const [result, count] of Object.entries({ deleted: 7, already_gone: 2, failed: 1, unknown: 3 }))
    assert.equal(valueOf(text, 'purge_items_total', { target: 'entities', result }), count);
  assert.equal(valueOf(text, 'purge_items_total', { target: 'temporal', result: 'failed' }), 0);
});

it('the metrics of retention count runs by policy and outcome, and have the time of the last success', async () => {
  const metrics = createMetrics(idle());
  const before = Date.now() / 1000;
  metrics.retention.ran('old-vehicles', 'succeeded');
  for (const outcome of ['held_back', 'held_back', 'skipped'] as const)
    metrics.retention.ran('sensors', outcome);
  const text = await metrics.text();
  assert.equal(valueOf(text, 'retention_runs_total', { policy: 'sensors', outcome: 'held_back' }), 2);
  assert.equal(valueOf(text, 'retention_runs_total', { policy: 'sensors', outcome: 'skipped' }), 1);
  const last = (policy: string) => valueOf(text, 'retention_last_success_timestamp_seconds', { policy });
  assert.ok((last('old-vehicles') ?? 0) >= before);
  assert.equal(last('sensors'), undefined);
});

it('the counts of an enabled retention policy exist before its first run, so that an alert sees the first failure', async () => {
  const metrics = createMetrics(idle());
  metrics.retention.enabled('nightly');
  metrics.retention.ran('nightly', 'refused');
  metrics.retention.enabled('nightly');
  const text = await metrics.text();
  for (const outcome of ['partial', 'failed', 'interrupted', 'held_back', 'skipped', 'not_begun'])
    assert.equal(valueOf(text, 'retention_runs_total', { policy: 'nightly', outcome }), 0, outcome);
  assert.equal(valueOf(text, 'retention_runs_total', { policy: 'nightly', outcome: 'refused' }), 1);
});

it('the count of requests without the token exists from startup, so that an alert sees the first one', async () => {
  const metrics = createMetrics(idle());
  assert.equal(valueOf(await metrics.text(), 'requests_refused_total', { reason: 'token' }), 0);
});

it('the metrics of purges add no items for a dry run', async () => {
  const metrics = createMetrics(idle());
  metrics.purges.ended('entities', 'succeeded', { ...DONE, dryRun: true });
  const text = await metrics.text();
  const labels = { target: 'entities', outcome: 'succeeded' };
  assert.equal(valueOf(text, 'purges_total', { ...labels, dry_run: 'true' }), 1);
  assert.equal(valueOf(text, 'purges_total', { ...labels, dry_run: 'false' }), 0);
  assert.equal(valueOf(text, 'purge_items_total', { target: 'entities', result: 'deleted' }), 0);
});

it('the metrics of purges count retries and lost records', async () => {
  const metrics = createMetrics(idle());
  metrics.purges.retried();
  metrics.purges.retried();
  metrics.purges.recordLost();
  const text = await metrics.text();
  assert.equal(valueOf(text, 'purge_retries_total', {}), 2);
  assert.equal(valueOf(text, 'purge_records_lost_total', {}), 1);
});

it('the metrics of purges exist before the first purge, for every target, outcome and result', async () => {
  const text = await createMetrics(idle()).text();
  for (const target of ['entities', 'temporal']) {
    assert.equal(valueOf(text, 'purges_started_total', { target }), 0);
    for (const outcome of ['succeeded', 'partial', 'failed', 'cancelled', 'refused', 'interrupted'])
      assert.equal(valueOf(text, 'purges_total', { target, outcome, dry_run: 'false' }), 0, outcome);
    for (const result of ['deleted', 'already_gone', 'failed', 'unknown'])
      assert.equal(valueOf(text, 'purge_items_total', { target, result }), 0, result);
  }
  assert.equal(valueOf(text, 'purge_retries_total', {}), 0);
  assert.equal(valueOf(text, 'purge_records_lost_total', {}), 0);
});

it('the metrics of requests count aborted requests separately, each method by its name, and refusals by reason', async () => {
  const metrics = createMetrics(idle());
  metrics.requests.brokerAnswered({ method: 'DELETE', status: undefined, noAnswer: 'cut_off', ms: 1 });
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    metrics.requests.passedThrough({ method, status: 304, ms: 1 });
  for (const reason of ['host', 'loop', 'host']) metrics.requests.refused(reason);
  const text = await metrics.text();
  const cutOff = { method: 'DELETE', status_class: 'cut_off' };
  assert.equal(valueOf(text, 'broker_request_duration_seconds_count', cutOff), 1);
  assert.equal(valueOf(text, 'broker_request_duration_seconds_sum', cutOff), 0.001);
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    assert.equal(
      valueOf(text, 'pass_through_duration_seconds_count', { method, status_class: '3xx' }),
      1,
      method,
    );
  assert.equal(valueOf(text, 'requests_refused_total', { reason: 'host' }), 2);
  assert.equal(valueOf(text, 'requests_refused_total', { reason: 'loop' }), 1);
});

it('the metrics of requests count answers of the broker by class, and requests without an answer by failure', async () => {
  const metrics = createMetrics(idle());
  for (const status of [200, 204, 404, 503])
    metrics.requests.brokerAnswered({ method: 'GET', status, ms: 20 });
  for (const noAnswer of ['timeout', 'unreachable', 'too_large', undefined])
    metrics.requests.brokerAnswered({ method: 'GET', status: undefined, noAnswer, ms: 20 });
  const text = await metrics.text();
  for (const [status_class, count] of Object.entries({
    '2xx': 2,
    '4xx': 1,
    '5xx': 1,
    timeout: 1,
    unreachable: 1,
    too_large: 1,
    other: 1,
  })) {
    assert.equal(
      valueOf(text, 'broker_request_duration_seconds_count', { method: 'GET', status_class }),
      count,
      status_class,
    );
  }
});

it('the metrics of requests measure durations in seconds', async () => {
  const metrics = createMetrics(idle());
  metrics.requests.passedThrough({ method: 'GET', status: 200, ms: 1500 });
  const labels = { method: 'GET', status_class: '2xx' };
  const text = await metrics.text();
  assert.equal(valueOf(text, 'pass_through_duration_seconds_sum', labels), 1.5);
  assert.equal(valueOf(text, 'pass_through_duration_seconds_bucket', { le: '1', ...labels }), 0);
  assert.equal(valueOf(text, 'pass_through_duration_seconds_bucket', { le: '2.5', ...labels }), 1);
});

it('the number of series of requests stays bounded, whatever methods and statuses clients and brokers invent', async () => {
  const metrics = createMetrics(idle());
  for (let n = 0; n < 200; n += 1)
    metrics.requests.passedThrough({ method: `M${n}`, status: 600 + n, ms: 1 });
  metrics.requests.passedThrough({ method: 'GET', status: undefined, ms: 1 });
  const counts = seriesOf(await metrics.text()).filter(
    ({ name }) => name === 'ngsild_gateway_pass_through_duration_seconds_count',
  );
  assert.deepEqual(
    counts.map(({ labels, value }) => [labels, value]),
    [
      [{ method: 'other', status_class: 'other' }, 200],
      [{ method: 'GET', status_class: 'broken_off' }, 1],
    ],
  );
});

it('gauges are read at each request for the metrics', async () => {
  let running = 3;
  let isUp = true;
  const metrics = createMetrics({
    ...idle(),
    purgesRunning: () => running,
    purgesQueued: async () => 9,
    workers: () => ({ waiting: 5, running: 2 }),
    isStoreUp: async () => isUp,
  });
  const first = await metrics.text();
  assert.equal(valueOf(first, 'purges_running', {}), 3);
  assert.equal(valueOf(first, 'purges_queued', {}), 9);
  assert.equal(valueOf(first, 'worker_tasks_waiting', {}), 5);
  assert.equal(valueOf(first, 'worker_tasks_running', {}), 2);
  assert.equal(valueOf(first, 'store_up', {}), 1);
  running = 0;
  isUp = false;
  const second = await metrics.text();
  assert.equal(valueOf(second, 'purges_running', {}), 0);
  assert.equal(valueOf(second, 'store_up', {}), 0);
});

it('each gateway has its own metrics', async () => {
  const [one, other] = [createMetrics(idle()), createMetrics(idle())];
  one.purges.retried();
  assert.equal(valueOf(await one.text(), 'purge_retries_total', {}), 1);
  assert.equal(valueOf(await other.text(), 'purge_retries_total', {}), 0);
});

it('all metrics have finite values and prefixed names from the first request on', async () => {
  const series = seriesOf(await createMetrics(idle()).text());
  assert.ok(series.length > 30);
  for (const { name, value } of series) {
    assert.match(name, /^ngsild_gateway_/);
    assert.ok(Number.isFinite(value) && value < 1e18, `${name} ${value}`);
  }
  for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds'])
    assert.ok(series.some((one) => one.name === `ngsild_gateway_${name}`, name));
});

it('concurrent readers share one text of the metrics, and later readers get a new one', async () => {
  let looks = 0;
  const metrics = createMetrics({
    ...idle(),
    isStoreUp: async () => {
      looks += 1;
      return true;
    },
  });
  const texts = await Promise.all(Array.from({ length: 50 }, async () => metrics.text()));
  assert.equal(looks, 1);
  assert.equal(new Set(texts).size, 1);
  metrics.purges.retried();
  const later = await metrics.text();
  assert.equal(looks, 2);
  assert.notEqual(later, texts[0]);
});

it('the text of the metrics is built again after a failure', async () => {
  let isBroken = true;
  const metrics = createMetrics({
    ...idle(),
    isStoreUp: async () => {
      if (isBroken) throw new Error('broken');
      return true;
    },
  });
  await assert.rejects(metrics.text(), /broken/);
  isBroken = false;
  assert.match(await metrics.text(), /store_up 1/);
});
