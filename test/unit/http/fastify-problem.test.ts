import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BODY_MEDIA_TYPES } from '../../../sidecar/http/api/body-parser.js';
import { problemOfFastify } from '../../../sidecar/http/problem.js';
import { errorTypes, problemTypeUri } from '../../../sidecar/shared/problem.js';

const errorOf = (statusCode: unknown, code: unknown) =>
  Object.assign(new Error('as Fastify says'), { statusCode, code });

it("Fastify's own refusals become problems: a body too large, an invalid media type, any other fault of the request", () => {
  for (const [error, status, type, accept] of [
    [errorOf(413, 'FST_ERR_CTP_BODY_TOO_LARGE'), 413, problemTypeUri('body-too-large'), undefined],
    [
      ...([errorOf(415, 'FST_ERR_CTP_INVALID_MEDIA_TYPE'), 415] as const),
      ...([problemTypeUri('media-type-not-supported'), BODY_MEDIA_TYPES.join(', ')] as const),
    ],
    [errorOf(400, 'FST_ERR_BAD_URL'), 400, errorTypes.invalidRequest, undefined],
    [errorOf(414, 'FST_ERR_OTHER'), 414, errorTypes.invalidRequest, undefined],
    [errorOf(499, 'FST_ERR_OTHER'), 499, errorTypes.invalidRequest, undefined],
  ] as const) {
    const answer = problemOfFastify(error, 1000);
    assert.deepEqual([answer?.problem.status, answer?.problem.type], [status, type]);
    assert.equal(answer?.headers['accept'], accept);
  }
  assert.equal(problemOfFastify(errorOf(400, 'FST_ERR_BAD_URL'), 1000)?.problem.detail, 'as Fastify says');
});

it('a refusal by the file server, which has no code, becomes a problem of its status', () => {
  const error = Object.assign(new Error('Range Not Satisfiable'), { statusCode: 416, expose: true });
  assert.equal(problemOfFastify(error, 1000)?.problem.status, 416);
});

it('an error that is not a refusal by Fastify has no problem', () => {
  for (const error of [
    errorOf(500, 'FST_ERR_OTHER'),
    errorOf(399, 'FST_ERR_OTHER'),
    errorOf('400', 'FST_ERR_BAD_URL'),
    Object.assign(new Error('x'), { statusCode: 400 }),
    Object.assign(new Error('x'), { code: 'FST_ERR_BAD_URL' }),
    { statusCode: 400, code: 'FST_ERR_BAD_URL', message: 'x' },
    undefined,
  ])
    assert.equal(problemOfFastify(error, 1000), undefined);
});
