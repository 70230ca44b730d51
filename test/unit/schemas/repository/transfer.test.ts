import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RepositoryTasks } from '../../../../sidecar/schemas/repository/tasks.js';
import type { SchemaService } from '../../../../sidecar/schemas/models/index.js';
import { ImportRunningError, Transfer } from '../../../../sidecar/schemas/repository/transfer.js';
import type { TaskRunner } from '../../../../sidecar/shared/workers/tasks.js';

const EMPTY = { kind: 'documents', text: '{"documents": {}}' } as const;
const OPTIONS = { dryRun: false, baseUrl: 'http://gateway.example' };
const PLAN = {
  ...{ domains: [], domainSettings: [], documents: [], contexts: [], contextVersions: new Map() },
  ...{ models: [], refused: [], ignored: 0 },
};

/** An import of nothing, with a worker that answers what it is told. */
function transferWith(split: () => Promise<unknown>, schemas: object = {}) {
  const workers = {
    run: (kind: string) => (kind === 'splitDocuments' ? split() : Promise.resolve(PLAN)),
  } as unknown as TaskRunner<RepositoryTasks>;
  return new Transfer({
    schemas: schemas as SchemaService,
    workbench: { validateAgainst: () => assert.fail('there are no examples') },
    workers,
    clock: { now: () => 0, sleep: () => Promise.resolve() },
    ...{ deadlineMs: 100, limitBytes: 1000 },
  });
}

describe('the imports of a gateway', () => {
  it('an import is refused while another one runs, and taken when that is done or has failed', async () => {
    let answer: (() => void) | undefined;
    let isBroken = false;
    const transfer = transferWith(
      () =>
        new Promise((resolve, reject) => {
          answer = () => (isBroken ? reject(new Error('broken')) : resolve({ documents: [] }));
        }),
    );
    for (const fails of [false, true, false]) {
      isBroken = fails;
      const first = transfer.import(EMPTY, OPTIONS);
      const ended = first.then(
        () => 'done',
        () => 'failed',
      );
      await assert.rejects(transfer.import(EMPTY, OPTIONS), ImportRunningError);
      await assert.rejects(transfer.import(EMPTY, OPTIONS), { code: 'IMPORT_RUNNING' });
      answer?.();
      assert.equal(await ended, fails ? 'failed' : 'done');
    }
  });

  it('a dry run of an import, and of a shared document, is tried on a trial of the service and nowhere else', async () => {
    const reference = { uri: 'https://a.example/x.json' };
    const used: string[] = [];
    const service = (name: string) => ({
      contexts: {},
      references: {
        spellings: () => Promise.resolve([]),
        put: (uri: string, document: unknown, expected: unknown) => {
          used.push(`${name} ${uri} ${JSON.stringify([document, expected])}`);
          return Promise.resolve({ reference, outcome: 'created' });
        },
        outdatedModels: (uri: string) => {
          used.push(`${name} dependents ${uri}`);
          return Promise.resolve([]);
        },
      },
    });
    let trials = 0;
    const schemas = {
      ...service('real'),
      trial: () => {
        trials += 1;
        return service('trial');
      },
    };
    const transfer = transferWith(() => Promise.resolve({ documents: [] }), schemas);
    for (const dryRun of [false, true]) {
      const { summary } = await transfer.import(EMPTY, { ...OPTIONS, dryRun });
      assert.equal(summary.dryRun, dryRun);
      assert.equal(trials, dryRun ? 1 : 0);
    }
    for (const dryRun of [true, false]) {
      const put = await transfer.putReference('urn:x', { a: 1 }, { ...OPTIONS, dryRun, expected: 'absent' });
      assert.deepEqual(put, { reference, outcome: 'created', dependents: [] });
    }
    const write = 'urn:x [{"a":1},"absent"]';
    assert.deepEqual(used, [
      ...[`trial ${write}`, `trial dependents ${reference.uri}`],
      ...[`real ${write}`, `real dependents ${reference.uri}`],
    ]);
    assert.equal(trials, 2);
  });
});
