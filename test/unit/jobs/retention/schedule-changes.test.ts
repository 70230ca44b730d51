import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nextRuns } from '../../../../console/retention/schedule.js';
import { nextDue } from '../../../../sidecar/jobs/retention/schedule.js';
import { processorTimer } from '../../../support/processor-time.js';
import { isThorough } from '../../../support/thoroughness.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Changes like others: by an hour, and at midnight. */
const FURTHER = [
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['Asia/Beirut', '2026-03-29'],
  ['Asia/Beirut', '2026-10-25'],
  ['America/Havana', '2026-11-01'],
] as const;

/** Changes of clocks: by an hour, by half an hour, at midnight, and permanent changes of a zone. */
const CHANGES = [
  ['Europe/Madrid', '2026-03-29'],
  ['Europe/Madrid', '2026-10-25'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['America/Santiago', '2026-09-06'],
  ['America/Santiago', '2026-04-05'],
  ['Africa/Casablanca', '2026-03-22'],
  ['UTC', '2026-03-29'],
  ...(isThorough ? FURTHER : []),
] as const;

const SCHEDULES = [
  '30 2 * * *; 0 0 * * *; 30 23 * * *; 0,30 2 * * *; 0,15,30,45 1-3 * * *; */20 2 * * *',
  '0 */2 * * *; 10 1,2,3 * * *; 5-50/15 0,2,23 * * *; * 2 * * *; 0 2-4/2 * * *; 30 2 * * 0',
  '0 * * * *; */15 * * * *; 15,45 */1 * * *; 30 0-23 * * 0; 0 0 30 12 *',
].flatMap((line) => line.split('; '));

/** The numbers that a field of a schedule includes. Written for these schedules only. */
function numbersIn(field: string): ReadonlySet<number> {
  const numbers = field.split(',').flatMap((item) => {
    const [range = '', step = '1'] = item.split('/');
    const [from = NaN, to = from] = range === '*' ? [0, 59] : range.split('-').map(Number);
    return Array.from(
      { length: Math.floor((to - from) / Number(step)) + 1 },
      (_, n) => from + n * Number(step),
    );
  });
  return new Set(numbers);
}

/** Returns the test whether a schedule includes the time that the clocks show, given as if in UTC. */
function namedBy(schedule: string): (wall: number) => boolean {
  const [minutes, hours, days, months, weekdays] = schedule.split(' ').map(numbersIn);
  return (wall) => {
    const shown = new Date(wall);
    return (
      minutes?.has(shown.getUTCMinutes()) === true &&
      hours?.has(shown.getUTCHours()) === true &&
      days?.has(shown.getUTCDate()) === true &&
      months?.has(shown.getUTCMonth() + 1) === true &&
      weekdays?.has(shown.getUTCDay()) === true
    );
  };
}

/** The time that the clocks of a zone show at each minute. */
function clocksOf(timeZone: string, fromMs: number, toMs: number): ReadonlyMap<number, number> {
  const format = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const shown = new Map<number, number>();
  for (let at = fromMs; at < toMs; at += MINUTE_MS)
    shown.set(at, Date.parse(`${format.format(at).replace(' ', 'T')}Z`));
  return shown;
}

/** The times at which a schedule is due, found by checking each minute. */
function dueByMinutes(schedule: string, clocks: ReadonlyMap<number, number>): readonly number[] {
  const all = [...clocks];
  const isNamed = namedBy(schedule);
  const [minute = '', hour = ''] = schedule.split(' ');
  if (/[*/]/.test(minute + hour)) return all.filter(([, wall]) => isNamed(wall)).map(([at]) => at);
  const due = new Set<number>();
  const first = all[0]?.[1] ?? 0;
  let latest = first;
  for (const [at, wall] of all) {
    // All times that the clocks have not shown until now: usually only this minute.
    for (let missed = Math.max(latest, first); missed <= wall; missed += MINUTE_MS)
      if (isNamed(missed)) due.add(at);
    latest = Math.max(latest, wall + MINUTE_MS);
  }
  return [...due];
}

for (const [timeZone, day] of CHANGES)
  it(`a schedule is due at the times of its clocks around the change: ${timeZone} ${day}`, () => {
    const fromMs = Date.parse(`${day}T00:00:00Z`) - DAY_MS / 2;
    const toMs = fromMs + 2 * DAY_MS;
    const clocks = clocksOf(timeZone, fromMs, toMs);
    for (const schedule of SCHEDULES) {
      const expected = dueByMinutes(schedule, clocks);
      const found: number[] = [];
      for (let at = fromMs - 1; ;) {
        at = nextDue({ schedule, timeZone }, at) ?? toMs;
        if (at >= toMs) break;
        found.push(at);
      }
      const iso = (times: readonly number[]) => times.map((at) => new Date(at).toISOString());
      assert.deepEqual(iso(found), iso(expected), schedule);
      const shown = nextRuns(schedule, timeZone, 3, new Date(fromMs - 1)) ?? [];
      assert.deepEqual(
        shown.filter((at) => at.getTime() < toMs).map((at) => at.getTime()),
        found.slice(0, 3),
      );
    }
  });

it('a schedule of times of day is due once for all times in a gap, and once for times that the clocks show twice', () => {
  const dueOn = (schedule: string, day: string) => {
    const times: string[] = [];
    const fromMs = Date.parse(`${day}T00:00:00+01:00`);
    for (let at = fromMs - 1; ;) {
      at = nextDue({ schedule, timeZone: 'Europe/Madrid' }, at) ?? Infinity;
      if (at >= fromMs + DAY_MS) return times;
      times.push(new Date(at).toISOString().slice(11, 16));
    }
  };
  assert.deepEqual(dueOn('0,30 2 * * *', '2026-03-29'), ['01:00']);
  assert.deepEqual(dueOn('0,30 2,3 * * *', '2026-03-29'), ['01:00', '01:30']);
  assert.deepEqual(dueOn('0,30 2 * * *', '2026-10-25'), ['00:00', '00:30']);
  assert.deepEqual(dueOn('0 * * * *', '2026-10-25').length, 24);
  // A schedule with a step follows the clocks.
  assert.deepEqual(dueOn('*/30 2 * * *', '2026-03-29'), []);
  assert.deepEqual(dueOn('*/30 2 * * *', '2026-10-25'), ['00:00', '00:30', '01:00', '01:30']);
});

it('an hourly schedule that is due on few days is found without checking each hour', () => {
  const usedMs = processorTimer();
  const at = nextDue(
    { schedule: '0 * 29 2 *', timeZone: 'Europe/Madrid' },
    Date.parse('2025-01-01T00:00:00Z'),
  );
  assert.equal(at, Date.parse('2028-02-28T23:00:00Z'));
  assert.ok(usedMs() < 1000);
});
