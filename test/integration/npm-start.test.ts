import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { after, it } from 'node:test';
import { send, stopAll, stopLater } from '../support/gateway-harness.js';
import { COMPILE_CACHE } from '../support/built.js';
import { ROOT } from '../support/project.js';
import { Gate, startRecordingBroker } from '../support/recording-broker.js';
import { Waiting } from '../support/waiting.js';

after(stopAll);

/**
 * Skips the build: dist/ is already up to date, and building takes longer than the gateway itself.
 */
const WITHOUT_BUILD = { npm_config_ignore_scripts: 'true' };

/** Far beyond the time limit of any test, so that waiting for it makes the test fail. */
const LONG_GRACE_MS = '3600000';

/** Runs `npm start` as users do, with npm and all its children in a process group of their own. */
class NpmStart {
  readonly #npm: ChildProcess;
  readonly #waiting = new Waiting();
  /**
   * Resolves when npm and everything it started have ended, since each of them holds the output
   * pipe.
   */
  readonly allEnded: Promise<unknown>;
  #isOver = false;
  output = '';

  /** @param env without `npm_config_ignore_scripts`, npm builds first */
  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#npm = spawn('npm', ['start'], {
      cwd: ROOT,
      detached: true,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        ...COMPILE_CACHE,
        npm_config_update_notifier: 'false',
        PORT: '0',
        DATABASE_PATH: ':memory:',
        SHUTDOWN_GRACE_MS: LONG_GRACE_MS,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const take = (chunk: Buffer) => {
      this.output += chunk.toString();
      this.#waiting.notify();
    };
    this.#npm.stdout?.on('data', take);
    this.#npm.stderr?.on('data', take);
    this.allEnded = once(this.#npm, 'close').then(() => {
      this.#isOver = true;
      this.#waiting.notify();
    });
    stopLater(async () => {
      if (!this.#isOver) process.kill(-this.pid, 'SIGKILL');
      await this.allEnded;
    });
  }

  /** The process id of npm, and of its group. */
  get pid(): number {
    if (this.#npm.pid === undefined) throw new Error('npm did not start');
    return this.#npm.pid;
  }

  async until(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#waiting.until(() => {
      const found = pattern.exec(this.output);
      if (found === null && this.#isOver) throw new Error(`npm ended: ${this.output}`);
      return found ?? undefined;
    });
  }

  async url(): Promise<string> {
    const [, url = ''] = await this.until(/^NGSI-LD gateway on (http:\S+?):? /m);
    return url;
  }
}

it('npm start does not leave the gateway running if only npm receives SIGTERM', async () => {
  const npm = new NpmStart();
  const url = await npm.url();
  assert.equal((await send(url, 'GET', '/health/live')).status, 200);
  process.kill(npm.pid, 'SIGTERM');
  await npm.allEnded;
  assert.match(npm.output, /"signal":"SIGTERM","msg":"shutting down"[^]*"msg":"closed"/);
  await assert.rejects(send(url, 'GET', '/health/live'));
});

it('npm start does not leave the gateway running if npm is killed', async () => {
  const npm = new NpmStart(WITHOUT_BUILD);
  const url = await npm.url();
  process.kill(npm.pid, 'SIGKILL');
  await npm.allEnded;
  assert.match(npm.output, /"cause":"npm has ended","msg":"shutting down"[^]*"msg":"closed"/);
  await assert.rejects(send(url, 'GET', '/health/live'));
});

it('npm start lets running requests finish if Ctrl+C reaches the whole group and npm forwards it', async () => {
  const gate = new Gate();
  const broker = await startRecordingBroker(async () => {
    await gate.passed;
    return { status: 200, headers: { 'content-type': 'application/json' }, body: '[]' };
  });
  const npm = new NpmStart({ BROKER_URL: broker.url, ...WITHOUT_BUILD });
  const passed = send(await npm.url(), 'GET', '/ngsi-ld/v1/entities?type=Car');
  await broker.arrived(() => true);
  process.kill(-npm.pid, 'SIGINT');
  await npm.until(/"msg":"shutting down"/);
  gate.open();
  assert.equal((await passed).status, 200);
  await npm.allEnded;
  assert.doesNotMatch(npm.output, /hurrying/);
});
