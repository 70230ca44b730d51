import assert from 'node:assert/strict';
import { it } from 'node:test';
import { attributesToRemove, checkNames } from '../../../../sidecar/purge/attributes/attribute-removal.js';
import {
  previewAttributes,
  removeAttributes,
  checkKept,
} from '../../../../sidecar/purge/attributes/index.js';
import { QueryRefusedError, TooManyMatchesError } from '../../../../sidecar/purge/errors.js';
import { firstPage } from '../../../../sidecar/purge/run/index.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import type { AttributeRemoval } from '../../../../sidecar/purge/attributes/index.js';
import type { Parameter } from '../../../../sidecar/purge/query/index.js';
import { replyOf } from '../../../support/replies.js';
import { contextOf } from '../hand-made-context.js';

type Entity = Readonly<Record<string, unknown>> & { readonly id: string };

interface Attributes {
  readonly entities: readonly Entity[];
  readonly selection?: readonly Parameter[];
  readonly maxAffected?: number;
  /** The attribute that the broker knows by this name, and shows by this name. */
  readonly meaning?: (name: string) => string;
  /** Matches that the broker counts and does not list. */
  readonly hidden?: number;
  /** The broker counts nothing, and shows the same page for every offset. */
  readonly showsOnePage?: boolean;
  /** Called with the entity of each delete, before it takes effect. */
  readonly onDelete?: (id: string) => Promise<void>;
}

const PROPERTY = { type: 'Property', value: 1 };
const entity = (n: number, ...names: readonly string[]): Entity => ({
  id: `urn:t:${n}`,
  type: 'T',
  ...Object.fromEntries(names.map((name) => [name, PROPERTY])),
});

/** A context whose broker respects attrs, and deletes attributes. */
function at({ meaning = (name) => name, selection = [], hidden = 0, ...given }: Attributes) {
  const world = new Map(given.entities.map((each) => [each.id, new Map(Object.entries(each))]));
  const queries: URLSearchParams[] = [];
  const deletes: string[] = [];
  const list = (query: URLSearchParams) => {
    queries.push(query);
    const attrs = query.get('attrs')?.split(',').map(meaning);
    const isShown = (name: string) => attrs === undefined || ['id', 'type', ...attrs].includes(name);
    const isImpossible = query.get('type')?.includes('PurgeProbe') === true;
    const found = [...world.values()].filter(
      (own) => !isImpossible && (attrs?.some((name) => own.has(name)) ?? true),
    );
    const offset = given.showsOnePage === true ? 0 : Number(query.get('offset') ?? 0);
    const page = found.slice(offset, offset + Number(query.get('limit')));
    const shown = page.map((own) => Object.fromEntries([...own].filter(([name]) => isShown(name))));
    const count = { 'ngsild-results-count': String(found.length + hidden) };
    return replyOf(200, shown, given.showsOnePage === true ? {} : count);
  };
  const context = contextOf({
    brokerQuery: { resource: entities('attributes'), selection },
    broker: async ({ method, path }) => {
      const [resource = '', search = ''] = path.split('?');
      if (method === 'GET') return list(new URLSearchParams(search));
      const [, , id = '', , name = ''] = resource.split('/').map(decodeURIComponent);
      deletes.push(`${id} ${name}`);
      await given.onDelete?.(id);
      return replyOf(world.get(id)?.delete(name) === true ? 204 : 404);
    },
    limits: { pageSize: 10, maxAffected: given.maxAffected },
  });
  const withAttribute = (name: string) => [...world.values()].filter((own) => own.has(name)).length;
  return { context, queries, deletes, withAttribute };
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
    const { context } = at({ entities: [entity(1, 'a'), entity(2, 'a')], hidden });
    const { matched, isLowerBound } = await previewAttributes(context, DROP_A);
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
  const underWay = new Set<string>();
  let most = 0;
  const { context, deletes, withAttribute } = at({
    entities: thirty,
    onDelete: async (id) => {
      assert.ok(!underWay.has(id), 'two at the same time');
      most = Math.max(most, underWay.add(id).size);
      await new Promise((resolve) => setImmediate(resolve));
      underWay.delete(id);
    },
  });
  await removeAttributes(context, { kind: 'keep', names: ['c'] }, 30);
  assert.deepEqual(['a', 'b', 'c'].map(withAttribute), [0, 0, 30]);
  assert.deepEqual([context.ledger.matched, deletes.length, most], [60, 60, 4]);
});

it('a removal warns if the broker shows the same page for every offset, unless that page shows all in the end', async () => {
  const ofType = [{ name: 'type', value: 'T' }];
  for (const [selection, left] of [
    [ofType, 20],
    [[...ofType, { name: 'attrs', value: 'a' }], 0],
  ] as const) {
    const { context, withAttribute } = at({ entities: thirty, selection, showsOnePage: true });
    await removeAttributes(context, DROP_A, undefined);
    assert.equal(withAttribute('a'), left);
    assert.deepEqual(
      [...context.warnings].map((warning) => warning.includes('the same page')),
      left > 0 ? [true] : [],
    );
  }
});
