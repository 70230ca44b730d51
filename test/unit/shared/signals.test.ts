import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { it, type TestContext } from 'node:test';
import {
  createDuplicateSignalFilter,
  shutDownOnSignals,
  exitAfter,
  isNpmStart,
  onParentExit,
} from '../../../sidecar/shared/signals.js';

const at = (...signals: readonly (readonly [nowMs: number, signal: string])[]): boolean[] => {
  let nowMs = 0;
  const isEcho = createDuplicateSignalFilter(() => nowMs);
  return signals.map(([time, signal]) => {
    nowMs = time;
    return isEcho(signal);
  });
};

it('echoes of a signal within a second count once, however often they come', () => {
  assert.deepEqual(at([5, 'SIGINT'], [5, 'SIGINT'], [400, 'SIGINT'], [1004, 'SIGINT']), [
    false,
    true,
    true,
    true,
  ]);
});

it('the same signal counts again after a second, even if echoes came in the meantime', () => {
  assert.deepEqual(at([0, 'SIGTERM'], [900, 'SIGTERM'], [1000, 'SIGTERM'], [1900, 'SIGTERM']), [
    false,
    true,
    false,
    true,
  ]);
});

it('another signal counts at once', () => {
  assert.deepEqual(at([0, 'SIGINT'], [1, 'SIGTERM'], [2, 'SIGTERM']), [false, false, true]);
});

it('a start by npm is recognised by this package’s own script, and no other', () => {
  const own = { npm_lifecycle_event: 'start', npm_package_name: 'ngsi-ld-gateway' };
  assert.equal(isNpmStart(own), true);
  assert.equal(isNpmStart({ ...own, npm_lifecycle_event: 'test' }), false);
  assert.equal(isNpmStart({ ...own, npm_package_name: 'another' }), false);
  assert.equal(isNpmStart({}), false);
});

/** A process that npm has started, or not, and the requests to end that the process got. */
function running(t: TestContext, startedByNpm: boolean) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const self = Object.assign(new EventEmitter(), { ppid: 7 });
  const told: string[] = [];
  let finish = () => {};
  const closed = new Promise<void>((resolve) => (finish = resolve));
  let [nowMs, closes] = [0, 0];
  shutDownOnSignals(self as unknown as NodeJS.Process, {
    close: async () => {
      closes += 1;
      await closed;
    },
    log: (cause, message) => told.push(`${message}: ${Object.values(cause).join()}`),
    onClosed: () => told.push('closed'),
    startedByNpm,
    nowMs: () => nowMs,
  });
  return {
    self,
    told,
    closes: () => closes,
    later: (ms: number) => (nowMs += ms),
    tick: () => t.mock.timers.tick(500),
    finish: async () => {
      finish();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it('shutdown starts at the first signal, and is hurried by a different signal but not by an echo', (t) => {
  const { self, told, later } = running(t, false);
  self.emit('SIGTERM', 'SIGTERM');
  self.emit('SIGTERM', 'SIGTERM');
  later(1000);
  self.emit('SIGINT', 'SIGINT');
  assert.deepEqual(told, ['shutting down: SIGTERM', 'hurrying: SIGINT']);
});

it('a process that npm has started shuts down when npm ends, and a shutdown that is already running is not hurried', (t) => {
  for (const isSignalled of [false, true]) {
    const { self, told, tick } = running(t, true);
    if (isSignalled) self.emit('SIGTERM', 'SIGTERM');
    tick();
    self.ppid = 1;
    tick();
    assert.deepEqual(told, [`shutting down: ${isSignalled ? 'SIGTERM' : 'npm has ended'}`]);
    t.mock.timers.reset();
  }
});

it('a process that npm has not started keeps running when its parent ends', (t) => {
  const { self, told, tick } = running(t, false);
  self.ppid = 1;
  tick();
  assert.deepEqual(told, []);
});

it('the end of the parent process is reported once, as soon as another process has adopted this one', async () => {
  const self = { ppid: 7 };
  let looks = 0;
  const watched = {
    get ppid() {
      looks += 1;
      return self.ppid;
    },
  };
  let told = 0;
  onParentExit(watched, 1, () => (told += 1));
  const until = async (isDone: () => boolean): Promise<void> => {
    // Timers of the watch do not keep the process alive; this one does.
    while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  await until(() => looks > 5);
  assert.equal(told, 0);
  self.ppid = 1;
  await until(() => told > 0);
  const seen = looks;
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual([told, looks], [1, seen]);
});

it('watching the parent process does not keep a process alive', () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const self = { ppid: 7 };
  onParentExit(self, 1, () => undefined);
  assert.equal(timers(), before);
  // The next check ends the watch.
  self.ppid = 1;
});

it('a closed service that still keeps its process alive exits after a while, and the timer for this does not keep it alive', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  let exits = 0;
  const exit = (): never => {
    exits += 1;
    return undefined as never;
  };
  exitAfter({ exit }, 5);
  assert.equal(timers(), before);
  // These timers keep the process alive.
  while (exits === 0) await new Promise((resolve) => setTimeout(resolve, 1));
});

it('shutdown starts at the first signal, is hurried by each further one, and is reported once', async (t) => {
  const { self, told, closes, finish } = running(t, false);
  self.emit('SIGINT', 'SIGINT');
  assert.equal(closes(), 1);
  self.emit('SIGTERM', 'SIGTERM');
  self.emit('SIGHUP', 'SIGHUP');
  assert.equal(closes(), 3);
  assert.deepEqual(told, ['shutting down: SIGINT', 'hurrying: SIGTERM', 'hurrying: SIGHUP']);
  await finish();
  assert.deepEqual(told.slice(3), ['closed']);
});

it('a shutdown that began because npm has ended is hurried by a signal', async (t) => {
  const { self, told, closes, tick, finish } = running(t, true);
  self.ppid = 1;
  tick();
  tick();
  assert.equal(closes(), 1);
  self.emit('SIGTERM', 'SIGTERM');
  assert.equal(closes(), 2);
  await finish();
  assert.deepEqual(told, ['shutting down: npm has ended', 'hurrying: SIGTERM', 'closed']);
});
