import assert from 'node:assert/strict';
import type { FastifyRequest } from 'fastify';
import { it } from 'node:test';
import { ruleOf } from '../../../sidecar/auth/index.js';
import { Access } from '../../../sidecar/http/access.js';
import { RequestRefusedError } from '../../../sidecar/http/refused.js';

const TOKEN = 'correct-horse-battery';
const BEFORE = 'the-one-before';

/** How often a request was refused, and the reason, if any. */
async function refusalOf(tokens: readonly string[] | undefined, header?: string | readonly string[]) {
  let told = 0;
  const access = new Access({ tokens, onTokenRefused: () => (told += 1) });
  const request = {
    method: 'DELETE',
    routeOptions: { config: { rule: ruleOf('DELETE', '/ngsi-ld/v1/entities') } },
    headers: { 'x-gateway-token': header },
  } as unknown as FastifyRequest;
  const refusal = await access.admit(request).then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(refusal === undefined || refusal instanceof RequestRefusedError);
  assert.equal(told, refusal === undefined ? 0 : 1, 'each refusal is told of');
  return refusal;
}

it('a request is accepted with any configured gateway token, and without one if none is configured', async () => {
  assert.equal(await refusalOf([TOKEN], TOKEN), undefined);
  assert.equal(await refusalOf([TOKEN, BEFORE], TOKEN), undefined);
  assert.equal(await refusalOf([TOKEN, BEFORE], BEFORE), undefined);
  assert.equal(await refusalOf(undefined), undefined);
});

for (const header of [
  '',
  ' ',
  `${TOKEN} `,
  TOKEN.toUpperCase(),
  TOKEN.slice(0, -1),
  `${TOKEN}x`,
  `${TOKEN}, ${TOKEN}`,
  'ü',
  `${TOKEN},${BEFORE}`,
  ',',
  'the-one',
  [TOKEN],
  [TOKEN, TOKEN],
])
  it(`a request with the gateway token ${JSON.stringify(header)} is 401`, async () => {
    assert.equal((await refusalOf([TOKEN, BEFORE], header))?.problem.status, 401);
  });

it('a refusal of a gateway token has a challenge, distinguishes a missing token from a wrong one, and shows neither', async () => {
  const [missing, wrong] = [await refusalOf([TOKEN]), await refusalOf([TOKEN], 'wrong-token')];
  assert.match(missing?.message ?? '', /needs the gateway token/);
  assert.match(wrong?.message ?? '', /X-Gateway-Token is wrong/);
  for (const refusal of [missing, wrong]) {
    // If Kong let a request through without its plugin, its client cannot fix that; other clients do not use Kong.
    assert.match(
      refusal?.problem.detail ?? '',
      /Nothing was done\. If a gateway in front, such as Kong, .*fault is there and not in the request/,
    );
    assert.equal(refusal?.problem.title, 'Unauthorized');
    assert.ok(refusal.headers['www-authenticate'] !== undefined);
    assert.doesNotMatch(JSON.stringify(refusal.problem), /correct-horse|wrong-token/);
  }
});
