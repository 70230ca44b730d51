/**
 * Asks a gateway for its health every 50 ms, from a separate process, so that only the gateway can delay an answer. The parent
 * process says which gateway to ask, and later requests the result.
 *
 * @import { HealthReport, WatchCommand } from './health-protocol.js'
 */
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';

const EVERY_MS = 50;

const agent = new Agent({ keepAlive: true });
/** @type {HealthReport} */
let report = empty();
/** @type {NodeJS.Timeout | undefined} */
let timer;
let waiting = 0;

/** @returns {HealthReport} */
function empty() {
  return { asked: 0, failed: 0, worstMs: 0, worstAtMs: 0, p99Ms: 0, worstBusyMs: 0 };
}

/** @type {number[]} */
let took = [];
let startedMs = 0;

/**
 * Returns how long the gateway's main thread has run on a core, in ms (Linux: proc(5), schedstat).
 *
 * @param {number} pid
 */
function busyMs(pid) {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6;
}

/** @param {string} url @param {number} pid */
function ask(url, pid) {
  const busyBeforeMs = busyMs(pid);
  const sentMs = performance.now();
  report.asked += 1;
  waiting += 1;
  /** @param {boolean} isUp */
  const note = (isUp) => {
    waiting -= 1;
    const ms = performance.now() - sentMs;
    took.push(ms);
    if (!isUp) report.failed += 1;
    report.worstBusyMs = Math.max(report.worstBusyMs, busyMs(pid) - busyBeforeMs);
    if (ms <= report.worstMs) return;
    report.worstMs = ms;
    report.worstAtMs = sentMs - startedMs;
  };
  get(url, { agent }, (answer) => {
    answer.resume().once('end', () => note(answer.statusCode === 200));
  }).once('error', () => note(false));
}

process.on('message', (/** @type {WatchCommand} */ command) => {
  if (command.do === 'watch') {
    report = empty();
    took = [];
    startedMs = performance.now();
    ask(command.url, command.pid);
    timer = setInterval(ask, EVERY_MS, command.url, command.pid);
    process.send?.({});
    return;
  }
  clearInterval(timer);
  // Requests that are still unanswered count as well.
  const look = setInterval(() => {
    if (waiting > 0) return;
    clearInterval(look);
    took.sort((a, b) => a - b);
    process.send?.({ ...report, p99Ms: took[Math.floor(took.length * 0.99)] ?? 0 });
  }, 5);
});
process.on('disconnect', () => process.exit());
