import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ClientDisconnectedError } from '../../../sidecar/jobs/errors.js';
import { observeJobs } from '../../../sidecar/jobs/job-log.js';
import type { PurgeRecord } from '../../../sidecar/store/job-records.js';
import { recordOf } from '../../support/purge-service.js';

const DRAFT = recordOf({ caller: 'ann', requestId: 'r-1', tenant: 'city' });
const RECORD: PurgeRecord = {
  ...DRAFT,
  matched: 6,
  deleted: 1,
  alreadyGone: 2,
  failed: 3,
  unknown: 4,
  arrived: 5,
  requests: 7,
  retries: 8,
  startedAt: '2026-01-01T00:00:01.000Z',
  endedAt: '2026-01-01T00:00:03.500Z',
};
const ASKED = {
  purgeId: RECORD.id,
  reqId: 'r-1',
  target: 'entities',
  tenant: 'city',
  query: 'type=T',
  caller: 'ann',
  dryRun: false,
};
const CAME = {
  matched: 6,
  deleted: 1,
  alreadyGone: 2,
  failed: 3,
  unknown: 4,
  arrived: 5,
  requests: 7,
  retries: 8,
};
const FORESEEN = new Error('foreseen');

function logOf() {
  const lines: (readonly [string, object, string])[] = [];
  const runs: (readonly [string, string])[] = [];
  const log = observeJobs(
    {
      info: (fields, message) => lines.push(['info', fields, message]),
      warn: (fields, message) => lines.push(['warn', fields, message]),
      error: (fields, message) => lines.push(['error', fields, message]),
    },
    {
      purges: {
        started: () => {},
        deleted: () => {},
        ended: () => {},
        restored: () => {},
        recordLost: () => {},
      },
      scans: { ended: () => {} },
      retention: { ran: (policy, outcome) => runs.push([policy, outcome]) },
    },
    (error) => error === FORESEEN,
  );
  return { log, lines, runs };
}

it('the log of a purge says at its start who requested it, and the query', () => {
  const { log, lines } = logOf();
  log.started(RECORD);
  assert.deepEqual(lines, [['info', ASKED, 'purge started']]);
});

it('the log of a purge says at its end the result, the duration, and who or what ended it', () => {
  const problem = (status: number) => ({ type: 'about:blank', title: 'x', status, detail: 'because' });
  const ended = (state: PurgeRecord['state'], status?: number) => ({
    ...RECORD,
    state,
    ...(status === undefined ? {} : { problem: problem(status) }),
  });
  const bug = new Error('a bug');
  const cases: readonly (readonly [PurgeRecord, unknown, string, string, object?])[] = [
    [ended('partial'), undefined, 'info', 'purge finished'],
    [ended('interrupted'), undefined, 'info', 'purge interrupted'],
    [ended('cancelled'), new ClientDisconnectedError('gone'), 'info', 'purge stopped: its caller is gone'],
    [ended('cancelled'), new Error('any'), 'info', 'purge stopped: it was cancelled'],
    [ended('failed'), FORESEEN, 'info', 'purge refused', { reason: undefined }],
    [ended('failed', 500), FORESEEN, 'warn', 'purge ended early', { err: FORESEEN, status: 500 }],
    [ended('refused', 499), FORESEEN, 'info', 'purge refused', { reason: 'because', status: 499 }],
    [ended('refused', 501), FORESEEN, 'info', 'purge refused', { reason: 'because', status: 501 }],
    [ended('failed', 500), bug, 'error', 'purge failed', { err: bug, status: 500 }],
  ];
  for (const [record, error, level, message, more] of cases) {
    const { log, lines } = logOf();
    log.ended(record, error);
    const fields = { ...ASKED, ...CAME, state: record.state, durationMs: 2500, ...more };
    assert.deepEqual(lines, [[level, fields, message]]);
  }
  const { log, lines } = logOf();
  log.ended({ ...DRAFT, state: 'refused' }, FORESEEN);
  const durations = lines.map(([, fields]) => (fields as { durationMs?: number }).durationMs);
  assert.deepEqual(durations, [0], 'it never began');
});

it('the log names the brokers for which jobs wait, and some of the jobs, in one line', () => {
  const { log, lines } = logOf();
  const jobs = Array.from({ length: 25 }, (_, n) => ({
    record: { ...RECORD, id: String(n) },
    broker: n === 0 ? 'http://a' : 'http://b',
  }));
  log.waitingForOtherBroker(jobs);
  const purgeIds = Array.from({ length: 20 }, (_, n) => String(n));
  const fields = { brokers: ['http://a', 'http://b'], jobs: 25, purgeIds };
  assert.deepEqual(lines, [
    ['warn', fields, 'jobs wait for a broker other than the one that BROKER_URL names'],
  ]);
});

it('the log says when the broker becomes unavailable and available again, and skips all other events', () => {
  const { log, lines } = logOf();
  log.event(RECORD, { type: 'broker-away' });
  log.event(RECORD, { type: 'counted', matches: 1 });
  log.event(RECORD, { type: 'broker-back', afterMs: 50 });
  const fields = { purgeId: RECORD.id, reqId: 'r-1' };
  assert.deepEqual(lines, [
    ['warn', fields, 'broker away: the purge waits for it'],
    ['info', { ...fields, afterMs: 50 }, 'broker back: the purge goes on'],
  ]);
});

it('the end of a run of a retention policy is counted by its outcome, and held-back runs separately', () => {
  const { log, runs } = logOf();
  log.ended({ ...RECORD, state: 'succeeded' });
  log.ended({ ...RECORD, state: 'partial', retentionPolicy: 'nightly' });
  log.ended({ ...RECORD, state: 'succeeded', retentionPolicy: 'nightly', heldBack: true });
  assert.deepEqual(runs, [
    ['nightly', 'partial'],
    ['nightly', 'held_back'],
  ]);
});
