import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EXIT } from '../../../sidecar/cli/exit-codes.js';
import { scanCommand, type ScanBackend } from '../../../sidecar/cli/scan-command.js';
import type { Schemas } from '../../../sidecar/client/operations.js';
import { FakeContext } from '../../support/cli-context.js';

const RECORD = {
  state: 'succeeded',
  checked: 5,
  valid: 5,
  invalid: 0,
  notJudged: 0,
  findings: [],
  unmodelled: [],
  warnings: [],
} as unknown as Schemas['Scan'];

/** The exit code after a scan that ended so. @param onStart called while the scan runs */
async function codeAfter(
  end: Partial<Schemas['Scan']>,
  maxInvalid?: number,
  onStart: (context: FakeContext) => void = () => undefined,
): Promise<number> {
  const context = new FakeContext();
  const backend: ScanBackend = async function* () {
    yield { ...RECORD, state: 'running' };
    onStart(context);
    yield { ...RECORD, ...end };
  };
  return scanCommand(['type=A'], maxInvalid === undefined ? {} : { maxInvalid }, backend, context);
}

it('the exit code of a scan says whether all that was found is valid', async () => {
  assert.equal(await codeAfter({}), EXIT.done);
  assert.equal(await codeAfter({ checked: 4, notJudged: 1 }), EXIT.done);
  assert.equal(await codeAfter({ checked: 0, valid: 0 }), EXIT.done);
  assert.equal(await codeAfter({ checked: 0, valid: 0, notJudged: 5 }), EXIT.partial);
  assert.equal(await codeAfter({ invalid: 2, valid: 3 }), EXIT.partial);
  assert.equal(await codeAfter({ invalid: 2, valid: 3 }, 2), EXIT.done);
  assert.equal(await codeAfter({ state: 'partial' }, 2), EXIT.partial);
});

it('the exit code of a scan that did not reach its end says why, as that of a purge does', async () => {
  const problem = (status: number) => ({ type: 'about:blank', title: 'No', status });
  assert.equal(await codeAfter({ state: 'failed', problem: problem(502) }), EXIT.failed);
  assert.equal(await codeAfter({ state: 'interrupted' }), EXIT.failed);
  assert.equal(await codeAfter({ state: 'refused', problem: problem(501) }), EXIT.refused);
  // A tenant that the broker does not know, for example.
  assert.equal(await codeAfter({ state: 'failed', problem: problem(404) }), EXIT.refused);
  // By somebody else.
  assert.equal(await codeAfter({ state: 'cancelled' }), EXIT.failed);
  const interrupt = (context: FakeContext) => context.interrupt();
  assert.equal(await codeAfter({ state: 'cancelled' }, undefined, interrupt), EXIT.interrupted);
});
