import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { it } from 'node:test';
import { exitOnStartupSignals } from '../../../sidecar/shared/startup-signals.js';

/** A process, and the codes with which it was told to exit. */
function startedAs(pid: number) {
  const codes: unknown[] = [];
  const self = Object.assign(new EventEmitter(), { pid, exit: (code: unknown) => codes.push(code) });
  exitOnStartupSignals(self as unknown as NodeJS.Process);
  return { self, codes };
}

it('the first process of a container exits on a signal that arrives during its start', () => {
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    const { self, codes } = startedAs(1);
    self.emit(signal, signal);
    assert.deepEqual(codes, [code]);
  }
});

it('a signal that arrives later is left to the listeners of the first process', () => {
  const { self, codes } = startedAs(1);
  self.on('SIGTERM', () => {});
  self.emit('SIGTERM', 'SIGTERM');
  assert.deepEqual(codes, []);
});

it('other processes get no additional listeners for signals', () => {
  const { self } = startedAs(7);
  assert.deepEqual(self.eventNames(), []);
});
