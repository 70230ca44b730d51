import pLimit from 'p-limit';
import { deleteBatch, deleteEntity, getPage } from './broker-requests.js';
import { timed } from './statistics.js';

export interface ScriptTimes {
  /** Milliseconds from start to end. */
  readonly totalMs: number;
  /** Milliseconds of it that were spent on deletes; its queries took the rest. */
  readonly deletesMs: number;
}

/** The obvious script: read the first page, delete all its entities one by one, and repeat until the page is empty. */
export async function runNaiveScript(
  brokerUrl: string,
  type: string,
  { pageSize, concurrency }: { readonly pageSize: number; readonly concurrency: number },
): Promise<ScriptTimes> {
  const limit = pLimit(concurrency);
  let deletesMs = 0;
  const totalMs = await timed(async () => {
    for (;;) {
      const page = await getPage(brokerUrl, `type=${type}&limit=${pageSize}`);
      if (page.length === 0) return;
      deletesMs += await timed(async () =>
        Promise.all(page.map(async ({ id }) => limit(async () => deleteEntity(brokerUrl, id)))),
      );
    }
  });
  return { totalMs, deletesMs };
}

/** Lists all `amount` ids of a type, page by page, and deletes nothing. */
export async function listAll(
  brokerUrl: string,
  type: string,
  { amount, pageSize }: { readonly amount: number; readonly pageSize: number },
): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length < amount) {
    const page = await getPage(brokerUrl, `type=${type}&pick=id&limit=${pageSize}&offset=${ids.length}`);
    if (page.length === 0) throw new Error(`Only ${ids.length} of ${amount} entities are listed.`);
    for (const { id } of page) ids.push(id);
  }
  return ids;
}

/** Deletes entities with known ids in batches. */
export async function deleteKnown(
  brokerUrl: string,
  ids: readonly string[],
  { batchSize, concurrency }: { readonly batchSize: number; readonly concurrency: number },
): Promise<void> {
  const limit = pLimit(concurrency);
  const batches: Promise<void>[] = [];
  for (let from = 0; from < ids.length; from += batchSize) {
    batches.push(limit(async () => deleteBatch(brokerUrl, ids.slice(from, from + batchSize))));
  }
  await Promise.all(batches);
}
