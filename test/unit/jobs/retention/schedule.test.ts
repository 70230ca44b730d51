import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nextRuns } from '../../../../console/retention/schedule.js';
import { checkSchedule, nextDue } from '../../../../sidecar/jobs/retention/schedule.js';
import { QueryRefusedError } from '../../../../sidecar/purge/index.js';

const YEAR_START = Date.parse('2026-01-01T00:00:00Z');
const YEAR_END = Date.parse('2027-01-01T00:00:00Z');

/** All times at which a schedule is due, by the clocks of Berlin. */
function timesOf(schedule: string, from = YEAR_START, to = YEAR_END): readonly number[] {
  const times: number[] = [];
  for (let at = from; ;) {
    at = nextDue({ schedule, timeZone: 'Europe/Berlin' }, at) ?? to;
    if (at >= to) return times;
    times.push(at);
  }
}

const inBerlin = new Intl.DateTimeFormat('sv', {
  timeZone: 'Europe/Berlin',
  dateStyle: 'short',
  timeStyle: 'short',
});

it('a daily schedule is due once on each day of a year, including both changes of the clocks', () => {
  for (const [schedule, usual] of [
    ['0 3 * * *', '03:00'],
    ['30 2 * * *', '02:30'],
  ] as const) {
    const local = timesOf(schedule).map((at) => inBerlin.format(at).split(' '));
    assert.equal(local.length, 365);
    assert.equal(new Set(local.map(([day]) => day)).size, 365);
    const others = local.filter(([, time]) => time !== usual);
    // On 2026-03-29 there is no 02:30.
    assert.deepEqual(others, usual === '02:30' ? [['2026-03-29', '03:00']] : []);
  }
});

it('an hourly schedule is due every hour, whatever the clocks do', () => {
  for (const day of ['2026-03-29', '2026-10-25']) {
    const from = Date.parse(`${day}T00:00:00Z`) - 1;
    const times = timesOf('0 * * * *', from, from + 86_400_000);
    assert.equal(times.length, 24, day);
    for (const [index, at] of times.slice(1).entries()) assert.equal(at - (times[index] ?? 0), 3_600_000);
  }
});

it('a schedule is next due after the given time, and never at the given time', () => {
  const at = Date.parse('2026-06-01T03:00:00Z');
  assert.equal(nextDue({ schedule: '0 3 * * *', timeZone: 'UTC' }, at), at + 86_400_000);
  assert.equal(nextDue({ schedule: '0 3 * * *', timeZone: 'UTC' }, at - 1), at);
});

it('a schedule has fields of numbers, names, *, lists, ranges and steps, in any case and with any blanks', () => {
  for (const [schedule, times] of [
    ['0,30 8-9 1 1 *', ['08:00', '08:30', '09:00', '09:30']],
    ['*/20,5 0 1 jan *', ['00:00', '00:05', '00:20', '00:40']],
    ['10-30/10 7 1 JAN-mar,DEC *', ['07:10', '07:20', '07:30']],
    [' 0\t6-22/8  * *  thu ', ['06:00', '14:00', '22:00']],
    ['0 4 * * Mon-Fri,0', ['04:00']],
    ['*/30 5 * */12 *', ['05:00', '05:30']],
  ] as const) {
    const from = Date.parse('2026-01-01T00:00:00+01:00') - 1;
    const local = timesOf(schedule, from, from + 86_400_000).map((at) => inBerlin.format(at));
    assert.deepEqual(
      local,
      times.map((time) => `2026-01-01 ${time}`),
      schedule,
    );
    assert.equal(nextRuns(schedule, 'Europe/Berlin', 1, new Date(from))?.length, 1);
  }
});

it('a schedule with a day of the month and a day of the week is due on either', () => {
  const days = timesOf('0 3 13 1 fri', YEAR_START, YEAR_END).map((at) => inBerlin.format(at).slice(8, 10));
  assert.deepEqual(days, ['02', '09', '13', '16', '23', '30']);
});

it('a schedule with a step of * beside another day, which crons read differently, is refused with advice', () => {
  for (const schedule of ['0 0 */2 * 1', '0 0 1 * */2', '0 0 */2 * */2', '0 0 1,*/9 * mon'])
    assert.throws(
      () => checkSchedule({ schedule, timeZone: 'UTC' }, YEAR_START),
      (error) => error instanceof QueryRefusedError && /1-31\/2/.test(error.message),
      schedule,
    );
  for (const schedule of ['0 0 */2 * *', '0 0 * * */2', '0 0 1-31/2 * 1', '*/5 */2 1 */3 1'])
    checkSchedule({ schedule, timeZone: 'UTC' }, YEAR_START);
});

it('a schedule accepts the name of each month and of each day of the week, as it accepts their numbers', () => {
  const from = Date.parse('2026-01-01T00:00:00Z') - 1;
  const due = (schedule: string) => nextDue({ schedule, timeZone: 'UTC' }, from) ?? assert.fail(schedule);
  const names = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
  for (const [index, name] of names.entries())
    assert.equal(due(`0 0 1 ${name} *`), Date.UTC(2026, index, 1), name);
  for (const [index, name] of 'sun mon tue wed thu fri sat'.split(' ').entries()) {
    assert.equal(due(`0 0 * * ${name}`), due(`0 0 * * ${String(index)}`), name);
    assert.equal(new Date(due(`0 0 * * ${name}`)).getUTCDay(), index);
  }
});

const REFUSED = [
  '@yearly; @annually; @monthly; @weekly; @daily; @midnight; @hourly; @reboot; @Daily; 0 3 * *',
  '* * * * * *; 0 0 3 * * *; 0 3 * * * 2027; 0 0 3 * * * 2027; * * * * * * *; 0 3 ? * *; 0 3 * * ?',
  '0 3 L * *; 0 3 LW * *; 0 3 15W * *; 0 3 * * 5L; 0 3 * * 5#2; 0 3 * * MON#1; 0 3 1 * +1',
  '0 3 * * LLL; 0 3 * * WED#L; 2026-05-01T00:00:00; H 3 * * *; 0 3 MON * *; JAN 3 * * *',
  '0 3 * MON *; 0 3 * * JAN; 0 3 * * Monday; 5/15 3 * * *; 000 3 * * *; 0 3 * * *,; 0 3 * * 1,,2',
  '0 3 * * 5-1; */0 3 * * *; 0 3 32 * *; 0 24 * * *',
].flatMap((line) => line.split('; '));

for (const schedule of REFUSED)
  it(`a schedule is refused, and the console cannot read it: ${schedule}`, () => {
    assert.throws(
      () => checkSchedule({ schedule, timeZone: 'UTC' }, YEAR_START),
      (error) => error instanceof QueryRefusedError && error.parameter === 'schedule',
    );
    assert.equal(nextRuns(schedule, 'UTC', 1, new Date(YEAR_START)), undefined);
  });

it('a schedule is refused if it is not a cron pattern of five fields, is never due, or has no valid time zone', () => {
  for (const [schedule, timeZone, member] of [
    ['', 'UTC', 'schedule'],
    ['daily', 'UTC', 'schedule'],
    ['* * * * * *', 'UTC', 'schedule'],
    ['61 * * * *', 'UTC', 'schedule'],
    ['0 0 30 2 *', 'UTC', 'schedule'],
    ['0 3 * * *', 'Mars/Olympus', 'timeZone'],
    ['0 3 * * *', '', 'timeZone'],
  ] as const) {
    assert.throws(
      () => checkSchedule({ schedule, timeZone }, YEAR_START),
      (error) => error instanceof QueryRefusedError && error.parameter === member,
      `${schedule} ${timeZone}`,
    );
  }
});
