import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { ImportReport } from '../../../../sidecar/schemas/repository/transfer.js';
import { COMMON_DOCUMENT_URL, commonDocument } from '../../../support/five-repositories.js';
import { importing, NAMES, stateAfter, withTransfer, closeWorkers } from '../../../support/import-orders.js';
import { column, columns } from '../../../support/columns.js';

after(closeWorkers);

const changed = ({ summary }: ImportReport) => summary.created + summary.updated;
const refusedIn = ({ files }: ImportReport) =>
  files.filter(({ status }) => status === 'refused').map(({ path, url, model }) => url ?? model ?? path);

describe('imports of several repositories', () => {
  it('imports of five repositories have the same result in any order', async () => {
    // All 120 orders are tried in test/long.
    const states = new Set<string>();
    for (const order of [NAMES, NAMES.toReversed()]) {
      states.add(await stateAfter(order));
      assert.equal(states.size, 1, order.join());
    }
  });

  it('importing five repositories a second time changes nothing, and each has its own domain', async () => {
    await withTransfer(async (transfer) => {
      for (const name of NAMES) await importing(transfer, name);
      await importing(transfer, 'dataModel.Weather');
      const reports = [];
      for (const name of NAMES) reports.push(await importing(transfer, name));
      assert.deepEqual(reports.map(changed), [0, 0, 0, 0, 0]);
      assert.deepEqual(
        reports.map(({ summary }) => summary.domains),
        [
          ['data-models'],
          ['dataModel.Weather'],
          ['dataModel.Environment'],
          ['dataModel.HEALTH'],
          ['dataModel.BLDG'],
        ],
      );
      // The two files that have the URL of the common document.
      assert.deepEqual(reports.map(refusedIn), [
        ['data-models-master/old-schema.json'],
        [],
        [],
        ['dataModel.Health-master/health-schema.json'],
        [],
      ]);
    });
  });

  it('an import replaces no document that another one stored, and explains how to do so', async () => {
    await withTransfer(async (transfer) => {
      await importing(transfer, 'data-models');
      const text = (files: object) => JSON.stringify({ documents: files });
      const options = { domain: 'D', dryRun: false, baseUrl: 'http://gateway.test' };
      const claim = (files: object) => transfer.import({ kind: 'documents', text: text(files) }, options);
      const table = { 'urls.json': { [COMMON_DOCUMENT_URL]: 'mine.json' }, 'x/y.json': {} };
      const other = await claim({ ...table, 'mine.json': commonDocument('number') });
      assert.deepEqual(columns(other.files, 'url', 'status'), [[COMMON_DOCUMENT_URL, 'refused']]);
      assert.match(other.files[0]?.reason ?? '', /PUT \/api\/v2\/references\?uri=…&dependents=true/);
      const same = await claim({ ...table, 'mine.json': commonDocument('string') });
      assert.deepEqual(column(same.files, 'status'), ['unchanged']);
      // Sending a document by its URL is an explicit replacement.
      const meant = await claim({ [COMMON_DOCUMENT_URL]: commonDocument('number') });
      assert.deepEqual(column(meant.files, 'status'), ['updated']);
    });
  });
});
