import { Cron } from 'croner';

/** A schedule that was read. */
export interface CronPattern {
  /** The next time of day that it names after another one, both as clocks show them; undefined when there is none. */
  readonly nextWall: (afterMs: number) => number | undefined;
  /** It names each hour of the day: it is due at intervals, not at times of day. */
  readonly isHourly: boolean;
}

const NUMBER = String.raw`\d\d?`;
const MONTH = `${NUMBER}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec`;
const WEEKDAY = `${NUMBER}|sun|mon|tue|wed|thu|fri|sat`;

/** A list of values, ranges and `*`, with or without steps. */
function fieldOf(value: string): string {
  const item = String.raw`(?:\*|(?:${value})(?:-(?:${value}))?)(?:/\d\d?)?`;
  return `${item}(?:,${item})*`;
}

/**
 * Five fields as every cron reads them. The library takes more: nicknames (`@daily`), a single point in time, and `?`, `L`, `W`,
 * `#` and `+`, which other crons do not know, or read in other ways.
 */
const FIVE_FIELDS = new RegExp(
  `^${[NUMBER, NUMBER, NUMBER, MONTH, WEEKDAY].map(fieldOf).join('[ \\t]+')}$`,
  'i',
);

const HOUR_MS = 3_600_000;
const HOURS = 24;

/** Zones are at most 14 hours from UTC, and a change of the clocks never left out more than a day (Apia, 2011). */
const MAX_OFFSET_MS = 15 * HOUR_MS;
const MAX_SHIFT_HOURS = 26;

/**
 * Reads a schedule of five fields: minute, hour, day of the month, month, day of the week.
 *
 * @returns undefined for anything else
 */
export function parseCron(schedule: string): CronPattern | undefined {
  const text = schedule.trim();
  if (!FIVE_FIELDS.test(text)) return undefined;
  try {
    // The library works in UTC only. What to do with times that clocks skip or repeat is decided below.
    const cron = new Cron(text, { timezone: 'UTC', mode: '5-part', paused: true });
    return {
      nextWall: (afterMs) => cron.nextRun(new Date(afterMs))?.getTime(),
      isHourly: hoursOf(text.split(/[ \t]+/)[1] ?? '').size === HOURS,
    };
  } catch {
    return undefined;
  }
}

/**
 * The next time that a schedule is due, in milliseconds since the epoch; undefined when there is none.
 *
 * A schedule of each hour goes by the time that passes: it is due whenever the clocks of the zone show one of its minutes. Any
 * other one names times of day: one that the clocks leave out is due right after the gap, once for all that the gap holds, and
 * one that they show twice is due at the first.
 *
 * @throws RangeError for an unknown time zone
 */
export function nextCronTime(pattern: CronPattern, timeZone: string, afterMs: number): number | undefined {
  const offsetAt = offsetsOf(timeZone);
  return pattern.isHourly ? nextPassing(pattern, offsetAt, afterMs) : nextOfDay(pattern, offsetAt, afterMs);
}

/** How far the clocks of a zone are ahead of UTC at a time, in milliseconds. */
type OffsetAt = (atMs: number) => number;

function nextOfDay({ nextWall }: CronPattern, offsetAt: OffsetAt, afterMs: number): number | undefined {
  for (let wall = nextWall(afterMs + offsetAt(afterMs)); wall !== undefined; wall = nextWall(wall)) {
    const at = instantOf(wall, offsetAt);
    if (at > afterMs) return at;
  }
  return undefined;
}

function nextPassing({ nextWall }: CronPattern, offsetAt: OffsetAt, afterMs: number): number | undefined {
  let fromMs = afterMs;
  let offset = offsetAt(afterMs);
  for (;;) {
    const wall = nextWall(fromMs + offset);
    if (wall === undefined) return undefined;
    const at = wall - offset;
    const changeMs = nextChange(fromMs, offset, Math.min(at, fromMs + MAX_SHIFT_HOURS * HOUR_MS), offsetAt);
    if (changeMs !== undefined) {
      // From the change on, the clocks show other times, among them those at the very moment of the change.
      fromMs = changeMs - 1;
      offset = offsetAt(changeMs);
    } else if (at <= fromMs + MAX_SHIFT_HOURS * HOUR_MS) return at;
    else {
      // No clock of the zone shows a time of the schedule before that.
      fromMs = Math.max(fromMs + MAX_SHIFT_HOURS * HOUR_MS, wall - MAX_OFFSET_MS);
      offset = offsetAt(fromMs);
    }
  }
}

/** When clocks first show a time; for one that they leave out, the end of the gap. */
function instantOf(wall: number, offsetAt: OffsetAt): number {
  const before = offsetAt(wall - HOURS * HOUR_MS);
  const after = offsetAt(wall + HOURS * HOUR_MS);
  const shown = [before, after].map((offset) => wall - offset).filter((at) => at + offsetAt(at) === wall);
  if (shown.length > 0) return Math.min(...shown);
  const [early, late] = [wall - Math.max(before, after), wall - Math.min(before, after)];
  return nextChange(early - 1, offsetAt(early - 1), late, offsetAt) ?? late;
}

/** When the offset after `fromMs` changes to another one, at `toMs` at the latest; undefined when it does not. */
function nextChange(fromMs: number, offset: number, toMs: number, offsetAt: OffsetAt): number | undefined {
  let low = fromMs;
  let high = fromMs + 1;
  while (offsetAt(high) === offset) {
    if (high >= toMs) return undefined;
    low = high;
    high = Math.min(high + HOUR_MS, toMs);
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle) === offset) low = middle;
    else high = middle;
  }
  return high;
}

/** Zones whose clocks are at hand: making one takes as long as a hundred looks at it. */
const MAX_CLOCKS = 50;
const clocks = new Map<string, OffsetAt>();

function offsetsOf(timeZone: string): OffsetAt {
  const known = clocks.get(timeZone);
  if (known !== undefined) return known;
  if (clocks.size >= MAX_CLOCKS) clocks.clear();
  const made = clockOf(timeZone);
  clocks.set(timeZone, made);
  return made;
}

function clockOf(timeZone: string): OffsetAt {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (atMs) => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const [year = 0, month = 1, day = 1] = [parts.get('year'), parts.get('month'), parts.get('day')];
    const wall = Date.UTC(
      ...([year, month - 1, day] as const),
      ...([parts.get('hour') ?? 0, parts.get('minute') ?? 0, parts.get('second') ?? 0] as const),
    );
    return wall - Math.floor(atMs / 1000) * 1000;
  };
}

/** The hours that a field names. */
function hoursOf(field: string): ReadonlySet<number> {
  const hours = new Set<number>();
  for (const item of field.split(',')) {
    const [range = '', step = '1'] = item.split('/');
    const [from = 0, to = from] = range === '*' ? [0, HOURS - 1] : range.split('-').map(Number);
    for (let hour = from; hour <= to; hour += Math.max(1, Number(step))) hours.add(hour);
  }
  return hours;
}
