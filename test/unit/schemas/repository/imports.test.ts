import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { after, describe, it } from 'node:test';
import type { SchemaService } from '../../../../sidecar/schemas/models/index.js';
import type { ImportReport, Transfer } from '../../../../sidecar/schemas/repository/transfer.js';
import { AlreadyExistsError, StoreUnavailableError } from '../../../../sidecar/store/errors.js';
import type { SchemaStore } from '../../../../sidecar/store/sql-store.js';
import { closeWorkers, withTransfer } from '../../../support/import-orders.js';
import { over, storeWith } from '../models/meddling.js';

after(closeWorkers);

const OPTIONS = { dryRun: false, baseUrl: 'http://gateway.test' };

function importing(transfer: Transfer, documents: object, options: object = {}): Promise<ImportReport> {
  const text = JSON.stringify({ documents });
  return transfer.import({ kind: 'documents', text }, { ...OPTIONS, ...options });
}

const statuses = ({ files }: ImportReport) => files.map(({ path, status }) => [path, status]);

/** A context with one term. */
const terms = (iri: string) => ({ '@context': { t: iri } });
const schema = (title: string) => ({ title, type: 'object', properties: { type: {}, speed: {} } });

/** An export with one of each, which is written in this order: the domain, the document, the context and the model. */
const ONE_OF_EACH = {
  'settings/City.json': { description: 'A city.' },
  'references/urls.json': { 'urn:x': 'x.json' },
  'references/x.json': {},
  'contexts/terms.jsonld': terms('urn:t'),
  'domains/City/Bench/schema.json': schema('Bench'),
  'domains/City/Lamp/schema.json': schema('Lamp'),
};

/** A store that calls a function before each write. */
function noting(note: (write: string, store: SchemaStore) => unknown): (store: SchemaStore) => SchemaStore {
  return (store) => {
    const noted = async <Result>(write: string, make: () => Promise<Result>) => {
      await note(write, store);
      return make();
    };
    const { domains, references, contexts, models } = store;
    return storeWith(store, {
      domains: over(domains, {
        create: (domain) => noted(`domain ${domain.name}`, () => domains.create(domain)),
      }),
      references: over(references, {
        put: (one, expected) => noted(`document ${one.uri}`, () => references.put(one, expected)),
      }),
      contexts: over(contexts, {
        create: (name, version) => noted(`context ${name}`, () => contexts.create(name, version)),
      }),
      models: over(models, {
        create: (key, ...rest) => noted(`model ${key.name}`, () => models.create(key, ...rest)),
      }),
    });
  };
}

const WRITES = ['domain City', 'document urn:x', 'context terms', 'model Bench'];

describe('an interrupted import', () => {
  for (const last of WRITES) {
    it(`an import ends with an outage of the store, and with its client, at "${last}"`, async () => {
      const outage = new StoreUnavailableError('down');
      const failing = noting((write) => {
        if (write === last) throw outage;
      });
      await withTransfer((transfer) => assert.rejects(importing(transfer, ONE_OF_EACH), outage), failing);

      // A refusal at the same time is not a refusal of a file.
      for (const isRefused of [false, true]) {
        const leaving = new AbortController();
        const writes: string[] = [];
        const left = noting((write) => {
          writes.push(write);
          if (write !== last) return;
          leaving.abort(new Error('gone'));
          if (isRefused) throw new AlreadyExistsError({ kind: 'domain', name: 'City' });
        });
        const { signal } = leaving;
        await withTransfer(
          (transfer) => assert.rejects(importing(transfer, ONE_OF_EACH, { signal }), /gone/),
          left,
        );
        assert.deepEqual(writes, WRITES.slice(0, WRITES.indexOf(last) + 1));
      }
    });
  }

  it('an import whose client disconnects updates no further models outside of it', async () => {
    const leaving = new AbortController();
    const updated: string[] = [];
    const leftAtFirst = (store: SchemaStore) =>
      storeWith(store, {
        models: over(store.models, {
          update: (key, ...rest) => {
            updated.push(key.name);
            leaving.abort(new Error('gone'));
            return store.models.update(key, ...rest);
          },
        }),
      });
    await withTransfer(async (transfer, { domains, models, references }) => {
      await references.put('urn:x', { type: 'string' });
      await domains.create({ name: 'City' });
      const user = { type: 'object', properties: { a: { $ref: 'urn:x' } } };
      for (const name of ['Bench', 'Lamp']) await models.create('City', { name, schema: user }, OPTIONS);
      const { signal } = leaving;
      await assert.rejects(importing(transfer, { 'urn:x': { type: 'number' } }, { signal }), /gone/);
      assert.deepEqual(updated, ['Bench']);
    }, leftAtFirst);
  });

  it('an import uses a domain that another client has created in the meantime, and refuses the files of a domain that cannot be created', async () => {
    const overtaken = noting(async (write, store) => {
      if (write === 'domain City') await store.domains.create({ name: 'City', description: 'Of others.' });
    });
    await withTransfer(async (transfer, { store }) => {
      const { summary } = await importing(transfer, ONE_OF_EACH);
      assert.deepEqual([summary.domains, summary.refused], [['City'], 0]);
      assert.equal((await store.domains.get('City')).description, 'Of others.');
    }, overtaken);
    await withTransfer(async (transfer) => {
      const wrong = { ...ONE_OF_EACH, 'settings/City.json': { compatibility: 'some' } };
      const { files, summary } = await importing(transfer, wrong);
      assert.deepEqual([summary.domains, summary.refused], [[], 3]);
      const reasons = files.filter(({ status }) => status === 'refused').map(({ reason }) => reason);
      for (const reason of reasons) assert.match(reason ?? '', /compatibility must be/);
    });
  });

  it('a refused earlier version of an exported model is reported, and the others are stored', async () => {
    await withTransfer(async (transfer, { store }) => {
      const folder = 'domains/City/Lamp';
      const report = await importing(transfer, {
        [`${folder}/schema.json`]: schema('Lamp'),
        [`${folder}/versions/1.json`]: { type: 'objekt' },
        [`${folder}/versions/2.json`]: schema('Lantern'),
      });
      assert.deepEqual(statuses(report), [
        [`${folder}/schema.json`, 'created'],
        [`${folder}/versions/1.json`, 'refused'],
      ]);
      assert.equal((await store.models.get({ domain: 'City', name: 'Lamp' })).model.currentVersion, 2);
    });
  });
});

describe('the contexts of an import', () => {
  const A = 'contexts/a.jsonld';
  const version = (number: number) => `contexts/a.versions/${number}.jsonld`;

  /** A service that has these versions of the context `a`. */
  async function withVersions(
    iris: readonly string[],
    work: (transfer: Transfer, service: SchemaService) => Promise<void>,
  ): Promise<void> {
    await withTransfer(async (transfer, service) => {
      const [first, ...others] = iris.map(terms);
      if (first !== undefined) await service.contexts.create('a', first, OPTIONS);
      for (const other of others) await service.contexts.update('a', other, OPTIONS);
      await work(transfer, service);
    });
  }

  it('an imported context gets its earlier versions with their numbers, after existing ones', async () => {
    const iris = ['urn:1', 'urn:2', 'urn:3'];
    const files = { [version(1)]: terms('urn:1'), [version(2)]: terms('urn:2'), [A]: terms('urn:3') };
    for (const count of [0, 1, 2, 3])
      await withVersions(iris.slice(0, count), async (transfer, { contexts }) => {
        const report = await importing(transfer, files);
        const status = count === 0 ? 'created' : count === 3 ? 'unchanged' : 'updated';
        assert.deepEqual(statuses(report), [[A, status]]);
        for (const [index, iri] of iris.entries())
          assert.match((await contexts.document('a', index + 1)).bytes.toString(), new RegExp(iri));
      });
  });

  it('a model that follows a context with several new versions is compared with its state before all of them', async () => {
    await withVersions(['urn:1'], async (transfer, { domains, models }) => {
      await domains.create({ name: 'City' });
      await models.create('City', { name: 'Lamp', schema: schema('Lamp'), context: 'a' }, OPTIONS);
      const files = { [version(1)]: terms('urn:1'), [version(2)]: terms('urn:2'), [A]: terms('urn:3') };
      const { dependents } = await importing(transfer, files);
      assert.deepEqual(
        dependents.map(({ model, differences }) => [model, differences?.map(({ detail }) => detail)]),
        [['Lamp', ['"t" means urn:3, meant urn:1']]],
      );
    });
  });

  for (const [what, before, files, reason] of [
    [
      'whose first version is missing',
      [],
      { [version(2)]: 'urn:2', [A]: 'urn:3' },
      /^Its version 1 is missing/,
    ],
    [
      'of which a version in between is missing',
      [],
      { [version(1)]: 'urn:1', [version(3)]: 'urn:3', [A]: 'urn:4' },
      /^Its version 2 is missing/,
    ],
    [
      'of which a version is different here',
      ['urn:1', 'urn:other'],
      { [version(1)]: 'urn:1', [version(2)]: 'urn:2', [A]: 'urn:3' },
      /^Its version 2 is different here/,
    ],
    [
      'whose current version is different here by its number',
      ['urn:1', 'urn:other'],
      { [version(1)]: 'urn:1', [A]: 'urn:2' },
      /^Its version 2 is different here/,
    ],
    [
      'of which two versions are the same',
      [],
      { [version(1)]: 'urn:1', [version(2)]: 'urn:1', [A]: 'urn:3' },
      /^Its version 2 is the same as the one before it/,
    ],
    [
      'of which a version is refused',
      [],
      { [version(1)]: 'no IRI', [A]: 'urn:2' },
      /^Its version 1 \(contexts\/a\.versions\/1\.jsonld\) is refused\. /,
    ],
  ] as const) {
    it(`an imported context ${what} is refused, and its current text is not written`, async () => {
      await withVersions(before, async (transfer, { contexts }) => {
        const given = Object.entries(files).map(([path, iri]) => [path, terms(iri)] as const);
        const report = await importing(transfer, Object.fromEntries(given));
        assert.deepEqual(statuses(report), [[A, 'refused']]);
        assert.match(report.files[0]?.reason ?? '', reason);
        const stored = await contexts.document('a').catch(() => undefined);
        assert.ok(stored?.bytes.toString().includes(files[A]) !== true);
      });
    });
  }
});

it('an export has every document, however many there are', async () => {
  const bytes = await withTransfer(async (transfer, { references }) => {
    // More than are read from a list at once.
    for (let index = 0; index < 101; index += 1) await references.put(`urn:x:${index}`, {});
    return buffer(await transfer.export(undefined, OPTIONS.baseUrl));
  });
  const { summary } = await withTransfer((transfer) => transfer.import({ kind: 'gzip', bytes }, OPTIONS));
  assert.equal(summary.created, 101);
});
