import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { temporalEntities, type PageQuery } from '../../../../sidecar/purge/listing/index.js';
import { instanceListsOf } from '../../../../sidecar/purge/temporal/instances.js';
import { EPOCH } from '../../../../sidecar/purge/temporal/time-filter.js';
import { learnValueSelection } from '../../../../sidecar/purge/temporal/value-selection.js';
import { contextOf } from '../hand-made-context.js';
import { listerOf, pageOf } from '../hand-made-lister.js';

const ID = 'urn:ngsi-ld:Car:1';
const TIME = { property: 'observedAt', from: EPOCH, to: undefined } as const;

interface Broker {
  readonly selects: 'entities' | 'instances';
  /** Bounds of intervals are excluded. */
  readonly isExclusive?: boolean;
  readonly most?: number;
  readonly tells?: boolean;
  readonly isDown?: boolean;
}

type Instance = Readonly<Record<string, unknown>> & { readonly observedAt: string };

/** Finds out what q selects, at a broker of one entity with one attribute and this history. */
async function learn(
  history: readonly Instance[],
  { selects, isExclusive = false, most = Infinity, tells = false, isDown = false }: Broker,
  attribute = 'speed',
) {
  const answer = ({ selection }: PageQuery) => {
    if (isDown) return pageOf([]);
    const given = Object.fromEntries(selection.map(({ name, value }) => [name, value]));
    const [from, to] = [given['timeAt'] ?? '', given['endTimeAt'] ?? '9'];
    const within = history.filter(({ observedAt: at }) =>
      isExclusive ? at > from && at < to : at >= from && at < to,
    );
    const matching = within.filter(({ value }) => given['q'] === `${attribute}==${String(value)}`);
    if (given['q'] !== undefined && matching.length === 0) return pageOf([]);
    const found = given['q'] === undefined || selects === 'entities' ? within : matching;
    const shown = found.slice(0, most);
    return pageOf([ID], {
      entities: [{ id: ID, [attribute]: shown }],
      isPartial: tells && shown.length < found.length,
    });
  };
  const { lister, asked } = listerOf(answer);
  const selection = [
    { name: 'type', value: 'Car' },
    { name: 'q', value: 'speed>1' },
  ];
  const context = { ...contextOf({ brokerQuery: { resource: temporalEntities(), selection } }), lister };
  const lists = instanceListsOf({ [attribute]: history }, 'observedAt');
  const verdict = await learnValueSelection(
    context,
    lists.map((list) => ({ entityId: ID, ...list })),
    TIME,
  );
  return { verdict, asked };
}

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const instance = (second: number, value: unknown, more: object = {}): Instance => ({
  value,
  observedAt: at(second),
  instanceId: `urn:i:${second}`,
  ...more,
});

it('the selection of q is not determined for instances without an id, because they cannot be deleted', async () => {
  const anonymous = [1, 2].map((second) => instance(second, second, { instanceId: undefined }));
  const { verdict, asked } = await learn(anonymous, { selects: 'instances' });
  assert.deepEqual([verdict, asked], ['unknown', []]);
});

for (const selects of ['entities', 'instances'] as const) {
  for (const isExclusive of [false, true]) {
    it(`the selection of q is learnt from two neighbours of different values: ${selects}${isExclusive ? ', without bounds' : ''}`, async () => {
      const { verdict } = await learn([instance(1, 5), instance(2, 5), instance(3, 7)], {
        selects,
        isExclusive,
      });
      assert.equal(verdict, selects);
    });
  }

  it(`the selection of q is never learnt wrongly, whatever the history: ${selects}`, async () => {
    const histories = fc.uniqueArray(
      fc.record({ second: fc.nat({ max: 20 }), value: fc.constantFrom(1, 2, 'x'), isNamed: fc.boolean() }),
      { selector: ({ second }) => second, minLength: 1, maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(histories, fc.boolean(), async (some, tells) => {
        const history = [...some]
          .sort((one, other) => one.second - other.second)
          .map(({ second, value, isNamed }) =>
            instance(second, value, isNamed ? {} : { instanceId: undefined }),
          );
        for (const most of [1, Infinity]) {
          const { verdict } = await learn(history, { selects, most, tells });
          assert.ok(verdict === 'unknown' || verdict === selects, verdict);
        }
      }),
      { numRuns: 200 },
    );
  });
}

it("the selection of q is learnt by one attribute of one entity, without the query's own filter", async () => {
  const { asked } = await learn([instance(1, 5), instance(2, 7)], { selects: 'instances' });
  assert.equal(asked.length, 2);
  const [matching, both] = asked.map(({ selection }) =>
    Object.fromEntries(selection.map(({ name, value }) => [name, value])),
  );
  const { q, ...others } = matching ?? {};
  assert.equal(q, 'speed==5');
  assert.deepEqual(both, others);
  assert.deepEqual([others['id'], others['attrs'], others['type']], [ID, 'speed', 'Car']);
  assert.ok(asked.every(({ limit, instances }) => limit === 1 && instances === 1000));
});

it('the selection of q is unknown without such neighbours, or if the broker shows none of them', async () => {
  for (const history of [
    [instance(1, 5)],
    [instance(1, 5), instance(2, 5)],
    [instance(1, 'a'), instance(2, 'b')],
    [instance(1, 5), instance(2, 7)].map((one) => ({ ...one, observedAt: 'soon' })),
  ])
    assert.equal((await learn(history, { selects: 'entities' })).asked.length, 0);
  const { verdict } = await learn([instance(1, 5), instance(2, 7)], { selects: 'entities', isDown: true });
  assert.equal(verdict, 'unknown');
});

/** The result for two neighbours at a broker that shows these with q, and those without q. */
async function learntFrom(
  withQ: readonly Instance[],
  without: readonly Instance[],
  isPartial = false,
): Promise<string> {
  const { lister } = listerOf(({ selection }) => {
    const isFiltered = selection.some(({ name }) => name === 'q');
    return pageOf([ID], {
      entities: [{ id: ID, speed: isFiltered ? withQ : without }],
      isPartial: isFiltered && isPartial,
    });
  });
  const context = { ...contextOf({ brokerQuery: { resource: temporalEntities(), selection: [] } }), lister };
  const [list] = instanceListsOf({ speed: NEIGHBOURS }, 'observedAt');
  assert.ok(list !== undefined);
  return learnValueSelection(context, [{ entityId: ID, ...list }], TIME);
}

const NEIGHBOURS = [instance(1, 5), instance(2, 7)];
const [FIRST, SECOND] = [NEIGHBOURS.slice(0, 1), NEIGHBOURS.slice(1)];

for (const [what, withQ, without, isPartial, learnt] of [
  ['the one that matches with q, and both without', FIRST, NEIGHBOURS, false, 'instances'],
  ['the one that matches with q in an answer that is cut', FIRST, NEIGHBOURS, true, 'unknown'],
  ['neither with q, though both without', [], NEIGHBOURS, false, 'unknown'],
  ['one with q and the other without', FIRST, SECOND, false, 'unknown'],
] as const)
  it(`the selection of q is ${learnt} if the broker shows ${what}`, async () => {
    assert.equal(await learntFrom(withQ, without, isPartial), learnt);
  });

it('the selection of q is never learnt by a name that q could read as something else', async () => {
  for (const name of ['a.b', 'a[b]', 'https://a.test/b', '1a', 'a b', 'a==1|b', 'ä'])
    assert.equal(
      (await learn([instance(1, 5), instance(2, 7)], { selects: 'entities' }, name)).asked.length,
      0,
    );
});
