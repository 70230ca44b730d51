import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BrokerProblem, Failure } from '../../../sidecar/purge/broker/index.js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../../sidecar/shared/config/load.js';
import { RequestRefusedError } from '../../../sidecar/http/refused.js';
import { problemOf, unexpectedProblem, type ProblemAnswer } from '../../../sidecar/http/problem.js';
import { JobSecretError } from '../../../sidecar/jobs/job-headers.js';
import * as jobs from '../../../sidecar/jobs/errors.js';
import { errorTypes, problemKinds, problemTypeUri } from '../../../sidecar/shared/problem.js';
import * as errors from '../../../sidecar/purge/errors.js';
import { SchemaRefusedError } from '../../../sidecar/schemas/json-schema/errors.js';
import { ContextInvalidError } from '../../../sidecar/schemas/json-ld/errors.js';
import * as models from '../../../sidecar/schemas/models/errors.js';
import * as work from '../../../sidecar/schemas/models/workbench-errors.js';
import { RepositoryUnclearError } from '../../../sidecar/schemas/repository/errors.js';
import { ImportRunningError } from '../../../sidecar/schemas/repository/transfer.js';
import { InvalidBodyError, type ProblemKind } from '../../../sidecar/shared/errors.js';
import {
  TaskFailedError,
  TaskTooCostlyError,
  WorkersBusyError,
} from '../../../sidecar/shared/workers/errors.js';
import * as store from '../../../sidecar/store/errors.js';
import { ROOT } from '../../support/project.js';

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

it('a refused query is 400 with the type of the standard, and names the parameter', () => {
  const invalid = answerTo(new errors.QueryRefusedError('invalidRequest', 'Parameter x is not known.', 'x'));
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

it('a refused request is answered with its own problem and headers', () => {
  const problem = {
    type: problemTypeUri('unauthorized'),
    title: 'Unauthorized',
    status: 401,
    detail: 'no token',
  };
  const headers = { 'www-authenticate': 'GatewayToken' };
  const error = new RequestRefusedError('unauthorized', 'no token', { realm: 'a' }, headers);
  assert.deepEqual(answerTo(error), { problem: { ...problem, realm: 'a' }, headers });
});

it('the problem of too many matches says whether the number is exact', () => {
  assert.match(new errors.TooManyMatchesError(11, 10, false).message, /at least 11\b/);
  assert.doesNotMatch(new errors.TooManyMatchesError(11, 10, true).message, /at least/);
});

it("refusals of the broker keep their 4xx or 501, and contain the broker's type and problem", () => {
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

it('refusals of the broker are 502 if their status means nothing to the client', () => {
  for (const status of [200, 302, 505, 511, 600]) {
    const { problem } = refused({ status, type: `${ETSI}InternalError`, title: 'x' });
    assert.deepEqual([problem.status, problem.type], [502, problemTypeUri('broker-refused')]);
    assert.deepEqual(problem['broker'], { status, type: `${ETSI}InternalError`, title: 'x' });
  }
});

it('refusals of the broker have a type of the gateway if the broker gives none that is a URI', () => {
  for (const type of ['BadRequest', 'about:blank', 'javascript:alert(1)', 'https://with blank']) {
    assert.equal(refused({ status: 400, type }).problem.type, problemTypeUri('broker-refused'));
  }
  assert.deepEqual(refused({ status: 400 }).problem, {
    type: problemTypeUri('broker-refused'),
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

const cause = new Error('The broker could not be reached: connection refused.');
for (const [what, failure, reason, status, type, headers, detail] of [
  [
    'a broker that asks for too long a pause is 429 with its Retry-After',
    ...([{ kind: 'throttled', status: 429, retryAfter: '3600' }, 'retry-after-too-long', 429] as const),
    ...([problemTypeUri('broker-throttled'), { 'retry-after': '3600' }, /./] as const),
  ],
  [
    'a time-out of the broker is 504',
    ...([{ kind: 'timeout' }, undefined, 504, problemTypeUri('broker-timeout'), {}, /./] as const),
  ],
  [
    'a broker out of reach is 502',
    ...([{ kind: 'unreachable', cause }, 'nothing-but-failures', 502] as const),
    ...([problemTypeUri('broker-unreachable'), {}] as const),
    /connection refused \(it answers nothing but failures\)\.$/,
  ],
  [
    "a 5xx of the broker is 502, with the broker's problem inside and its Retry-After",
    { kind: 'broker-error', status: 503, retryAfter: '7', problem: { status: 503, title: 'Busy' } },
    ...([undefined, 502, problemTypeUri('broker-failed'), { 'retry-after': '7' }] as const),
    /answered 503 \(all tries failed\)/,
  ],
  [
    "an @context that is not available is 502 with the standard's type, and the broker's Retry-After",
    { kind: 'context-unavailable', status: 504, problem: { status: 504 }, retryAfter: '9' },
    ...([undefined, 502, errorTypes.ldContextNotAvailable, { 'retry-after': '9' }, /./] as const),
  ],
] as const)
  it(what, () => {
    const answer = failed(failure, reason);
    assert.deepEqual([answer.problem.status, answer.problem.type, answer.headers], [status, type, headers]);
    assert.match(answer.problem.detail ?? '', detail);
    assert.deepEqual(answer.problem['broker'], 'problem' in failure ? failure.problem : undefined);
    assert.equal('broker' in answer.problem, 'problem' in failure);
  });

it("a throttling broker without a Retry-After is answered with the gateway's own", () => {
  assert.match(failed({ kind: 'throttled', status: 429 }).headers['retry-after'] ?? '', /^[1-9]\d*$/);
});

it('unexpected errors have no specific problem, and reveal nothing of their cause', () => {
  for (const error of [
    new Error('secret'),
    new TypeError('x'),
    'text',
    null,
    undefined,
    new ConfigError([]),
    new TaskFailedError('The task failed.'),
    new store.LeaseLostError('P'),
    new store.DatabaseUnusableError('a.db is damaged.'),
  ]) {
    assert.equal(problemOf(error), undefined);
  }
  assert.deepEqual(unexpectedProblem(), {
    type: errorTypes.internalError,
    title: 'Internal error',
    status: 500,
    detail: 'An unexpected error occurred; the log of the gateway has the cause.',
  });
});

const MODEL = { kind: 'model', domain: 'D', name: 'M' } as const;
const FOLLOWER = { kind: 'context', name: 'D', version: 1 } as const;
const FAULTS = [{ pointer: '/schema/type', detail: 'is wrong' }];
const REPORT = { overall: 'narrowing', differences: [] } as const;
const UNREADABLE = { line: 2, column: 3, detail: 'no JSON' };
const SOON = { 'retry-after': '1' };
const LATER = { 'retry-after': '5' };
const READ_ONLY = { allow: 'GET, HEAD, OPTIONS' };

const CASES: readonly (readonly [
  error: Error,
  kind: ProblemKind,
  members?: Readonly<Record<string, unknown>>,
  headers?: Readonly<Record<string, string>>,
])[] = [
  [new errors.UnsupportedRequestError('no'), 'notSupported'],
  [new errors.PolicyRefusedError('no'), 'forbiddenByPolicy'],
  [new errors.FilterIgnoredError('scopeQ', 'ignored'), 'filterIgnored', { parameter: 'scopeQ' }],
  [
    new errors.UnexpectedEntityError('urn:a:1', 'idPattern'),
    'unexpectedEntity',
    { entityId: 'urn:a:1', parameter: 'idPattern' },
  ],
  [new errors.TooManyMatchesError(11, 10, false), 'tooManyMatches', { matched: 11, maxAffected: 10 }],
  [new errors.UncountableError('no bound'), 'uncountableMatches'],
  [new errors.BrokerReplyError('no JSON'), 'brokerReplyUnusable'],
  [new errors.NotConvergingError('on and on'), 'notConverging'],
  [new errors.PurgeStoppedError('stopped'), 'shuttingDown', {}, LATER],
  [new errors.TooManyPurgesError(8, 'purges'), 'tooManyPurges', {}, LATER],
  [new jobs.QueueFullError(8), 'tooManyPurges', {}, LATER],
  // The client that cancelled the purge does not want it to be retried.
  [new jobs.PurgeCancelledError(), 'purgeCancelled'],
  [new jobs.JobNotFoundError('purge', 'P'), 'notFound'],
  [new jobs.IdsNotFoundError('P', 'w'), 'notFound'],
  [new jobs.JobEndedError('purge', 'P', 'failed'), 'purgeOver'],
  [new JobSecretError('no secret'), 'jobSecretMissing'],
  [new store.RunUnderWayError('R', 'P'), 'runUnderWay', { purge: 'P' }],
  [new store.RestoreUnderWayError('P', 'R'), 'inUse', { purge: 'R' }],
  [new store.NotFoundError(MODEL), 'notFound'],
  [new models.FileNotFoundError('x.json'), 'notFound'],
  [new store.AlreadyExistsError(MODEL), 'alreadyExists'],
  [new store.PreconditionFailedError(MODEL, 'now'), 'preconditionFailed', {}, { etag: '"now"' }],
  [new store.PreconditionFailedError(MODEL, undefined), 'preconditionFailed'],
  [
    new store.InUseError(MODEL, [{ kind: 'context', name: 'C', version: 2 }], 1),
    'inUse',
    { dependents: [{ kind: 'context', name: 'C', version: 2 }], total: 1 },
  ],
  [
    new models.BrokenFollowersError('C', [FOLLOWER], 'It has no terms.'),
    'inUse',
    { dependents: [FOLLOWER], total: 1 },
  ],
  [
    new models.IncompatibleChangeError(REPORT, 'forward'),
    'incompatibleChange',
    { report: REPORT, direction: 'forward' },
  ],
  [new store.ReadOnlyContextError('D~M'), 'readOnly', {}, READ_ONLY],
  [new store.DependencyChangedError(['urn:a:a'], []), 'dependencyChanged'],
  [new models.ConcurrentUpdateError({}), 'dependencyChanged'],
  [new models.PublishedError({ domain: 'D', name: 'M' }), 'modelPublished'],
  [
    new InvalidBodyError('The name is none.', '/name', 'is none'),
    'bodyInvalid',
    { errors: [{ pointer: '/name', detail: 'is none' }] },
  ],
  [new store.UnstorableTextError('schema'), 'bodyInvalid'],
  [new models.ReferenceUriError('is none'), 'invalidRequest', { parameter: 'uri' }],
  [new RepositoryUnclearError('no domain'), 'invalidRequest', { parameter: 'domain' }],
  [new ImportRunningError(), 'busy', {}, LATER],
  [new SchemaRefusedError('schemaInvalid', 'no', FAULTS), 'schemaInvalid', { errors: FAULTS }],
  [
    new SchemaRefusedError('schemaReferenceDangling', 'no', FAULTS, ['urn:a:a']),
    'schemaReferenceDangling',
    { errors: FAULTS, missing: ['urn:a:a'] },
  ],
  [new ContextInvalidError(FAULTS), 'contextInvalid', { errors: FAULTS }],
  [
    new work.WorkbenchRefusedError('contextUnavailable', 'no answer', [], 'https://a.example/c'),
    'contextUnavailable',
    { url: 'https://a.example/c' },
  ],
  [new work.WorkbenchRefusedError('dataDropped', 'lost', FAULTS), 'dataDropped', { errors: FAULTS }],
  [
    new work.UnreadableBodyError({ ...UNREADABLE, isTooDeep: false }),
    'invalidRequest',
    { line: 2, column: 3 },
  ],
  [new work.UnreadableBodyError({ ...UNREADABLE, isTooDeep: true }), 'limitExceeded', { line: 2, column: 3 }],
  [new work.DeadlineExceededError('too slow'), 'deadlineExceeded'],
  [new WorkersBusyError(3), 'busy', {}, SOON],
  [new TaskTooCostlyError('time', 'Too long.'), 'busy', {}, SOON],
  [new store.StoreUnavailableError('Down.'), 'storeUnavailable', {}, SOON],
];

for (const [index, [error, kind, members = {}, headers = {}]] of CASES.entries()) {
  it(`the problem of ${error.name} (${index}) is ${kind}, with its members and headers`, () => {
    assert.deepEqual(problemOf(error), {
      problem: { ...problemKinds[kind], detail: error.message, ...members },
      headers,
    });
  });
}

it('text that cannot be stored is reported as a fault of its member, if it comes from the body', () => {
  for (const member of ['name', 'description', 'contextBase']) {
    const error = new store.UnstorableTextError(member);
    const errors = [{ pointer: `/${member}`, detail: error.message }];
    assert.deepEqual(problemOf(error)?.problem['errors' as never], errors, member);
  }
});

it('a problem of each type has the status that docs/errors.md states', () => {
  const page = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
  const stated = new Map(
    Array.from(page.matchAll(/^### ([a-z-]+)\n\n\*\*(\d{3})\b/gm), ([, type = '', status]) => [
      type,
      Number(status),
    ]),
  );
  assert.ok(stated.size > 30, `${stated.size} types`);
  for (const { type, status } of Object.values(problemKinds)) {
    const own = /^urn:ngsi-ld-gateway:problem:(.*)$/.exec(type)?.[1];
    if (own !== undefined && stated.has(own)) assert.equal(status, stated.get(own), own);
  }
});

it('a problem of a type of the standard has its status', () => {
  const standard = Object.entries(problemKinds).filter(([, { type }]) => type.startsWith('https:'));
  assert.deepEqual(Object.fromEntries(standard.map(([name, { status }]) => [name, status])), {
    invalidRequest: 400,
    badRequestData: 400,
    writeInvalid: 400,
    requestTimeout: 408,
    uriTooLong: 414,
    expectationFailed: 417,
    fieldsTooLarge: 431,
    notFound: 404,
    alreadyExists: 409,
    internalError: 500,
    brokerContextUnavailable: 502,
    contextUnavailable: 504,
  });
});
