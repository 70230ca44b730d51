import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServedContext } from '../../../../sidecar/schemas/models/index.js';
import type { ModelKey } from '../../../../sidecar/store/records.js';
import { NotFoundError, StoreUnavailableError } from '../../../../sidecar/store/errors.js';
import { ChangedContexts } from '../../../../sidecar/schemas/repository/changed-contexts.js';

const key = (name: string): ModelKey => ({ domain: 'City', name });

/** Contexts by their names, and the models that follow each. */
function contextsOf(texts: Map<string, string>, followers: Readonly<Record<string, readonly ModelKey[]>>) {
  return new ChangedContexts({
    document: (name) => {
      const text = texts.get(name);
      if (text === undefined) return Promise.reject(new NotFoundError({ kind: 'context', name }));
      const kind = name.startsWith('domain') ? 'domain' : 'custom';
      return Promise.resolve({ bytes: Buffer.from(text), kind } as ServedContext);
    },
    followers: (name) => Promise.resolve(followers[name] ?? []),
  });
}

describe('the contexts that an import changes', () => {
  it('a changed context is known for its followers alone, by its first text, and from a count on by a later one', async () => {
    const texts = new Map([
      ['a', '1'],
      ['b', 'x'],
    ]);
    const changed = contextsOf(texts, { a: [key('Lamp'), key('Bench')], b: [key('Lamp')] });
    const set = async (name: string, text: string) =>
      changed.during(name, async () => Promise.resolve(texts.set(name, text)));
    assert.equal(changed.before(key('Lamp')), undefined);
    await set('a', '2');
    await set('a', '3');
    await set('b', 'y');
    assert.equal(changed.count, 3);
    const before = (name: string, count?: number) => {
      const found = changed.before(key(name), count);
      return found === undefined ? undefined : Object.fromEntries(found);
    };
    assert.deepEqual(before('Lamp'), { a: '1', b: 'x' });
    assert.deepEqual(before('Lamp', 1), { a: '2', b: 'x' });
    assert.deepEqual(before('Lamp', 2), { b: 'x' });
    assert.deepEqual(before('Lamp', 3), undefined);
    assert.deepEqual(before('Bench'), { a: '1' });
    assert.deepEqual(before('Bench', 2), undefined);
    assert.equal(changed.before({ domain: 'Other', name: 'Lamp' }), undefined);
    assert.deepEqual([...changed.followers().keys()].sort(), ['City/Bench', 'City/Lamp']);
  });

  it('a context that is new, stays as it is, or is that of a domain, counts as unchanged', async () => {
    const texts = new Map([
      ['a', '1'],
      ['domain', '1'],
    ]);
    const changed = contextsOf(texts, { new: [key('Lamp')], a: [key('Lamp')], domain: [key('Lamp')] });
    for (const [name, text] of [
      ['new', '1'],
      ['a', '1'],
      ['domain', '2'],
    ] as const) {
      const result = await changed.during(name, async () => {
        texts.set(name, text);
        return Promise.resolve(`wrote ${name}`);
      });
      assert.equal(result, `wrote ${name}`);
    }
    assert.equal(changed.count, 0);
    assert.equal(changed.followers().size, 0);
  });

  it('a context that could not be written or read fails with its own error, and counts as unchanged', async () => {
    const changed = contextsOf(new Map([['a', '1']]), { a: [key('Lamp')] });
    const broken = new StoreUnavailableError('down');
    await assert.rejects(
      changed.during('a', () => Promise.reject(broken)),
      broken,
    );
    assert.equal(changed.count, 0);
    const away = new ChangedContexts({
      document: () => Promise.reject(broken),
      followers: () => assert.fail('nothing was changed'),
    });
    await assert.rejects(
      away.during('a', () => assert.fail('it is not written')),
      broken,
    );
  });
});
