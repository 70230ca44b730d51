import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { after, describe, it } from 'node:test';
import type { Transfer } from '../../../../sidecar/schemas/repository/transfer.js';
import { withTransfer, closeWorkers } from '../../../support/import-orders.js';
import { column } from '../../../support/columns.js';

after(closeWorkers);

const OPTIONS = { dryRun: false, baseUrl: 'http://gateway.test' };
const PAGES = 'https://acme.github.io/models/common.json';
const RAW = 'https://raw.githubusercontent.com/acme/models/main/common.json';
const CONTEXT = 'https://acme.github.io/models/terms.jsonld';

const common = (type: string) => ({ $id: PAGES, definitions: { Name: { type } } });
const terms = { '@context': { width: 'https://terms.example/width' } };
const BENCH = {
  $id: 'https://others.example/city/Bench/schema.json',
  type: 'object',
  properties: { type: { type: 'string' }, name: { $ref: `${RAW}#/definitions/Name` }, width: {} },
};

async function importing(transfer: Transfer, documents: object, options: object = {}) {
  const report = await transfer.import(
    { kind: 'documents', text: JSON.stringify({ documents }) },
    { ...OPTIONS, ...options },
  );
  return report.files.map(
    ({ path, url, model, context, status }) => [url ?? model ?? context ?? path, status] as const,
  );
}

describe('imports of documents that others name by other forms of their URLs', () => {
  it('a dry run finds documents by other forms of their URLs, like the import', async () => {
    await withTransfer(async (transfer) => {
      const bench = { 'Bench/schema.json': BENCH };
      assert.deepEqual(await importing(transfer, bench, { domain: 'D' }), [['D/Bench', 'refused']]);
      await importing(transfer, { [PAGES]: common('string') });
      for (const dryRun of [true, false])
        assert.deepEqual(await importing(transfer, bench, { domain: 'D', dryRun }), [['D/Bench', 'created']]);
    });
  });

  it('a document that only claims a URL is not stored next to another document of that file', async () => {
    await withTransfer(async (transfer) => {
      await importing(transfer, { [PAGES]: common('string') });
      const claim = (type: string) => ({
        'urls.json': { [RAW]: 'mine.json' },
        'mine.json': { definitions: { Name: { type } } },
        'Bench/schema.json': BENCH,
      });
      const text = JSON.stringify({ documents: claim('number') });
      const { files } = await transfer.import({ kind: 'documents', text }, { ...OPTIONS, domain: 'D' });
      const refused = files.filter(({ status }) => status === 'refused');
      assert.deepEqual(column(refused, 'url'), [RAW]);
      assert.match(refused[0]?.reason ?? '', /https:\/\/acme\.github\.io\/models\/common\.json/);
      assert.deepEqual(
        files.flatMap(({ model, status }) => (model === undefined ? [] : [[model, status]])),
        [['D/Bench', 'created']],
      );
    });
  });

  it('an export of one domain has the documents that its models and contexts name by other forms of their URLs', async () => {
    const exported = await withTransfer(async (transfer) => {
      await importing(transfer, {
        [PAGES]: common('string'),
        [CONTEXT]: terms,
        'https://acme.example/x': {},
      });
      const context = { '@context': [CONTEXT.replace('acme.github.io', 'github.com/acme')] };
      await importing(
        transfer,
        { 'Bench/schema.json': BENCH, 'Bench/context.jsonld': context },
        { domain: 'D' },
      );
      return buffer(await transfer.export('D', OPTIONS.baseUrl));
    });
    await withTransfer(async (transfer) => {
      const { files } = await transfer.import({ kind: 'gzip', bytes: exported }, OPTIONS);
      assert.deepEqual(
        files.map(({ url, model, context, status }) => [url ?? model ?? context, status]),
        [
          ['D-Bench-context', 'created'],
          ['D/Bench', 'created'],
          [PAGES, 'created'],
          [CONTEXT, 'created'],
        ],
      );
      assert.deepEqual(exported, await buffer(await transfer.export('D', OPTIONS.baseUrl)));
    });
  });

  it('a custom meta-schema of an archive is stored before the schemas that name it, by any form of its URL', async () => {
    const RULES = 'https://acme.github.io/models/rules/schema.json';
    const draft = { $schema: 'https://json-schema.org/draft/2020-12/schema' };
    const model = { $id: 'https://acme.github.io/models/Bench/schema.json', properties: { type: {} } };
    for (const name of [RULES, RULES.replace('acme.github.io/models', 'github.com/acme/models/blob/main')])
      // As a meta-schema with its own URL, and as one that looks like a model.
      for (const own of [{ $id: RULES }, { title: 'Rules', properties: { type: { type: 'string' } } }])
        await withTransfer(async (transfer) => {
          const files = {
            'models/Bench/schema.json': { ...model, $schema: name },
            'models/rules/schema.json': { ...draft, ...own },
          };
          const stored = new Map(await importing(transfer, files));
          assert.equal(stored.get('models/Bench'), 'created', JSON.stringify([name, own]));
          assert.equal(stored.get(name), 'created', JSON.stringify([name, own]));
        });
  });
});
