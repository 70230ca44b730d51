import type { Clock } from '../../shared/clock.js';

/** The pause that a broker asks for holds back every request of a purge, not only the one that was answered so. */
export interface SharedPause {
  /** Milliseconds until requests may be sent again; 0 when they may. */
  readonly leftMs: number;
  /** How often the broker has asked for one. */
  readonly asked: number;
  /** Notes a pause that begins now. A shorter one never cuts a longer one. */
  begin(ms: number): void;
}

export function createSharedPause(clock: Clock): SharedPause {
  let untilMs = 0;
  let asked = 0;
  return {
    get leftMs() {
      return untilMs === 0 ? 0 : Math.max(0, untilMs - clock.now());
    },
    get asked() {
      return asked;
    },
    begin(ms) {
      asked += 1;
      untilMs = Math.max(untilMs, clock.now() + ms);
    },
  };
}
