import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createWorkers,
  openSchemas,
  workerThreads,
  type Workers,
} from '../../../sidecar/schemas/open-schemas.js';
import type { Config } from '../../../sidecar/shared/config/load.js';
import type { RunOptions } from '../../../sidecar/shared/workers/tasks.js';
import { SqliteStore } from '../../../sidecar/store/sqlite-store.js';
import { handClock } from '../../support/store-samples.js';

const CONFIG = {
  REMOTE_ALLOWED_ORIGINS: ['https://allowed.example'],
  CONTEXT_BASE_IRI: 'https://terms.example/',
  WORKBENCH_TIMEOUT_MS: 123,
  IMPORT_LIMIT_BYTES: 100,
} as unknown as Config;

const NO_FILES = { documents: [] };
const NO_PLAN = {
  domains: [],
  domainSettings: [],
  documents: [],
  contexts: [],
  contextVersions: new Map(),
  models: [],
  refused: [],
  ignored: 0,
};

/** Workers that return the expected answer for each kind of task. */
function workersOf() {
  const runs: (readonly [string, RunOptions | undefined])[] = [];
  const ends: string[] = [];
  const workers = {
    run: (kind: string, _input: unknown, options?: RunOptions) => {
      runs.push([kind, options]);
      const outcome = {
        splitDocuments: NO_FILES,
        planImport: NO_PLAN,
        validate: { needs: { schemas: ['x'] } },
        compileModels: { areKept: true },
        describeModel: { bundled: '{}', attributes: [], names: [], types: undefined },
      }[kind];
      return Promise.resolve(outcome ?? { answer: kind });
    },
    load: () => ({ waiting: 3, running: 2 }),
    close: () => {
      ends.push('workers');
      return Promise.resolve();
    },
  } as unknown as Workers;
  return { workers, runs, ends };
}

describe('the schemas of a gateway', () => {
  it('each setting of a gateway takes effect in its schemas', async () => {
    const { workers, runs } = workersOf();
    const store = await SqliteStore.open(':memory:', handClock());
    const schemas = openSchemas(CONFIG, store, handClock(), workers);
    assert.deepEqual(schemas.workers(), { waiting: 3, running: 2 });
    // REMOTE_ALLOWED_ORIGINS
    const { contextLoader } = schemas.service;
    const stamps = ['https://allowed.example', 'https://other.example'].map((url) =>
      contextLoader.stamp(url),
    );
    const [allowed, other] = await Promise.all(stamps);
    assert.ok(allowed?.endsWith(' https://allowed.example'));
    assert.ok(!other?.includes('https://'));
    // WORKBENCH_TIMEOUT_MS
    const options = { dryRun: false, baseUrl: 'http://gateway.example' };
    await schemas.transfer.import({ kind: 'documents', text: '{}' }, options);
    assert.deepEqual(
      runs.map(([kind, given]) => [kind, given?.deadlineMs]),
      [
        ['splitDocuments', 1230],
        ['planImport', 1230],
      ],
    );
    const schema = { contentHash: 'x', lifecycle: {}, text: () => Promise.resolve('{}') } as never;
    const key = { domain: 'City', name: 'Lamp' };
    await assert.rejects(schemas.workbench.validateAgainst(schema, key, '{}', {}), { kind: 'busy' });
    assert.equal(runs.find(([kind]) => kind === 'compileModels')?.[1]?.deadlineMs, 615);
    // IMPORT_LIMIT_BYTES
    const parts = (bytes: number) => [{ name: 'a.txt', bytes: Buffer.alloc(bytes) }];
    await schemas.transfer.import({ kind: 'parts', parts: parts(800) }, options);
    await assert.rejects(schemas.transfer.import({ kind: 'parts', parts: parts(801) }, options), {
      kind: 'bodyTooLarge',
    });
    await schemas.close();
    await store.close();
  });

  it('the schemas of a gateway are closed with their workers, and leave the store open for its owner', async () => {
    const { workers, ends } = workersOf();
    const store = await SqliteStore.open(':memory:', handClock());
    await openSchemas(CONFIG, store, handClock(), workers).close();
    assert.deepEqual(ends, ['workers']);
    assert.equal(await store.isReady(), true);
    await store.close();
  });

  it('workers are not started until they are needed, and are then closed at once', async () => {
    const workers = createWorkers({ deadlineMs: 1000, clock: handClock() });
    assert.deepEqual(workers.load(), { waiting: 0, running: 0 });
    await workers.close();
  });

  it('a container with many cores but little memory starts only as many workers as half of its memory holds', () => {
    const GIB = 2 ** 30;
    const threads = [16, 8, 3, 1].map((cores) => workerThreads(cores, 64 * GIB));
    assert.deepEqual(threads, [8, 7, 2, 2]);
    const bySize = [0.25, 1, 1.5, 2, 3.9].map((size) => workerThreads(16, size * GIB));
    assert.deepEqual(bySize, [2, 2, 3, 4, 7]);
  });
});
