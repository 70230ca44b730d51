import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BrokerProblem, Failure } from '../../../sidecar/purge/broker/index.js';
import { ConfigError } from '../../../sidecar/shared/config/load.js';
import { RequestRefusedError } from '../../../sidecar/http/errors.js';
import { problemOf, startErrorLines, unforeseen, type ProblemAnswer } from '../../../sidecar/http/problem.js';
import { errorTypes, ownType } from '../../../sidecar/ngsi-ld/problem.js';
import * as errors from '../../../sidecar/purge/errors.js';

const ETSI = 'https://uri.etsi.org/ngsi-ld/errors/';

function answerTo(error: unknown): ProblemAnswer {
  const answer = problemOf(error);
  assert.ok(answer !== undefined);
  const { type, title, status, detail } = answer.problem;
  assert.match(type, /^(?:https:\/\/uri\.etsi\.org\/ngsi-ld\/errors\/|urn:ngsi-ld-gateway:problem:)\S+$/);
  assert.ok(title !== '' && detail !== undefined && detail !== '' && status >= 400 && status < 600);
  return answer;
}

const refused = (said: BrokerProblem, wwwAuthenticate?: string) =>
  answerTo(new errors.BrokerRefusedError('list the matching entities', said, wwwAuthenticate));

const failed = (failure: Failure, reason: errors.BrokerFailedError['reason'] = 'attempts-used-up') =>
  answerTo(new errors.BrokerFailedError('delete a batch of entities', failure, reason));

describe('problemOf: errors of the request', () => {
  it('a refused query is 400 with the type of the standard, and names the parameter', () => {
    const invalid = answerTo(
      new errors.QueryRefusedError('invalidRequest', 'Parameter x is not known.', 'x'),
    );
    assert.deepEqual(invalid, {
      problem: {
        type: `${ETSI}InvalidRequest`,
        title: 'Invalid request',
        status: 400,
        detail: 'Parameter x is not known.',
        parameter: 'x',
      },
      headers: {},
    });
    const wide = answerTo(new errors.QueryRefusedError('badRequestData', 'Too wide.'));
    assert.equal(wide.problem.type, `${ETSI}BadRequestData`);
    assert.equal(wide.problem.status, 400);
    assert.ok(!('parameter' in wide.problem));
  });

  it('a refused request answers its own problem and headers', () => {
    const problem = { type: ownType('unauthorized'), title: 'Unauthorized', status: 401, detail: 'no token' };
    const headers = { 'www-authenticate': 'GatewayToken' };
    assert.deepEqual(answerTo(new RequestRefusedError(problem, headers)), { problem, headers });
  });

  for (const [error, status, name, members] of [
    [new errors.UnsupportedRequestError('no'), 501, 'not-supported', {}],
    [new errors.PolicyRefusedError('no'), 403, 'forbidden-by-policy', {}],
    [new errors.FilterIgnoredError('scopeQ', 'ignored'), 501, 'filter-ignored', { parameter: 'scopeQ' }],
    [
      new errors.UnexpectedEntityError('urn:a:1', 'idPattern'),
      502,
      'unexpected-entity',
      { entityId: 'urn:a:1', parameter: 'idPattern' },
    ],
    [
      new errors.TooManyMatchesError(11, 10, false),
      409,
      'too-many-matches',
      { matched: 11, maxAffected: 10 },
    ],
    [new errors.UncountableError('no bound'), 502, 'uncountable-matches', {}],
    [new errors.BrokerReplyError('no JSON'), 502, 'broker-reply-unusable', {}],
    [new errors.NotConvergingError('on and on'), 503, 'not-converging', {}],
  ] as const) {
    it(`${error.name} is ${status} with the type ${name}`, () => {
      const { problem, headers } = answerTo(error);
      const { type, title, status: actual, detail, ...others } = problem;
      assert.ok(title.length > 0);
      assert.deepEqual([type, actual, detail], [ownType(name), status, error.message]);
      assert.deepEqual(others, members);
      assert.deepEqual(headers, {});
    });
  }

  it('the problem of too many matches says whether the number is exact', () => {
    assert.match(new errors.TooManyMatchesError(11, 10, false).message, /at least 11\b/);
    assert.doesNotMatch(new errors.TooManyMatchesError(11, 10, true).message, /at least/);
  });

  it('a stopped purge is 503 with Retry-After', () => {
    const { problem, headers } = answerTo(new errors.PurgeStoppedError('stopped'));
    assert.deepEqual([problem.status, problem.type], [503, ownType('shutting-down')]);
    assert.match(headers['retry-after'] ?? '', /^\d+$/);
  });
});

describe('problemOf: refusals of the broker', () => {
  it("refusals of the broker keep their 4xx or 501, with the broker's type and problem inside", () => {
    for (const status of [400, 401, 403, 404, 409, 422, 499, 501]) {
      const said = { status, type: `${ETSI}NonexistentTenant`, title: 'No such tenant', detail: 'city' };
      const { problem } = refused(said);
      assert.deepEqual(problem, {
        type: said.type,
        title: said.title,
        status,
        detail:
          status === 501
            ? 'The broker cannot list the matching entities: it does not implement this operation (status 501). It says: city'
            : `The broker refused to list the matching entities with status ${status}. It says: city`,
        broker: said,
      });
    }
  });

  it('refusals of the broker are 502 when their status means nothing to the client', () => {
    for (const status of [200, 302, 505, 511, 600]) {
      const { problem } = refused({ status, type: `${ETSI}InternalError`, title: 'x' });
      assert.deepEqual([problem.status, problem.type], [502, ownType('broker-refused')]);
      assert.deepEqual(problem['broker'], { status, type: `${ETSI}InternalError`, title: 'x' });
    }
  });

  it('refusals of the broker have a type of the gateway when the broker gives none that is a URI', () => {
    for (const type of ['BadRequest', 'about:blank', 'javascript:alert(1)', 'https://with blank']) {
      assert.equal(refused({ status: 400, type }).problem.type, ownType('broker-refused'));
    }
    assert.deepEqual(refused({ status: 400 }).problem, {
      type: ownType('broker-refused'),
      title: 'The broker refused to list the matching entities',
      status: 400,
      detail: 'The broker refused to list the matching entities with status 400.',
      broker: { status: 400 },
    });
  });

  it('refusals of the broker keep the challenge of a 401', () => {
    assert.deepEqual(refused({ status: 401 }, 'Bearer realm="x"').headers, {
      'www-authenticate': 'Bearer realm="x"',
    });
    assert.deepEqual(refused({ status: 401 }).headers, {});
  });
});

describe('problemOf: failures of the broker', () => {
  const brokerProblem = { status: 503, title: 'Busy' };

  it("a throttling broker is 429 with Retry-After, its own or else the gateway's", () => {
    const { problem, headers } = failed(
      { kind: 'throttled', status: 429, retryAfter: '3600' },
      'retry-after-too-long',
    );
    assert.deepEqual(
      [problem.status, problem.type, headers],
      [429, ownType('broker-throttled'), { 'retry-after': '3600' }],
    );
    assert.match(failed({ kind: 'throttled', status: 429 }).headers['retry-after'] ?? '', /^[1-9]\d*$/);
  });

  it('a time-out of the broker is 504', () => {
    const { problem, headers } = failed({ kind: 'timeout' });
    assert.deepEqual([problem.status, problem.type, headers], [504, ownType('broker-timeout'), {}]);
  });

  it('a broker out of reach is 502', () => {
    const cause = new Error('The broker could not be reached: connection refused.');
    const { problem } = failed({ kind: 'unreachable', cause }, 'nothing-but-failures');
    assert.deepEqual([problem.status, problem.type], [502, ownType('broker-unreachable')]);
    assert.match(problem.detail ?? '', /connection refused \(it answers nothing but failures\)\.$/);
  });

  it("a 5xx of the broker is 502, with the broker's problem inside and its Retry-After", () => {
    const { problem, headers } = failed({
      kind: 'broker-error',
      status: 503,
      retryAfter: '7',
      problem: brokerProblem,
    });
    assert.deepEqual([problem.status, problem.type], [502, ownType('broker-failed')]);
    assert.deepEqual(problem['broker'], brokerProblem);
    assert.deepEqual(headers, { 'retry-after': '7' });
    assert.match(problem.detail ?? '', /answered 503 \(all tries failed\)/);
  });

  it('failures of the broker keep their Retry-After', () => {
    const { problem, headers } = failed({ kind: 'context-unavailable', status: 503, retryAfter: '9' });
    assert.deepEqual([problem.status, headers], [502, { 'retry-after': '9' }]);
    assert.ok(!('broker' in problem));
  });

  it("an @context that is not available is 502 with the standard's type", () => {
    const { problem } = failed({ kind: 'context-unavailable', status: 504, problem: { status: 504 } });
    assert.deepEqual([problem.status, problem.type], [502, errorTypes.ldContextNotAvailable]);
    assert.deepEqual(problem['broker'], { status: 504 });
  });
});

describe('problemOf: unexpected errors', () => {
  it('unexpected errors have no problem of their own, and reveal nothing of their cause', () => {
    for (const error of [
      new Error('secret'),
      new TypeError('x'),
      'text',
      null,
      undefined,
      new ConfigError([]),
    ]) {
      assert.equal(problemOf(error), undefined);
    }
    assert.deepEqual(unforeseen(), {
      type: errorTypes.internalError,
      title: 'Internal error',
      status: 500,
      detail: 'The gateway failed; its log has the cause.',
    });
  });
});

describe('startErrorLines', () => {
  it('startErrorLines lists every mistake of a configuration and where settings are described', () => {
    assert.deepEqual(startErrorLines(new ConfigError(['PORT must be x', 'HOST must be y'])), [
      'The configuration has 2 mistakes.',
      '  - PORT must be x',
      '  - HOST must be y',
      'docs/config.md lists all settings.',
    ]);
  });

  it('startErrorLines says what to do about an address that cannot be listened on', () => {
    const listen = { syscall: 'listen', address: '10.0.0.1', port: 80 };
    const lookup = { syscall: 'getaddrinfo', hostname: 'nowhere' };
    for (const [code, more, line] of [
      ['EADDRINUSE', listen, /^Cannot listen on 10\.0\.0\.1 port 80: the port is in use.*another PORT/],
      ['EACCES', listen, /^Cannot listen on 10\.0\.0\.1 port 80: .*PORT of 1024/],
      ['EADDRNOTAVAIL', listen, /^Cannot listen on 10\.0\.0\.1 port 80: HOST is not an address/],
      ['ENOTFOUND', lookup, /^Cannot listen on nowhere: HOST is not an address/],
      ['EAI_AGAIN', lookup, /^Cannot listen on nowhere: HOST is not an address/],
      ['EMFILE', listen, /^as it is$/],
      ['EACCES', { syscall: 'open' }, /^as it is$/],
      ['ENOTFOUND', {}, /^as it is$/],
    ] as const) {
      const lines = startErrorLines(Object.assign(new Error('as it is'), { code, ...more }));
      assert.equal(lines.length, 1);
      assert.match(lines[0] ?? '', line, code);
    }
  });

  it('startErrorLines shows the message of any other error', () => {
    assert.deepEqual(startErrorLines(new Error('listen EADDRINUSE')), ['listen EADDRINUSE']);
    assert.deepEqual(startErrorLines('odd'), ['odd']);
  });
});
