/**
 * house.js loads this into each thread of a gateway. Writes the functions that have run since the last time to the current
 * folder.
 */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { isMainThread, MessagePort, threadId } from 'node:worker_threads';

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
let written = 0;

function write() {
  session.post('Profiler.takePreciseCoverage', (_, coverage) => {
    written += 1;
    writeFileSync(`ran-${threadId}-${written}.json`, JSON.stringify(coverage));
  });
}

if (isMainThread) {
  process.on('message', () => {
    write();
    process.send?.('written');
  });
} else {
  // An idle worker is blocked until its next task, and is ended from outside, so the only chance to write is after its answer.
  // oxlint-disable-next-line typescript/unbound-method -- it is applied to the port it was called on
  MessagePort.prototype.postMessage = new Proxy(MessagePort.prototype.postMessage, {
    apply(post, port, message) {
      Reflect.apply(post, port, message);
      write();
    },
  });
}
