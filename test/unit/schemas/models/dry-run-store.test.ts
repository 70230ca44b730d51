import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DryRunStore } from '../../../../sidecar/schemas/models/dry-run-store.js';
import { SqliteStore } from '../../../../sidecar/store/sqlite-store.js';
import {
  ALL,
  contextVersion,
  dump,
  handClock,
  modelVersion,
  reference,
  SETTINGS,
} from '../../../support/store-samples.js';

const A = 'https://schemas.example/a.json';
const B = 'https://schemas.example/b.json';
const PLUG = { domain: 'energy', name: 'Plug' };

/** Runs with a trial of a store that has one of each, and asserts that nothing has reached that store. */
async function onTrial(work: (trial: DryRunStore, below: SqliteStore) => Promise<void>): Promise<void> {
  const below = await SqliteStore.open(':memory:', handClock());
  await below.domains.create({ name: 'energy' });
  await below.references.put(reference(A, '{"a":1}'));
  await below.contexts.create('terms', contextVersion('terms'));
  await below.models.create(PLUG, SETTINGS, modelVersion('plug'));
  const [before, revision] = [await dump(below), await below.revision()];
  await work(new DryRunStore(below), below);
  assert.deepEqual(await dump(below), before);
  assert.equal(await below.revision(), revision);
  await below.close();
}

describe('a trial of a store', () => {
  it('a trial of a store reads documents as it wrote them, and others from the store', () =>
    onTrial(async (trial) => {
      assert.equal((await trial.references.put(reference(A, '{"a":1}'))).outcome, 'unchanged');
      const replaced = await trial.references.put(reference(A, '{"a":2}'));
      const created = await trial.references.put(reference(B, '{"b":1}'));
      assert.deepEqual([replaced.outcome, created.outcome], ['replaced', 'created']);
      assert.deepEqual(await trial.references.get(A), replaced.reference);
      const texts = await trial.references.texts([A, B, 'https://schemas.example/none.json']);
      assert.deepEqual(
        [...texts].map(([uri, { text, sha256 }]) => [uri, text, sha256]),
        [
          [A, '{"a":2}', replaced.reference.content.sha256],
          [B, '{"b":1}', created.reference.content.sha256],
        ],
      );
      assert.equal(await trial.content(created.reference.content.sha256), '{"b":1}');
      assert.deepEqual(await trial.references.dependents(B, ALL), { items: [], total: 0 });
      // A write that restores the stored state changes the trial again.
      assert.equal((await trial.references.put(reference(A, '{"a":1}'))).outcome, 'replaced');
    }));

  it('a trial of a store finds its own and stored documents under all forms of their URLs', async () => {
    const PAGES = 'https://acme.github.io/models/a.json';
    const RAW = 'https://raw.githubusercontent.com/acme/models/master/a.json';
    const MAIN = 'https://raw.githubusercontent.com/acme/models/main/a.json';
    const below = await SqliteStore.open(':memory:', handClock());
    await below.references.put(reference(PAGES, '{"a":1}'));
    const trial = new DryRunStore(below);
    const textAt = async (uri: string) => (await trial.references.texts([uri])).get(uri)?.text;
    assert.deepEqual([await textAt(RAW), await textAt(B)], ['{"a":1}', undefined]);
    await trial.references.put(reference(PAGES, '{"a":2}'));
    assert.equal(await textAt(RAW), '{"a":2}');
    await trial.references.put(reference(RAW, '{"a":3}'));
    assert.deepEqual(
      [await textAt(PAGES), await textAt(RAW), await textAt(MAIN)],
      ['{"a":2}', '{"a":3}', undefined],
    );
    await trial.references.put(reference(RAW, '{"a":2}'));
    assert.equal(await textAt(MAIN), '{"a":2}');
    await below.close();
  });

  it('a trial of a store respects the expected state of a document', () =>
    onTrial(async (trial) => {
      const put = (uri: string, expected: 'absent' | 'present' | readonly string[]) =>
        trial.references.put(reference(uri, '{"c":1}'), expected);
      const refused = { kind: 'preconditionFailed' };
      await assert.rejects(put(A, 'absent'), refused);
      await assert.rejects(put(A, ['other']), refused);
      await assert.rejects(put(B, 'present'), refused);
      const below = (await trial.references.get(A)).etag;
      const tried = (await put(A, [below])).reference.etag;
      await assert.rejects(put(A, [below]), refused);
      assert.equal((await put(A, [tried])).outcome, 'unchanged');
      assert.equal((await put(B, 'absent')).outcome, 'created');
    }));

  it('a trial of a store reads contexts as it wrote them, with versions that continue those of the store', () =>
    onTrial(async (trial, below) => {
      const same = await trial.contexts.update('terms', contextVersion('terms'));
      assert.deepEqual(same, await below.contexts.get('terms'));
      const { context, version } = await trial.contexts.update('terms', contextVersion('other'));
      assert.deepEqual([context.currentVersion, version.number], [2, 2]);
      assert.deepEqual(await trial.contexts.get('terms'), { context, version });
      assert.deepEqual(await trial.contexts.get('terms', 2), { context, version });
      assert.deepEqual(await trial.contexts.get('terms', 1), await below.contexts.get('terms'));
      await assert.rejects(trial.contexts.get('terms', 3), { kind: 'notFound' });
      assert.equal(await trial.content(version.content.sha256), contextVersion('other').text);
      const fresh = await trial.contexts.create('fresh', contextVersion('fresh'));
      assert.equal(fresh.context.kind, 'custom');
      assert.deepEqual(await trial.contexts.get('fresh'), fresh);
      assert.equal((await trial.contexts.update('fresh', contextVersion('again'))).context.currentVersion, 2);
      assert.deepEqual(await trial.contexts.get('fresh', 1), fresh);
    }));

  it('a trial of a store has the contexts that models would have, with consecutive versions for new ones', () =>
    onTrial(async (trial) => {
      const numbers = async (name: string, version?: number) => {
        const at = await trial.contexts.get(name, version);
        return [at.context.kind, at.version.number, await trial.content(at.version.content.sha256)];
      };
      trial.keepGenerated(PLUG, 'second', 2);
      assert.deepEqual(await numbers('energy~Plug'), ['generated', 2, 'second']);
      assert.equal((await numbers('energy~Plug', 1))[1], 1);
      // The context of a draft replaces the previous one.
      trial.keepGenerated(PLUG, 'other', 2);
      assert.deepEqual(await numbers('energy~Plug', 2), ['generated', 2, 'other']);
      const fresh = { domain: 'energy', name: 'Fresh' };
      for (const text of ['one', 'two']) trial.keepGenerated(fresh, text, undefined);
      assert.deepEqual(await numbers('energy~Fresh', 1), ['generated', 1, 'one']);
      assert.deepEqual(await numbers('energy~Fresh'), ['generated', 2, 'two']);
    }));

  it('a trial of a store has the domains that it created, without models, and those of the store with theirs', () =>
    onTrial(async (trial) => {
      assert.equal((await trial.domains.create({ name: 'traffic' })).name, 'traffic');
      assert.equal((await trial.domains.get('traffic')).name, 'traffic');
      assert.deepEqual(await trial.models.list('traffic', ALL), { items: [], total: 0 });
      assert.deepEqual(await trial.models.current('traffic'), []);
      await assert.rejects(trial.models.get({ domain: 'traffic', name: 'Car' }), { kind: 'notFound' });
      assert.equal((await trial.models.list('energy', ALL)).total, 1);
      assert.equal((await trial.models.get(PLUG)).model.name, 'Plug');
    }));

  it('a trial of a store refuses the names and contexts that the store itself would refuse', () =>
    onTrial(async (trial, below) => {
      await trial.domains.create({ name: 'traffic' });
      await trial.contexts.create('fresh', contextVersion('fresh'));
      for (const [name, refuse] of Object.entries({
        energy: () => trial.domains.create({ name: 'energy' }),
        traffic: () => trial.domains.create({ name: 'traffic' }),
        'a domain by a context below': () => trial.domains.create({ name: 'terms' }),
        'a domain by a context on trial': () => trial.domains.create({ name: 'fresh' }),
        'a context below': () => trial.contexts.create('terms', contextVersion('x')),
        'a context on trial': () => trial.contexts.create('fresh', contextVersion('x')),
        'a context by a domain below': () => trial.contexts.create('energy', contextVersion('x')),
        'a context by a domain on trial': () => trial.contexts.create('traffic', contextVersion('x')),
      }))
        await assert.rejects(refuse, { kind: 'alreadyExists' }, name);
      const generated = (await below.models.get(PLUG)).model.contextName;
      await assert.rejects(trial.contexts.update(generated, contextVersion('x')), {
        kind: 'readOnly',
      });
      await assert.rejects(trial.contexts.update('none', contextVersion('x')), { kind: 'notFound' });
    }));

  it('a trial of a store writes no models and deletes nothing', () =>
    onTrial(async (trial) => {
      for (const write of [
        () => trial.models.create({ domain: 'energy', name: 'Lamp' }, SETTINGS, modelVersion('lamp')),
        () => trial.models.delete(PLUG),
        () => trial.domains.delete('energy', { cascade: true }),
        () => trial.contexts.delete('terms'),
        () => trial.references.delete(A),
      ])
        await assert.rejects(write, /A dry run does not write this/);
    }));

  it('a trial of a store has a revision that changes with its writes and those of the store, and does not close the store', () =>
    onTrial(async (trial, below) => {
      const first = await trial.revision();
      assert.equal(await trial.revision(), first);
      await trial.references.put(reference(B, '{}'));
      assert.notEqual(await trial.revision(), first);
      await trial.close();
      assert.equal(await below.isReady(), true);
    }));
});
