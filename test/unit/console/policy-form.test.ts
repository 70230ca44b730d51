import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { RetentionPolicy, RetentionSettings } from '../../../console/api/client.js';
import {
  formOfPolicy,
  NEW_POLICY,
  settingsOf,
  unitOfPreview,
  withMode,
} from '../../../console/retention/policy-form.js';
import { nextRuns } from '../../../console/retention/schedule.js';

const SETTINGS: RetentionSettings & Pick<RetentionPolicy, 'timeZone'> = {
  target: 'temporal',
  query: 'type=Car',
  tenant: 'madrid',
  link: '<u>',
  olderThan: 'P1D',
  by: 'observedAt',
  schedule: '5 4 * * 1',
  timeZone: 'Europe/Madrid',
  maxAffected: 7,
  maxPerSecond: 9,
  maxGrowth: 4,
  enabled: false,
  description: 'Old cars',
};

const POLICY: RetentionPolicy = {
  ...SETTINGS,
  maxGrowth: 4,
  enabled: false,
  name: 'old-cars',
  mode: 'enforce',
  caller: 'me',
  createdAt: '2026-01-01T00:00:00Z',
  modifiedAt: '2026-01-01T00:00:00Z',
};

const LEAST_SETTINGS = {
  target: 'entities',
  query: 'type=Car',
  olderThan: 'P1D',
  by: 'modifiedAt',
  schedule: '0 3 * * *',
  timeZone: 'UTC',
  maxGrowth: 3,
  enabled: true,
  mode: 'report',
} as const;

const LEAST: RetentionPolicy = {
  ...LEAST_SETTINGS,
  name: 'old-cars',
  caller: 'me',
  createdAt: '2026-01-01T00:00:00Z',
  modifiedAt: '2026-01-01T00:00:00Z',
};

it('a policy that is saved from the form is put in report mode and otherwise unchanged', () => {
  assert.deepEqual(settingsOf(formOfPolicy(POLICY), POLICY), { ...SETTINGS, mode: 'report' });
  assert.deepEqual(settingsOf(formOfPolicy(LEAST), LEAST), LEAST_SETTINGS);
});

it('a policy whose mode is changed is otherwise unchanged', () => {
  for (const mode of ['report', 'enforce'] as const) {
    assert.deepEqual(withMode(POLICY, mode), { ...SETTINGS, mode });
    assert.deepEqual(withMode(LEAST, mode), { ...settingsOf(formOfPolicy(LEAST)), mode });
  }
});

it('the age may be typed as 90d, and is sent in the form of the API', () => {
  for (const [typed, sent] of [
    [' 90d ', 'P90D'],
    ['6mo', 'P6M'],
    ['P1Y', 'P1Y'],
    ['90', '90'],
  ] as const)
    assert.equal(settingsOf({ ...NEW_POLICY, olderThan: typed }).olderThan, sent);
});

it('each field is sent as it was typed, without surrounding blanks', () => {
  for (const name of ['query', 'olderThan', 'by', 'schedule', 'timeZone', 'tenant', 'description'] as const)
    assert.equal(settingsOf({ ...NEW_POLICY, [name]: ' x ' })[name], 'x', name);
  assert.equal(settingsOf({ ...NEW_POLICY, target: 'temporal' }).target, 'temporal');
  assert.equal(settingsOf({ ...NEW_POLICY, enabled: false }).enabled, false);
});

it('an invalid number is left for the gateway to refuse, and an emptied one is not sent', () => {
  for (const name of ['maxAffected', 'maxPerSecond', 'maxGrowth'] as const) {
    const sent = (typed: string) => settingsOf({ ...formOfPolicy(POLICY), [name]: typed }, POLICY)[name];
    assert.equal(sent(' 12 '), 12);
    assert.equal(sent('0'), 0);
    assert.equal(sent('many'), 'many');
    assert.equal(sent('1,000'), '1,000');
    assert.equal(sent(' '), undefined);
  }
});

it('emptied texts are not sent, and the context of the policy stays', () => {
  const sent = settingsOf({ ...formOfPolicy(POLICY), tenant: ' ', description: '' }, POLICY);
  assert.ok(!('tenant' in sent) && !('description' in sent));
  assert.equal(sent.link, '<u>');
  assert.ok(!('link' in settingsOf(formOfPolicy(POLICY))));
});

it('a new policy reports each night what is older than ninety days, and may grow threefold', () => {
  assert.deepEqual(settingsOf({ ...NEW_POLICY, query: 'type=A' }), {
    target: 'entities',
    query: 'type=A',
    olderThan: 'P90D',
    by: 'modifiedAt',
    schedule: '0 3 * * *',
    timeZone: 'UTC',
    maxGrowth: 3,
    enabled: true,
    mode: 'report',
  });
});

it('a preview counts in the unit of the gateway, and in attributes if only attributes are removed', () => {
  assert.equal(unitOfPreview({ query: 'type=A', unit: 'instances' }), 'instances');
  assert.equal(unitOfPreview({ query: 'type=A&drop=b' }), 'attributes');
  assert.equal(unitOfPreview({ query: 'type=A' }), 'entities');
});

const from = new Date('2026-11-23T10:00:00Z');
const next = (schedule: string, zone = 'UTC', many = 1) =>
  nextRuns(schedule, zone, many, from)?.map((at) => at.toISOString());

it('the next runs are those after now, in the time zone of the policy', () => {
  assert.deepEqual(next('0 3 * * *', 'UTC', 3), [
    '2026-11-24T03:00:00.000Z',
    '2026-11-25T03:00:00.000Z',
    '2026-11-26T03:00:00.000Z',
  ]);
  assert.deepEqual(next('0 3 * * *', 'Europe/Madrid'), ['2026-11-24T02:00:00.000Z']);
  assert.deepEqual(next('0 10 * * *'), ['2026-11-24T10:00:00.000Z']);
});

it('each field of a schedule accepts lists, ranges, steps and names, as the gateway does', () => {
  for (const schedule of [
    '*/5 * * * *',
    '0,30 * * * *',
    '1-5/2 * * * *',
    '0 0-23/2 * * *',
    '0 0 1,15 * *',
    '0 0 1 jan *',
    '0 0 1 JAN-MAR *',
    '0 0 * * mon-fri',
    '0 0 * * SUN',
    '0\t0  * * *',
    ' 0 0 * * * ',
    ...['feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'].map(
      (month) => `0 0 1 ${month} *`,
    ),
    ...['tue', 'wed', 'thu', 'sat'].map((day) => `0 0 * * ${day}`),
  ])
    assert.equal(next(schedule)?.length, 1, schedule);
});

it('a schedule that the gateway refuses has no next run', () => {
  for (const schedule of [
    '',
    '* * * *',
    '0 0 3 * * *',
    '@daily',
    '0 3 L * *',
    '0 3 * * 1#2',
    '0 3 ? * *',
    '0 3 15W * *',
    '60 * * * *',
    '0 24 * * *',
    '0 3 * * noday',
    '0 3 mon * *',
    '0\n3 * * *',
    '100 * * * *',
  ])
    assert.equal(next(schedule), undefined, schedule);
  assert.equal(next('0 3 * * *', 'Nowhere/City'), undefined);
});
