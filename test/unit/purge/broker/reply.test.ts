import assert from 'node:assert/strict';
import fc from 'fast-check';
import { it } from 'node:test';
import {
  failureIn,
  failureOf,
  readBatchReply,
  type DeleteResult,
} from '../../../../sidecar/purge/broker/index.js';
import { replyOf } from '../../../support/replies.js';
import { isRetryableStatus } from '../../../../sidecar/purge/broker/reply.js';

const ETSI = 'https://uri.etsi.org/ngsi-ld/errors/';

it('isRetryableStatus is true for 429 and every 5xx except 501, 505, 508, 510 and 511', () => {
  const permanent = [501, 505, 508, 510, 511];
  for (let status = 100; status < 700; status++) {
    const expected = status === 429 || (status >= 500 && status < 600 && !permanent.includes(status));
    assert.equal(isRetryableStatus(status), expected, String(status));
  }
});

it('failureOf is undefined for every final reply', () => {
  for (const status of [200, 201, 204, 207, 301, 304, 400, 401, 403, 404, 409, 413, 422, 501, 505, 511]) {
    assert.equal(failureOf(replyOf(status, { title: 'x' })), undefined, String(status));
  }
});

it('failureOf keeps status, problem and Retry-After of a throttled request', () => {
  const failure = failureOf(replyOf(429, { title: 'Slow down' }, { 'retry-after': '7' }));
  assert.deepEqual(failure, {
    kind: 'throttled',
    status: 429,
    problem: { title: 'Slow down', status: 429 },
    retryAfter: '7',
  });
});

it('failureOf drops a Retry-After that no client could read', () => {
  for (const value of ['soon', '-1', '1.5', '1, 2', ''])
    assert.equal(failureOf(replyOf(429, undefined, { 'retry-after': value }))?.retryAfter, undefined, value);
  const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
  assert.equal(failureOf(replyOf(503, undefined, { 'retry-after': date }))?.retryAfter, date);
});

it('failureOf is a broker error for a temporary 5xx, with an HTML page or nothing as body', () => {
  for (const status of [500, 502, 503, 504, 507, 599]) {
    const page = replyOf(status, '<html>Bad Gateway</html>', { 'content-type': 'text/html' });
    assert.deepEqual(failureOf(page), { kind: 'broker-error', status, problem: { status } });
    assert.deepEqual(failureOf(replyOf(status)), { kind: 'broker-error', status, problem: { status } });
  }
});

const CONTEXT_ERROR = 'https://uri.etsi.org/ngsi-ld/errors/LdContextNotAvailable';

it('failureOf recognises an unavailable @context by its type, whether sent as 503 or 504', () => {
  for (const status of [503, 504]) {
    for (const type of [CONTEXT_ERROR, `${CONTEXT_ERROR} `, 'LdContextNotAvailable']) {
      assert.equal(failureOf(replyOf(status, { type }))?.kind, 'context-unavailable');
    }
    assert.equal(failureOf(replyOf(status, { title: 'Gateway Timeout' }))?.kind, 'broker-error');
  }
});

const IDS = ['urn:a:1', 'urn:a:2', 'urn:a:3'] as const;
const [FIRST, SECOND] = IDS;

function itemsOf(
  status: number,
  body: unknown,
  ids: readonly string[] = IDS,
): ReadonlyMap<string, DeleteResult> {
  const verdict = readBatchReply(replyOf(status, body), ids);
  assert.equal(verdict.kind, 'items');
  assert.deepEqual([...verdict.items.keys()], ids, 'exactly the ids of the batch have a verdict');
  return verdict.items;
}

const kindsOf = (status: number, body: unknown) =>
  [...itemsOf(status, body).values()].map(({ kind }) => kind);

const verdictOn = (error: unknown): DeleteResult => {
  const verdict = itemsOf(207, { success: [], errors: [{ entityId: FIRST, error }] }).get(FIRST);
  assert.ok(verdict);
  return verdict;
};

const ALL_GONE = ['deleted', 'deleted', 'deleted'];
const ALL_ABSENT = ['absent', 'absent', 'absent'];

it('readBatchReply counts all ids as deleted for 204 and 200, whatever the body', () => {
  for (const body of [
    '',
    [...IDS],
    { success: IDS },
    { success: [], errors: [] },
    '<html>ok</html>',
    'null',
  ]) {
    assert.deepEqual(kindsOf(204, body), ALL_GONE);
    assert.deepEqual(kindsOf(200, body), ALL_GONE);
  }
});

it('readBatchReply counts all ids as deleted for a 207 without errors', () => {
  for (const body of [
    '',
    { success: [FIRST] },
    { errors: null },
    { errors: 'none' },
    { errors: {} },
    'no json',
  ]) {
    assert.deepEqual(kindsOf(207, body), ALL_GONE);
  }
});

it('a success whose body is a problem does not count as deleted', () => {
  for (const [body, headers] of [
    [{ type: `${ETSI}InternalError`, title: 'gone', status: 500 }, {}],
    [{ title: 'gone' }, { 'content-type': 'application/problem+json; charset=utf-8' }],
  ] as const)
    for (const status of [200, 207]) {
      const batch = readBatchReply(replyOf(status, body, headers), IDS);
      assert.equal(batch.kind, 'items');
      assert.deepEqual(
        [...batch.items.values()].map((item) => [item.kind, 'problem' in item && item.problem.title]),
        IDS.map(() => ['unclear', 'gone']),
      );
    }
  assert.equal(failureIn(replyOf(200, { type: `${ETSI}InternalError`, title: 'gone' }))?.kind, 'unclear');
  assert.equal(failureIn(replyOf(200, { type: 'Deleted', title: 'gone' })), undefined);
});

const failed = (entityId: string, status: number) => ({ entityId, error: { status } });
const failedAs = (id: string, ProblemDetails: object) => ({ type: 'Delete', id, ProblemDetails });

for (const [what, status, body, kinds] of [
  [
    'failures in a list of results, as Scorpio has sent them',
    207,
    [
      { id: FIRST, type: 'Delete', failure: [{ type: `${ETSI}BadRequestData`, errorCode: 400 }] },
      { id: SECOND, type: 'Delete', success: [{}] },
    ],
    ['refused', 'deleted', 'deleted'],
  ],
  ['a 404 that names all as missing', 404, { type: `${ETSI}ResourceNotFound`, entityIds: IDS }, ALL_ABSENT],
  ['a 404 that names one as missing', 404, { title: 'Entity not found', entityId: FIRST }, ALL_ABSENT],
  [
    'ids that are not mentioned',
    207,
    { success: [], errors: [failed(FIRST, 403)] },
    ['refused', 'deleted', 'deleted'],
  ],
  [
    'an error that names no id',
    207,
    { success: [FIRST], errors: [{ error: { title: 'Some are locked', status: 409 } }, failed(SECOND, 403)] },
    ['deleted', 'refused', 'unclear'],
  ],
  [
    'an error that names an id of no entity in the batch',
    207,
    { success: [], errors: [failed('urn:a:other', 404)] },
    ['unclear', 'unclear', 'unclear'],
  ],
  [
    'an id under success and errors',
    207,
    { success: IDS, errors: [failed(SECOND, 500)] },
    ['deleted', 'retryable', 'deleted'],
  ],
  [
    'a 404 with errors of type, id and ProblemDetails',
    404,
    {
      errors: [
        failedAs(FIRST, { status: 404 }),
        failedAs(SECOND, { status: 500 }),
        failedAs('urn:a:3', { title: 'Conflict' }),
      ],
    },
    ['absent', 'retryable', 'unclear'],
  ],
  [
    'an error status that lists failures, which says nothing of the ids that it does not name',
    400,
    { errors: [failed(FIRST, 400)] },
    ['refused', 'unclear', 'unclear'],
  ],
  [
    'an error status that lists failures and successes',
    400,
    { success: [SECOND], errors: [failed(FIRST, 400)] },
    ['refused', 'deleted', 'unclear'],
  ],
] as const)
  it(`readBatchReply understands ${what}`, () => {
    assert.deepEqual(kindsOf(status, body), kinds);
  });

it('readBatchReply sorts failed items by the status of their problem: retryable, refused or absent', () => {
  for (const status of [429, 500, 502, 503, 504]) assert.equal(verdictOn({ status }).kind, 'retryable');
  for (const status of [400, 401, 403, 409, 422, 501]) assert.equal(verdictOn({ status }).kind, 'refused');
  assert.equal(verdictOn({ status: 404, title: 'Entity Not Found' }).kind, 'absent');
  assert.equal(verdictOn({ status: '503' }).kind, 'retryable');
  for (const status of [100, 599]) assert.notEqual(verdictOn({ status }).kind, 'unclear', String(status));
  // The text says no more than the status.
  for (const status of [403, 409]) assert.equal(verdictOn({ status, title: 'Not found' }).kind, 'refused');
  assert.equal(verdictOn({ status: 503, title: 'Not found' }).kind, 'retryable');
});

it("readBatchReply keeps the broker's problem of each failed item", () => {
  assert.deepEqual(
    verdictOn({ type: `${ETSI}Conflict`, title: 'No', detail: 'held elsewhere', status: 409 }),
    {
      kind: 'refused',
      problem: { type: `${ETSI}Conflict`, title: 'No', detail: 'held elsewhere', status: 409 },
    },
  );
});

it('readBatchReply counts failed items without a status as absent if their text says so, and otherwise as unclear', () => {
  for (const error of [
    { type: `${ETSI}ResourceNotFound` },
    { title: 'Entity Not Found' },
    'not found',
    { title: 'nonexistent' },
  ]) {
    assert.equal(verdictOn(error).kind, 'absent', JSON.stringify(error));
  }
  for (const error of [
    { title: 'Broken' },
    { status: 'high' },
    { status: 42 },
    { status: 99 },
    { status: 600 },
    { status: 404.5 },
    { status: '' },
    {},
    null,
    'broken',
    7,
    [],
  ]) {
    const verdict = verdictOn(error);
    assert.equal(verdict.kind, 'unclear', JSON.stringify(error));
    assert.equal(verdict.problem.status, 500);
  }
  const long = verdictOn('x'.repeat(5000));
  assert.ok(long.kind === 'unclear' && long.problem.title?.length === 1000);
  assert.deepEqual(verdictOn('broken'), { kind: 'unclear', problem: { title: 'broken', status: 500 } });
});

it('readBatchReply finds the id, the problem and the status of a failed item under each of their names', () => {
  for (const id of ['entityId', 'id'])
    for (const problem of ['error', 'ProblemDetails', 'problemDetails'])
      for (const item of [{ [problem]: { status: 409, title: 'Held' } }, { [problem]: {}, status: 409 }])
        assert.deepEqual(kindsOf(207, { errors: [{ [id]: FIRST, ...item }] }), [
          'refused',
          'deleted',
          'deleted',
        ]);
  assert.deepEqual(kindsOf(207, { errors: [{ id: FIRST, status: 409 }] })[0], 'refused');
  // The status within the problem takes precedence.
  const both = { entityId: FIRST, status: 404, error: { status: 503 } };
  assert.equal(kindsOf(207, { errors: [both] })[0], 'retryable');
});

it('readBatchReply never adds ids that were not in the batch, and learns nothing from malformed items', () => {
  const errors = [
    null,
    5,
    'x',
    [],
    {},
    { entityId: 7 },
    { entityId: 'urn:ngsi-ld:*', error: { status: 500 } },
  ];
  assert.deepEqual(kindsOf(207, { errors }), ['unclear', 'unclear', 'unclear']);
  assert.deepEqual(kindsOf(207, { errors: errors.slice(0, 4) }), ALL_GONE);
});

it('readBatchReply tells failed items apart when ids are names of Object.prototype', () => {
  const ids = ['__proto__', 'constructor', 'toString'];
  const errors = [{ entityId: '__proto__', error: { status: 403 } }];
  const items = itemsOf(207, JSON.stringify({ errors }), ids);
  assert.deepEqual(
    [...items.values()].map(({ kind }) => kind),
    ['refused', 'deleted', 'deleted'],
  );
  const hostile = '{"errors":[{"__proto__":{"entityId":"constructor","error":{"status":500}}}]}';
  assert.deepEqual(
    [...itemsOf(207, hostile, ids).values()].map(({ kind }) => kind),
    ['unclear', 'unclear', 'unclear'],
  );
});

it('readBatchReply reports batches as unsupported if the broker lacks the route or the method', () => {
  for (const [status, body] of [
    [404, ''],
    [404, { type: `${ETSI}ResourceNotFound`, title: 'Service not found' }],
    [404, '<html>Cannot POST</html>'],
    [404, { errors: [] }],
    [405, ''],
    [501, { type: `${ETSI}OperationNotSupported` }],
  ] as const) {
    assert.deepEqual(readBatchReply(replyOf(status, body), IDS), { kind: 'no-batch' });
  }
});

it("readBatchReply reports any other error as a refusal of the whole batch, with the broker's problem", () => {
  for (const status of [400, 409, 411, 413, 415, 422]) {
    const verdict = readBatchReply(replyOf(status, { title: 'Too large' }), IDS);
    assert.deepEqual(verdict, { kind: 'refused', problem: { title: 'Too large', status } });
  }
});

it('readBatchReply reports a refusal of the whole batch even if the error names entities, unless it is a 404', () => {
  for (const body of [{ entityId: FIRST }, { entityIds: IDS }]) {
    assert.equal(readBatchReply(replyOf(400, body), IDS).kind, 'refused');
  }
});

it('readBatchReply never throws, whatever the broker answers', () => {
  const items = fc.array(fc.record({ entityId: fc.constantFrom(...IDS), error: fc.jsonValue() }));
  const bodies = fc.oneof(
    fc.json(),
    fc.string(),
    items.map((errors) => JSON.stringify({ errors })),
  );
  fc.assert(
    fc.property(fc.integer({ min: 200, max: 599 }), bodies, (status, body) => {
      const verdict = readBatchReply(replyOf(status, body), IDS);
      if (verdict.kind === 'items') assert.deepEqual([...verdict.items.keys()], IDS);
      else assert.ok(status >= 300);
    }),
  );
});
