import assert from 'node:assert/strict';
import fc from 'fast-check';
import { it } from 'node:test';
import {
  firstShape,
  nextShape,
  type InstancePageShape,
  type ShownPage,
  TruncationEvidence,
  type PageExtent,
} from '../../../../sidecar/purge/temporal/instance-pages.js';

const PAGE = 1000;
const shown = (entities: number, perEntity: number, longest = perEntity): ShownPage => ({
  entities,
  instances: entities * perEntity,
  longest,
});

/** Pages that a broker could show for a shape: of up to three attributes each. */
const pages = (shape: InstancePageShape) =>
  fc.record({
    entities: fc.integer({ min: 0, max: shape.limit }),
    longest: fc.integer({ min: 1, max: shape.instances }),
    attributes: fc.integer({ min: 1, max: 3 }),
  });

it('the shape of a page starts small, within the page size', () => {
  assert.deepEqual(firstShape(PAGE), { limit: 10, instances: 100 });
  assert.deepEqual(firstShape(3), { limit: 3, instances: 100 });
});

it('the shape of a page stays within 1 entity and 100 to 1000 instances, in whole numbers', () => {
  const choices = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: 1, max: 3 })), { maxLength: 30 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: PAGE }), choices, (pageSize, steps) => {
      let shape = firstShape(pageSize);
      for (const [some, many, attributes] of steps) {
        const entities = some % (shape.limit + 1);
        const longest = 1 + (many % shape.instances);
        const page = entities === 0 ? shown(0, 0) : shown(entities, attributes * longest, longest);
        const next = nextShape(shape, page, pageSize);
        assert.ok(Number.isInteger(next.limit) && next.limit >= 1 && next.limit <= pageSize);
        assert.ok(Number.isInteger(next.instances) && next.instances >= 100 && next.instances <= 1000);
        assert.ok(next.limit <= shape.limit * 4 && next.instances <= shape.instances * 4);
        shape = next;
      }
    }),
  );
});

it('the shape of a page grows at most fourfold at a time, as entities times instances', () => {
  const anyShape = fc.record({
    limit: fc.integer({ min: 1, max: PAGE }),
    instances: fc.integer({ min: 100, max: 1000 }),
  });
  fc.assert(
    fc.property(
      anyShape.chain((shape) => fc.tuple(fc.constant(shape), pages(shape))),
      ([shape, { entities, longest, attributes }]) => {
        const page = entities === 0 ? shown(0, 0) : shown(entities, attributes * longest, longest);
        const next = nextShape(shape, page, PAGE);
        // Rounding makes the factor slightly more than four.
        assert.ok(
          next.limit * next.instances <= shape.limit * shape.instances * 4 + next.limit + next.instances,
        );
      },
    ),
  );
});

it('the shape of a page requests no more instances than wanted if all histories are alike', () => {
  const alike = fc.record({
    total: fc.integer({ min: 1, max: 5000 }),
    length: fc.integer({ min: 1, max: 5000 }),
    attributes: fc.integer({ min: 1, max: 5 }),
    pageSize: fc.integer({ min: 1, max: PAGE }),
  });
  fc.assert(
    fc.property(alike, ({ total, length, attributes, pageSize }) => {
      let shape = firstShape(pageSize);
      for (let step = 0; step < 20; step++) {
        const entities = Math.min(total, shape.limit);
        const longest = Math.min(length, shape.instances);
        const page = shown(entities, attributes * longest, longest);
        assert.ok(page.instances <= 5000 * 1.5, JSON.stringify({ step, shape, page }));
        shape = nextShape(shape, page, pageSize);
      }
    }),
  );
});

for (const [what, shape, page, next] of [
  ['more instances where few entities have long histories', [10, 100], shown(1, 100), [10, 400]],
  ['as many instances as brokers take where a history is still longer', [10, 400], shown(1, 400), [5, 1000]],
  ['more instances of half as many entities', [10, 400], shown(5, 800, 400), [5, 500]],
  ['one entity at a time where a single one fills a page', [10, 400], shown(1, 1600, 400), [1, 1000]],
  ['no more entities of longer lists than it wants instances', [1000, 100], shown(3, 100), [13, 400]],
  ['fewer entities where they are dense', [200, 100], shown(200, 500, 100), [10, 100]],
  ['fewer instances where one entity is too much', [10, 1000], shown(10, 20_000, 1000), [1, 250]],
  ['four times as many entities where they have few instances', [10, 100], shown(10, 2), [40, 100]],
  ['at most a page of entities where they have few instances', [640, 100], shown(640, 2), [1000, 100]],
  ['four times as many entities where they have none', [40, 300], shown(0, 0), [160, 300]],
] as const)
  it(`the shape of a page requests ${what}`, () => {
    const { limit, instances } = nextShape({ limit: shape[0], instances: shape[1] }, page, PAGE);
    assert.deepEqual([limit, instances], next);
  });

const ASKED: PageExtent = { isPartial: false, instances: 1000 };
const BARE: PageExtent = { isPartial: false, instances: undefined };

it('a 206 or a list as long as requested is evidence that a list is truncated', () => {
  const evidence = new TruncationEvidence();
  for (const [page, length, isPartial] of [
    [{ isPartial: true, instances: 100 }, 1, true],
    [{ isPartial: true, instances: undefined }, 1, true],
    [{ isPartial: false, instances: 100 }, 99, false],
    [{ isPartial: false, instances: 100 }, 100, true],
    [{ isPartial: false, instances: undefined }, 1e6, false],
  ] as const) {
    assert.equal(evidence.isMarkedTruncated(page, length), isPartial);
    assert.equal(evidence.isSurelyTruncated(page, length), isPartial);
    evidence.note(page, 2e6);
    assert.equal(evidence.mayBeTruncated(page, length), isPartial);
  }
});

it('the evidence that a list is truncated is weak if no longer list was shown by the same form of the query', () => {
  for (const [page, other] of [
    [ASKED, BARE],
    [BARE, ASKED],
  ] as const) {
    const evidence = new TruncationEvidence();
    assert.equal(evidence.mayBeTruncated(page, 0), true);
    evidence.note(page, 5);
    evidence.note(page, 3);
    evidence.note(other, 50);
    assert.deepEqual(
      [4, 5, 6].map((length) => evidence.mayBeTruncated(page, length)),
      [false, true, true],
    );
    assert.equal(evidence.mayBeTruncated(other, 49), false);
  }
});

it('the evidence that a list is truncated is certain if a list of that length was silently truncated before', () => {
  for (const [page, other] of [
    [ASKED, BARE],
    [BARE, ASKED],
  ] as const) {
    const evidence = new TruncationEvidence();
    assert.equal(evidence.isSurelyTruncated(page, 5), false);
    evidence.noteMore(page, 7);
    evidence.noteMore(page, 5);
    evidence.noteMore(page, 6);
    assert.deepEqual(
      [4, 5, 6].map((length) => evidence.isSurelyTruncated(page, length)),
      [false, true, true],
    );
    assert.equal(evidence.isSurelyTruncated(other, 500), false);
  }
});

it('the evidence that a list is truncated is not learnt from lists that were marked as truncated', () => {
  const evidence = new TruncationEvidence();
  evidence.noteMore({ isPartial: true, instances: 100 }, 2);
  evidence.noteMore({ isPartial: false, instances: 3 }, 3);
  assert.equal(evidence.isSurelyTruncated(ASKED, 900), false);
});
