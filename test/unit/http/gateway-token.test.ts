import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RequestRefusedError } from '../../../sidecar/http/errors.js';
import { createTokenCheck } from '../../../sidecar/http/request-checks.js';

const TOKEN = 'correct-horse-battery';

function refusalOf(header: string | readonly string[] | undefined): RequestRefusedError {
  try {
    createTokenCheck([TOKEN])(header);
  } catch (error) {
    assert.ok(error instanceof RequestRefusedError);
    return error;
  }
  assert.fail('was not refused');
}

it('createTokenCheck accepts the configured token, and nothing else', () => {
  createTokenCheck([TOKEN])(TOKEN);
  const wrong = [
    '',
    ' ',
    `${TOKEN} `,
    TOKEN.toUpperCase(),
    TOKEN.slice(0, -1),
    `${TOKEN}x`,
    `${TOKEN}, ${TOKEN}`,
    'ü',
  ];
  for (const header of wrong) assert.equal(refusalOf(header).problem.status, 401, header);
});

it('createTokenCheck accepts either of two tokens, and nothing made of them', () => {
  const check = createTokenCheck([TOKEN, 'the-one-before']);
  for (const header of [TOKEN, 'the-one-before']) check(header);
  for (const header of [`${TOKEN},the-one-before`, ',', '', 'the-one', 'another-one'])
    assert.throws(() => check(header), RequestRefusedError, header);
});

it('createTokenCheck refuses a repeated header even if every value is right', () => {
  assert.equal(refusalOf([TOKEN]).problem.status, 401);
  assert.equal(refusalOf([TOKEN, TOKEN]).problem.status, 401);
});

it('createTokenCheck answers 401 with a challenge, distinguishes a missing token from a wrong one, and never shows either', () => {
  const missing = refusalOf(undefined);
  const wrong = refusalOf('wrong-token');
  assert.match(missing.message, /needs the gateway token/);
  assert.match(wrong.message, /not the right one/);
  for (const { problem, headers } of [missing, wrong]) {
    // Where Kong let a request go on without its plugin, its client cannot mend that; others have no Kong.
    assert.match(
      problem.detail ?? '',
      /Nothing was done\. If a gateway in front, such as Kong, .*fault is there and not in the request/,
    );
    assert.equal(problem.title, 'Unauthorized');
    assert.ok(headers['www-authenticate'] !== undefined);
    assert.doesNotMatch(JSON.stringify(problem), /correct-horse|wrong-token/);
  }
});

it('createTokenCheck tells of each request without the right token, and of no other', () => {
  let told = 0;
  const check = createTokenCheck([TOKEN], () => (told += 1));
  check(TOKEN);
  assert.equal(told, 0);
  for (const [index, header] of [undefined, 'wrong', [TOKEN, TOKEN]].entries()) {
    assert.throws(() => check(header), RequestRefusedError);
    assert.equal(told, index + 1);
  }
  createTokenCheck(undefined, () => assert.fail('nothing is refused'))(undefined);
});
