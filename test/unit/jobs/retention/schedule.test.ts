import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkSchedule, nextDue } from '../../../../sidecar/jobs/retention/schedule.js';
import { QueryRefusedError } from '../../../../sidecar/purge/errors.js';

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

describe('a schedule', () => {
  it('a daily schedule is due once on each day of a year, both changes of the clocks included', () => {
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

  it('a schedule is next due after the given time, and never at it', () => {
    const at = Date.parse('2026-06-01T03:00:00Z');
    assert.equal(nextDue({ schedule: '0 3 * * *', timeZone: 'UTC' }, at), at + 86_400_000);
    assert.equal(nextDue({ schedule: '0 3 * * *', timeZone: 'UTC' }, at - 1), at);
  });

  it('a schedule is refused when it is not a cron pattern of five fields, is never due, or has no valid time zone', () => {
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
});
