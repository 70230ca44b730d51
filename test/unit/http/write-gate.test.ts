import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { it } from 'node:test';
import { createWriteGate } from '../../../sidecar/http/write-gate.js';
import type { WriteChecks } from '../../../sidecar/write-checks/index.js';
import { listening } from '../../support/listening.js';

it('whether a request that asks to be treated as another is refused depends on the policies as they are by then', async (t) => {
  for (const [isCurrent, isEnforcedLater, status] of [
    [false, true, 400],
    [false, false, 204],
    [true, false, 204],
  ] as const) {
    const checks = {
      mayRefuse: false,
      policies: {
        isCurrent,
        current: async () => {
          checks.mayRefuse = isEnforcedLater;
          return undefined;
        },
      },
    };
    const gate = createWriteGate({
      passThrough: (_req, res) => res.writeHead(204).end(),
      checks: checks as unknown as WriteChecks,
      access: { vouchedName: () => '' },
      bodyLimit: 1000,
    });
    const { url, close } = await listening(createServer((req, res) => gate(req, res)));
    t.after(close);
    const answer = await fetch(`${url}/ngsi-ld/v1/entities`, {
      headers: { 'x-http-method-override': 'POST' },
    });
    assert.equal(answer.status, status, `${isCurrent} ${isEnforcedLater}`);
  }
});
