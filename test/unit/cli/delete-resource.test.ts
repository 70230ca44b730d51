import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EXIT } from '../../../sidecar/cli/exit-codes.js';
import { fakeGateway, FakeContext, GATEWAY, jsonResponse } from '../../support/cli-context.js';

for (const [command, noun] of [
  ['retention', 'retention policy'],
  ['write-policies', 'write policy'],
] as const)
  it(`${command} delete asks, and deletes the policy only as it was when it asked`, async (t) => {
    const path = `/api/v2/${command === 'retention' ? 'retention-policies' : command}/old`;
    const asked = fakeGateway(t, ({ method }) =>
      method === 'GET'
        ? jsonResponse({ name: 'old' }, 200, { etag: '"7"' })
        : new Response(null, { status: 204 }),
    );
    const run = async (answer: string) => {
      const context = new FakeContext({ isTerminal: true });
      context.onQuestion = (text) => {
        if (text.includes('[y/N]')) context.stdin.write(`${answer}\n`);
      };
      const code = await context.run(command, 'delete', 'old', '--gateway', GATEWAY);
      return { code, out: context.out, err: context.err };
    };
    const no = await run('');
    assert.deepEqual([no.code, no.out, asked.length], [EXIT.interrupted, '', 1]);
    assert.match(no.err, new RegExp(`Delete the ${noun} old\\? \\[y/N\\]`));
    const yes = await run('yes');
    assert.deepEqual([yes.code, yes.out], [EXIT.done, 'old deleted\n']);
    assert.deepEqual(
      asked.slice(1).map(({ method, target, headers }) => [method, target, headers.get('if-match')]),
      [
        ['GET', path, null],
        ['DELETE', path, '"7"'],
      ],
    );
  });
