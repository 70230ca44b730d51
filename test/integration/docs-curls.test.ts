import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { startTestGateway, stopAll } from '../support/gateway-harness.js';
import { ROOT } from '../support/project.js';
import { temporaryFolder } from '../support/temporary-folder.js';

after(stopAll);

/** Why the commands cannot be run here; false if they can be run. */
const skip = canRun() ? false : 'needs bash and curl';

function canRun(): boolean {
  try {
    execFileSync('bash', ['-c', 'curl --version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Commands as printed, and the JSON printed after them, if any. */
interface Step {
  readonly commands: string;
  readonly answer: unknown;
}

function stepsOf(page: string): readonly Step[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return Array.from(
    text.matchAll(/```sh\n([^]*?)```(?:\n\n```json\n([^]*?)```)?/g),
    ([, commands = '', json]) => ({
      commands,
      answer: json === undefined ? undefined : (JSON.parse(json) as unknown),
    }),
  );
}

/** Runs all steps in one shell, as a reader would; an answer of 400 or more ends it. */
async function run(steps: readonly Step[], url: string): Promise<readonly string[]> {
  const curl = 'curl() { command curl --silent --show-error --fail-with-body "$@"; }';
  const script = steps.map(({ commands }) => `${commands}\necho; echo '%%%'`).join('\n');
  const { stdout } = await promisify(execFile)('bash', ['-euc', `${curl}\n${script}`], {
    cwd: temporaryFolder(),
    env: { PATH: process.env['PATH'] },
  }).catch((cause: unknown) => {
    const { message, stdout: printed = '' } = cause as Error & { readonly stdout?: string };
    throw new Error(`${message}\n${printed}`, { cause });
  });
  return stdout.replaceAll(url, 'http://127.0.0.1:8080').split('%%%');
}

describe('docs/workbench.md', { skip }, () => {
  it('the commands of docs/workbench.md work as printed, and give the printed answers', async () => {
    const { url } = await startTestGateway({
      BROKER_URL: 'http://127.0.0.1:9',
      WORKBENCH_TIMEOUT_MS: '60000',
    });
    const steps = stepsOf('docs/workbench.md');
    assert.ok(steps.length > 5, 'the commands were found');
    const here = steps.map((step) => ({
      ...step,
      commands: step.commands.replaceAll('http://127.0.0.1:8080', url),
    }));
    const outputs = await run(here, url);
    let compared = 0;
    for (const [index, { commands, answer }] of steps.entries()) {
      if (answer === undefined) continue;
      assert.deepEqual(JSON.parse(outputs[index] ?? ''), answer, commands);
      compared += 1;
    }
    assert.ok(compared >= 3);
  });
});
