import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readBatchReply, type DeleteResult } from '../../../../sidecar/purge/broker/index.js';
import { replyOf } from './replies.js';

const IDS = ['urn:a:1', 'urn:a:2', 'urn:a:3'] as const;
const [FIRST, SECOND] = IDS;
const ETSI = 'https://uri.etsi.org/ngsi-ld/errors/';

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

describe('readBatchReply: all deleted', () => {
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

  it('readBatchReply counts the ids that a 404 names as missing, and all others as deleted', () => {
    assert.deepEqual(kindsOf(404, { type: `${ETSI}ResourceNotFound`, entityIds: IDS }), ALL_ABSENT);
    assert.deepEqual(kindsOf(404, { title: 'Entity not found', entityId: FIRST }), ALL_ABSENT);
  });

  it('readBatchReply counts ids as deleted that are mentioned neither as deleted nor as failed', () => {
    const errors = [{ entityId: FIRST, error: { status: 403 } }];
    assert.deepEqual(kindsOf(207, { success: [], errors }), ['refused', 'deleted', 'deleted']);
  });
});

describe('readBatchReply: items that failed', () => {
  it('an error in a batch reply overrides the same id under success', () => {
    const errors = [{ entityId: SECOND, error: { status: 500, title: 'Broken' } }];
    assert.deepEqual(kindsOf(207, { success: IDS, errors }), ['deleted', 'retryable', 'deleted']);
  });

  it('readBatchReply sorts failed items by the status of their problem: retryable, refused or absent', () => {
    for (const status of [429, 500, 502, 503, 504]) assert.equal(verdictOn({ status }).kind, 'retryable');
    for (const status of [400, 401, 403, 409, 422, 501]) assert.equal(verdictOn({ status }).kind, 'refused');
    assert.equal(verdictOn({ status: 404, title: 'Entity Not Found' }).kind, 'absent');
    assert.equal(verdictOn({ status: '503' }).kind, 'retryable');
    for (const status of [100, 599]) assert.notEqual(verdictOn({ status }).kind, 'unclear', String(status));
    // The words say no more than the status.
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

  it('readBatchReply takes failed items without a status for absent if their text says so, else for unclear', () => {
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

  it('readBatchReply reads failed items from a 404 with errors of type, id and ProblemDetails', () => {
    const item = (id: string, status: number) => ({
      type: 'Delete',
      id,
      ProblemDetails: { status, title: 't' },
    });
    const errors = [
      item(FIRST, 404),
      item(SECOND, 500),
      { id: 'urn:a:3', ProblemDetails: { title: 'Conflict' } },
    ];
    assert.deepEqual(kindsOf(404, { errors }), ['absent', 'retryable', 'unclear']);
  });

  it('readBatchReply finds the id, the problem and the status of a failed item under each of their names', () => {
    for (const id of ['entityId', 'id'])
      for (const problem of ['error', 'ProblemDetails', 'problemDetails'])
        for (const item of [{ [problem]: { status: 409, title: 'Held' } }, { [problem]: {}, status: 409 }])
          assert.deepEqual(kindsOf(207, { errors: [{ [id]: FIRST, ...item }] }), [
            ...['refused', 'deleted', 'deleted'],
          ]);
    assert.deepEqual(kindsOf(207, { errors: [{ id: FIRST, status: 409 }] })[0], 'refused');
    // The status within the problem counts more.
    const both = { entityId: FIRST, status: 404, error: { status: 503 } };
    assert.equal(kindsOf(207, { errors: [both] })[0], 'retryable');
  });

  it('readBatchReply reads failed items from any error status that lists them', () => {
    const errors = [{ entityId: FIRST, error: { status: 400, title: 'Bad' } }];
    assert.deepEqual(kindsOf(400, { errors }), ['refused', 'deleted', 'deleted']);
  });

  it('readBatchReply never adds ids that were not in the batch, and ignores malformed items', () => {
    const errors = [
      null,
      5,
      'x',
      [],
      {},
      { entityId: 7 },
      { entityId: 'urn:ngsi-ld:*', error: { status: 500 } },
    ];
    assert.deepEqual(kindsOf(207, { errors }), ALL_GONE);
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
      ALL_GONE,
    );
  });
});

describe('readBatchReply: the batch as a whole', () => {
  it('readBatchReply reports batches as unsupported by a broker without the route or the method', () => {
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

  it('readBatchReply reports a refusal of the whole batch also if the error names entities, unless it is a 404', () => {
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
});
