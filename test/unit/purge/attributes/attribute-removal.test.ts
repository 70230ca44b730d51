import assert from 'node:assert/strict';
import { it } from 'node:test';
import { attributesToRemove, checkNames } from '../../../../sidecar/purge/attributes/attribute-removal.js';
import {
  previewAttributes,
  removeAttributes,
  checkKept,
} from '../../../../sidecar/purge/attributes/index.js';
import { QueryRefusedError, TooManyMatchesError } from '../../../../sidecar/purge/errors.js';
import { firstPage, type PurgeContext } from '../../../../sidecar/purge/run/index.js';
import { entities, type PageQuery } from '../../../../sidecar/purge/listing/index.js';
import type { AttributeRemoval } from '../../../../sidecar/purge/attributes/index.js';
import type { Parameter } from '../../../../sidecar/purge/query/index.js';
import { replyOf } from '../broker/replies.js';
import { contextOf } from '../hand-made-context.js';

type Entity = Readonly<Record<string, unknown>> & { readonly id: string };

interface Attributes {
  readonly entities: readonly Entity[];
  readonly selection?: readonly Parameter[];
  readonly maxAffected?: number;
  /** The attribute that the broker knows by this name, and shows by this name. */
  readonly meaning?: (name: string) => string;
}

const PROPERTY = { type: 'Property', value: 1 };
const entity = (n: number, ...names: readonly string[]): Entity => ({
  id: `urn:t:${n}`,
  type: 'T',
  ...Object.fromEntries(names.map((name) => [name, PROPERTY])),
});

/** The same, with a broker that counts some more matches than it lists. */
function hiding(context: PurgeContext, hidden: number): PurgeContext {
  const page = async (query: PageQuery) => {
    const shown = await context.lister.page(query);
    return shown.count === undefined ? shown : { ...shown, count: shown.count + hidden };
  };
  return { ...context, lister: { ...context.lister, page } };
}

/** A context whose broker respects attrs, and deletes attributes. */
function at({ meaning = (name) => name, selection = [], ...given }: Attributes) {
  const world = new Map(given.entities.map((each) => [each.id, new Map(Object.entries(each))]));
  const queries: URLSearchParams[] = [];
  const deletes: string[] = [];
  const shownUnder = (own: ReadonlyMap<string, unknown>, attrs: readonly string[] | undefined) =>
    Object.fromEntries(
      [...own].filter(([name]) => attrs === undefined || ['id', 'type', ...attrs].includes(name)),
    );
  const context = contextOf({
    brokerQuery: { resource: entities('attributes'), selection },
    broker: ({ method, path }) => {
      const [resource = '', search = ''] = path.split('?');
      const query = new URLSearchParams(search);
      if (method === 'DELETE') {
        const [, , id = '', , name = ''] = resource.split('/').map(decodeURIComponent);
        deletes.push(`${id} ${name}`);
        return replyOf(world.get(id)?.delete(name) === true ? 204 : 404);
      }
      queries.push(query);
      const attrs = query.get('attrs')?.split(',').map(meaning);
      const has = (own: ReadonlyMap<string, unknown>) =>
        attrs === undefined || attrs.some((name) => own.has(name));
      const [offset, limit] = [Number(query.get('offset') ?? 0), Number(query.get('limit'))];
      const whole = query.get('type')?.includes('PurgeProbe') === true ? [] : [...world.values()];
      const found = whole.filter(has);
      return replyOf(
        200,
        found.slice(offset, offset + limit).map((own) => shownUnder(own, attrs)),
        { 'ngsild-results-count': String(found.length) },
      );
    },
    limits: { pageSize: 10, maxAffected: given.maxAffected },
  });
  return { context, queries, deletes };
}

const DROP_A: AttributeRemoval = { kind: 'drop', names: ['a'] };
const thirty = Array.from({ length: 30 }, (_, n) => entity(n, 'a', 'b', 'c'));

it('a removal affects the attributes that drop names, or that keep does not name, and no other members', () => {
  const shown = { ...entity(1, 'a', 'b'), '@context': 'x', createdAt: 'x', scope: '/a' };
  for (const [kind, names, reached] of [
    ['drop', ['a', 'z'], ['a']],
    ['keep', ['a', 'z'], ['b']],
    ['drop', ['type', 'createdAt'], []],
    ['keep', ['a', 'b'], []],
  ] as const) {
    assert.deepEqual(attributesToRemove(shown, { kind, names }), reached);
  }
});

const shownAs = (name: string) => (name.startsWith('https://x/') ? name.slice(10) : name);

it('names of attributes must all be names that the broker shows', async () => {
  for (const names of [
    ['https://x/a', 'b'],
    ['b', 'https://x/a'],
  ]) {
    for (const kind of ['drop', 'keep'] as const) {
      const { context } = at({ entities: thirty, meaning: shownAs });
      await assert.rejects(checkNames(context, { kind, names }), (error: unknown) => {
        assert.ok(error instanceof QueryRefusedError);
        assert.deepEqual([error.kind, error.parameter], ['badRequestData', kind]);
        assert.match(error.message, /shows the attribute https:\/\/x\/a as a:/);
        return true;
      });
    }
  }
});

it('the names of a removal are checked one by one, by the query itself without its own attrs', async () => {
  const { context, queries } = at({
    entities: thirty,
    selection: [
      { name: 'type', value: 'T' },
      { name: 'attrs', value: 'a,b' },
    ],
  });
  await checkNames(context, { kind: 'drop', names: ['a', 'b'] });
  assert.deepEqual(
    queries.map((query) => [query.getAll('attrs'), query.get('type'), query.get('limit')]),
    [
      [['a'], 'T', '1'],
      [['b'], 'T', '1'],
    ],
  );
});

it('the names of a removal are checked before anything is counted or removed', async () => {
  const removal: AttributeRemoval = { kind: 'keep', names: ['https://x/a'] };
  const { context, deletes } = at({ entities: thirty, meaning: shownAs });
  await assert.rejects(previewAttributes(context, removal), QueryRefusedError);
  await assert.rejects(removeAttributes(context, removal, 30), QueryRefusedError);
  assert.deepEqual(deletes, []);
});

it('the removal of attributes counts the attributes, not the entities, before the first delete', async () => {
  for (const [maxAffected, isAllowed] of [
    [59, false],
    [60, true],
  ] as const) {
    const { context, deletes } = at({ entities: thirty, maxAffected });
    const ended = removeAttributes(context, { kind: 'keep', names: ['b'] }, 30);
    if (isAllowed) {
      await ended;
      assert.equal(deletes.length, 60);
      continue;
    }
    await assert.rejects(
      ended,
      (error: unknown) => error instanceof TooManyMatchesError && error.matched > 59 && !error.exact,
    );
    assert.deepEqual(deletes, []);
  }
});

it('the preview of a removal counts the attributes, and names a hundred entities', async () => {
  for (const n of [0, 3, 100, 101, 130]) {
    const { context, deletes } = at({
      entities: Array.from({ length: n }, (_, index) => entity(index, 'a', 'b', 'c')),
    });
    const { matched, sample } = await previewAttributes(context, { kind: 'keep', names: ['c'] });
    assert.deepEqual([matched, sample.length, deletes], [2 * n, Math.min(n, 100), []]);
  }
});

it('the preview of a removal names only entities that have attributes to remove', async () => {
  const { context } = at({ entities: [entity(1, 'b'), entity(2, 'a')] });
  assert.deepEqual(await previewAttributes(context, DROP_A), { matched: 1, sample: ['urn:t:2'] });
});

it('the preview of a removal says if there is more than could be counted', async () => {
  for (const hidden of [0, 2]) {
    const { context } = at({ entities: [entity(1, 'a'), entity(2, 'a')] });
    const { matched, isLowerBound } = await previewAttributes(hiding(context, hidden), DROP_A);
    assert.deepEqual([matched, isLowerBound], [2, hidden === 0 ? undefined : true]);
  }
});

it('the refusal of a keep names its first five attributes', async () => {
  const names = ['v1', 'v2', 'v3', 'v4', 'v5', 'v6'];
  const { context } = at({ entities: thirty, selection: [{ name: 'type', value: 'T' }] });
  const checked = checkKept(context, { kind: 'keep', names }, await firstPage(context));
  await assert.rejects(checked, /\(v1, v2, v3, v4, v5\)/);
});

it('deletes of attributes of one entity never overlap, because brokers that read, remove and write would lose one', async () => {
  const world = new Map(thirty.map((each) => [each.id, Object.keys(each)]));
  const underWay = new Set<string>();
  let [most, deletes] = [0, 0];
  const context = contextOf({
    brokerQuery: { resource: entities('attributes'), selection: [] },
    broker: async ({ method, path }) => {
      const [resource = '', search = ''] = path.split('?');
      const [, , id = '', , name = ''] = resource.split('/').map(decodeURIComponent);
      if (method === 'DELETE') {
        const before = world.get(id) ?? [];
        assert.ok(!underWay.has(id), 'two at the same time');
        most = Math.max(most, underWay.add(id).size);
        deletes += 1;
        await new Promise((resolve) => setImmediate(resolve));
        underWay.delete(id);
        world.set(
          id,
          before.filter((each) => each !== name),
        );
        return replyOf(204);
      }
      const query = new URLSearchParams(search);
      const [offset, limit] = [Number(query.get('offset') ?? 0), Number(query.get('limit'))];
      const shown = [...world].map(([each, names]) => ({
        ...Object.fromEntries(names.map((one) => [one, PROPERTY])),
        id: each,
        type: 'T',
      }));
      return replyOf(200, shown.slice(offset, offset + limit), { 'ngsild-results-count': '30' });
    },
  });
  await removeAttributes(context, { kind: 'keep', names: ['c'] }, 30);
  assert.deepEqual([...new Set([...world.values()].flat())], ['id', 'type', 'c']);
  assert.deepEqual([context.ledger.matched, deletes, most], [60, 60, 4]);
});

it('a removal warns if the broker shows the same page for every offset, unless that page shows all in the end', async () => {
  for (const [kept, left] of [
    [true, 20],
    [false, 0],
  ] as const) {
    const world = new Map(thirty.map((each) => [each.id, new Map(Object.entries(each))]));
    const context = contextOf({
      brokerQuery: { resource: entities('attributes'), selection: [{ name: 'type', value: 'T' }] },
      broker: ({ method, path }) => {
        const [resource = '', search = ''] = path.split('?');
        const query = new URLSearchParams(search);
        if (method === 'DELETE') {
          const [, , id = '', , name = ''] = resource.split('/').map(decodeURIComponent);
          return replyOf(world.get(id)?.delete(name) === true ? 204 : 404);
        }
        const isMeant = query.get('type')?.includes('PurgeProbe') !== true;
        const found = [...world.values()].filter((own) => isMeant && (kept || own.has('a')));
        return replyOf(
          200,
          found.slice(0, Number(query.get('limit'))).map((own) => Object.fromEntries(own)),
        );
      },
    });
    await removeAttributes(context, DROP_A, undefined);
    assert.equal([...world.values()].filter((own) => own.has('a')).length, left);
    assert.deepEqual(
      [...context.warnings].map((warning) => warning.includes('the same page')),
      kept ? [true] : [],
    );
  }
});
