import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { createWorkers, openSchemas } from '../../sidecar/schemas/open-schemas.js';
import type { SchemaService } from '../../sidecar/schemas/models/index.js';
import type { ImportReport, Transfer } from '../../sidecar/schemas/repository/transfer.js';
import { systemClock } from '../../sidecar/shared/clock.js';
import type { Config } from '../../sidecar/shared/config/load.js';
import { SqliteStore } from '../../sidecar/store/sqlite-store.js';
import type { SchemaStore } from '../../sidecar/store/sql-store.js';
import { tarGz } from './archives.js';
import { FIVE_REPOSITORIES } from './five-repositories.js';
import { entriesOf } from './repositories.js';
import { shared } from './shared-by-files.js';

/** Shared by all services in this file. */
const sharedWorkers = shared(() => createWorkers({ deadlineMs: 30_000, clock: systemClock }));

/** For a file's `after` hook. */
export async function closeWorkers(): Promise<void> {
  await sharedWorkers.release();
}

const CONFIG = {
  CONTEXT_BASE_IRI: 'https://uri.etsi.org/ngsi-ld/default-context/',
  WORKBENCH_TIMEOUT_MS: 30_000,
  IMPORT_LIMIT_BYTES: 512 * 1024 * 1024,
} as unknown as Config;

/**
 * Runs `work` with a new schema service in memory, whose workers are reused by the next one.
 * @param meddling wraps the store of the service
 */
export async function withTransfer<Result>(
  work: (transfer: Transfer, service: SchemaService) => Promise<Result>,
  meddling: (store: SchemaStore) => SchemaStore = (store) => store,
): Promise<Result> {
  const workers = sharedWorkers.get();
  const store = await SqliteStore.open(':memory:', systemClock);
  const schemas = openSchemas(CONFIG, meddling(store), systemClock, {
    run: workers.run.bind(workers),
    load: workers.load.bind(workers),
    close: () => Promise.resolve(),
  });
  try {
    return await work(schemas.transfer, schemas.service);
  } finally {
    await schemas.close();
    await store.close();
  }
}

export const NAMES = Object.keys(FIVE_REPOSITORIES);
const archives = new Map(
  NAMES.map((name) => [name, tarGz(entriesOf(FIVE_REPOSITORIES[name] ?? {}, `${name}-master/`))]),
);

/** Imports one of the five repositories as an archive. */
export async function importing(transfer: Transfer, name: string): Promise<ImportReport> {
  const bytes = await (archives.get(name) ?? assert.fail(name));
  return transfer.import({ kind: 'gzip', bytes }, { dryRun: false, baseUrl: 'http://gateway.test' });
}

/** Returns everything stored, as an export. */
async function stateOf(transfer: Transfer): Promise<string> {
  const exported = await buffer(await transfer.export(undefined, 'http://gateway.test'));
  return gunzipSync(exported).toString('latin1');
}

/** Returns all orders of some names. */
export function ordersOf(names: readonly string[]): readonly (readonly string[])[] {
  if (names.length < 2) return [names];
  return names.flatMap((first) =>
    ordersOf(names.filter((name) => name !== first)).map((rest) => [first, ...rest]),
  );
}

/**
 * Returns the stored state after the five repositories were imported in an order. Repositories that
 * need a later one are imported again. Asserts that an import changes nothing that another
 * repository has stored.
 */
export function stateAfter(order: readonly string[]): Promise<string> {
  return withTransfer(async (transfer) => {
    const waiting: string[] = [];
    for (const name of order) {
      const report = await importing(transfer, name);
      assert.deepEqual(report.dependents, [], order.join());
      if (report.files.some(({ model, status }) => model !== undefined && status === 'refused'))
        waiting.push(name);
    }
    for (const name of waiting) await importing(transfer, name);
    return stateOf(transfer);
  });
}
