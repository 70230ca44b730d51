import { SingleBar } from 'cli-progress';
import type { Clock } from '../shared/clock.js';
import type { CliContext } from './context.js';
import { formatCount, formatDuration, formatRate } from './format.js';
import { RateMeter } from '../shared/rate-meter.js';
import { settledOf, unitOf, type PurgeView } from './purge-view.js';

const BAR_WIDTH = 24;

/** Creates a progress bar. It shows nothing if standard error is not a terminal. */
export function createProgress({ stderr, clock }: CliContext) {
  if (stderr.isTTY !== true) return { show: () => {}, stop: () => {} };
  const line = createProgressLine(clock);
  let text = '';
  const bar = new SingleBar({
    format: () => text,
    stream: stderr,
    hideCursor: true,
    clearOnComplete: true,
    fps: 10,
    linewrap: null,
  });
  let isDrawn = false;
  return {
    show(view: PurgeView) {
      text = line(view);
      if (isDrawn) bar.update(settledOf(view));
      // The text has the counts; the bar's own total is never shown.
      else bar.start(Number.MAX_SAFE_INTEGER, 0);
      isDrawn = true;
    },
    stop: () => bar.stop(),
  };
}

/**
 * Formats the progress line: `██████······ 1,500/3,000 entities  2,000/s  1 s left`. Without a count, it has no bar and no
 * remaining time.
 */
export function createProgressLine(clock: Pick<Clock, 'now'>): (view: PurgeView) => string {
  const meter = new RateMeter();
  return (view) => {
    const done = settledOf(view);
    meter.record(clock.now(), done);
    const rate = meter.perSecond;
    const unit = unitOf(view);
    // A purge with a rate lists only what it can delete soon, so its matches so far may not be all of them.
    const total = Math.max(view.matched, view.expected ?? 0);
    const left = view.state === 'running' ? meter.remainingMs(total) : undefined;
    const parts = [
      total > done || done > 0
        ? `${barOf(done, total)}${formatCount(done)}/${formatCount(total)} ${unit}`
        : `${view.state === 'running' ? 'looking for matches' : view.state} …`,
      ...(view.failed > 0 ? [`${formatCount(view.failed)} failed`] : []),
      ...(rate === undefined ? [] : [formatRate(rate)]),
      ...(left === undefined ? [] : [`${formatDuration(left)} left`]),
      ...(view.state === 'cancelling' ? ['cancelling'] : []),
    ];
    return parts.join('  ');
  };
}

function barOf(done: number, total: number): string {
  if (total <= 0) return '';
  const full = Math.min(BAR_WIDTH, Math.floor((done / total) * BAR_WIDTH));
  return `${'█'.repeat(full)}${'·'.repeat(BAR_WIDTH - full)} `;
}
