import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import fc from 'fast-check';
import { goodBehaviour } from '../../../../sidecar/embedded-broker/behaviour.js';
import type { Behaviour, EmbeddedBroker } from '../../../../sidecar/embedded-broker/index.js';
import { TooManyMatchesError } from '../../../../sidecar/purge/errors.js';
import { runs } from '../../../support/thoroughness.js';
import {
  closeBrokers,
  brokerWith,
  deletes,
  hour,
  idOf,
  kept,
  purge,
  purged,
  textOf,
  textsOf,
  type Stored,
} from './histories.js';

after(closeBrokers);

const INSTANTS = 9;
const histories = fc.array(
  fc.record({
    entity: fc.nat({ max: 4 }),
    attribute: fc.constantFrom('a', 'b'),
    hour: fc.nat({ max: INSTANTS }),
    dataset: fc.constantFrom(undefined, undefined, 'urn:ds:1', 'urn:ds:2'),
  }),
  { minLength: 1, maxLength: 40 },
);

/** A query, the instances that it selects, and the part of them that makes one item. */
interface Meant {
  readonly query: string;
  readonly means: (instance: Stored) => boolean;
  readonly itemOf: (instance: Stored) => string;
}

const names = fc.constantFrom<readonly string[]>([], ['a'], ['b'], ['a', 'b']);
const datasets = fc.constantFrom<readonly string[]>([], ['@none'], ['urn:ds:1'], ['urn:ds:2', '@none']);
const times = fc.oneof(
  fc.constant(undefined),
  fc
    .tuple(fc.nat({ max: INSTANTS }), fc.integer({ min: 1, max: INSTANTS }))
    .map(([from, length]) => [from, from + length] as const),
  fc.nat({ max: INSTANTS }).map((from) => [from, undefined] as const),
  fc.integer({ min: 1, max: INSTANTS }).map((to) => [undefined, to] as const),
);

const queries = fc.tuple(names, datasets, times).map(([attrs, ids, time]): Meant => {
  const [from, to] = time ?? [];
  const timeOf = () => {
    if (from !== undefined && to !== undefined)
      return `&timerel=between&timeAt=${hour(from)}&endTimeAt=${hour(to)}`;
    if (from !== undefined) return `&timerel=after&timeAt=${hour(from)}`;
    return to === undefined ? '' : `&timerel=before&timeAt=${hour(to)}`;
  };
  const isPlain = attrs.length === 0 && ids.length === 0;
  return {
    query: [
      'type=T',
      attrs.length === 0 ? '' : `&attrs=${attrs.join()}`,
      ids.length === 0 ? '' : `&datasetId=${ids.join()}`,
      timeOf(),
    ].join(''),
    means: ({ attribute, dataset = '@none', hour: at }) =>
      (attrs.length === 0 || attrs.includes(attribute)) &&
      (ids.length === 0 || ids.includes(dataset)) &&
      (from === undefined || at >= from) &&
      (to === undefined || at < to),
    itemOf: (instance) => {
      if (time !== undefined) return 'instance';
      if (isPlain) return String(instance.entity);
      const part = `${instance.entity} ${instance.attribute}`;
      return ids.length === 0 ? part : `${part} ${instance.dataset ?? '-'}`;
    },
  };
});

/** Brokers that hide no part of a history of a few instances. */
const behaviours = fc.constantFrom<Partial<Behaviour>>(
  {},
  { instancePageSize: 3 },
  { instancePageSize: 3, maxPageSize: 2, selectsIgnoringTime: true },
  { maxPageSize: 1, noCount: true as const },
  { noLastN: true },
  { lastNBeforeTime: true },
  { shortPages: true },
  { repeatLastPastEnd: true, noPageLinks: true, noCount: true as const },
  { refusedTimeProperties: ['createdAt'] },
  { timePropertiesMissing: ['createdAt'] },
  { timePropertiesMissing: ['createdAt', 'modifiedAt'], maxPageSize: 2 },
  { faultRate: 0.2, faultKinds: ['503' as const, '429' as const] },
);

it('a temporal purge of any history counts exactly the matches of its query, accepts that count as the maximum, and deletes exactly the matches', async () => {
  let some = 0;
  await fc.assert(
    fc.asyncProperty(histories, queries, behaviours, async (history, { query, means, itemOf }, behaviour) => {
      const broker = await brokerWith(history, behaviour);
      const all = kept(broker);
      assert.deepEqual(all, history.map(textOf).sort());
      const meant = history.filter(means);
      const isByInstance = itemOf({ ...history[0] } as Stored) === 'instance';
      const count = isByInstance ? meant.length : new Set(meant.map(itemOf)).size;
      if (count > 0) some += 1;

      const preview = await purged(broker, `${query}&dryRun=true`);
      assert.equal(preview.matched, count, 'the dry run counts what is meant');
      assert.equal(preview.isLowerBound, undefined);
      assert.deepEqual(
        [...preview.sample].sort(),
        [...new Set(meant.map(({ entity }) => idOf(entity)))].sort(),
      );
      if (count > 1) {
        const { error } = await purge(broker, `${query}&maxAffected=${count - 1}`);
        assert.ok(error instanceof TooManyMatchesError, String(error));
      }
      assert.deepEqual([kept(broker), deletes(broker)], [all, 0], 'nothing is gone yet');

      const bound = Math.max(1, count);
      const report = await purged(broker, `${query}&maxAffected=${bound}`);
      const { matched, deleted, alreadyGone, failed, unknown, arrived } = report;
      assert.deepEqual(
        { matched, deleted, alreadyGone, failed, unknown, arrived },
        { matched: count, deleted: count, alreadyGone: 0, failed: 0, unknown: 0, arrived: 0 },
      );
      assert.deepEqual(
        kept(broker),
        history
          .filter((instance) => !means(instance))
          .map(textOf)
          .sort(),
      );
      assert.ok(broker.temporal.has('urn:ngsi-ld:Other:1'));
      await broker.close();
    }),
    { numRuns: runs(25) },
  );
  assert.ok(some > 5, 'enough queries meant something');
});

/** The result of a GET of the query at a broker that hides nothing, one text for each instance. */
async function shown(broker: EmbeddedBroker, query: string, qShowsMatchesOnly: boolean): Promise<string[]> {
  const told = { ...broker.behaviour };
  Object.assign(broker.behaviour, goodBehaviour(), { qShowsMatchesOnly });
  const answer = await fetch(`${broker.url}/ngsi-ld/v1/temporal/entities?${query}&limit=1000`);
  Object.assign(broker.behaviour, told);
  return textsOf((await answer.json()) as readonly Readonly<Record<string, unknown>>[]);
}

it('a temporal purge by value of any history deletes exactly what its query shows, and reports instances that may match but are hidden', async () => {
  let [whole, partial] = [0, 0];
  const cuts = fc.constantFrom<Partial<Behaviour>>(
    {},
    { exclusiveBounds: true },
    { instancePageSize: 3 },
    { instancePageSize: 2, maxPageSize: 1 },
    { silentInstanceLimit: 3 },
    { qShowsMatchesOnly: true },
    { qShowsMatchesOnly: true, instancePageSize: 3 },
  );
  const dense = fc.array(
    fc.record({
      entity: fc.nat({ max: 1 }),
      attribute: fc.constantFrom('a', 'b'),
      hour: fc.nat({ max: INSTANTS }),
      dataset: fc.constantFrom(undefined, undefined, undefined, 'urn:ds:1'),
      value: fc.nat({ max: 3 }),
    }),
    { minLength: 4, maxLength: 30 },
  );
  const filters = fc.tuple(fc.constantFrom('a', 'b'), fc.nat({ max: 3 }), fc.nat({ max: INSTANTS }));
  await fc.assert(
    fc.asyncProperty(dense, filters, cuts, async (history, [name, value, to], behaviour) => {
      const broker = await brokerWith(history, behaviour);
      const query = `type=T&q=${name}>=${value}&timerel=before&timeAt=${hour(to + 1)}`;
      const all = kept(broker);
      const meant = await shown(broker, query, behaviour.qShowsMatchesOnly === true);
      const preview = await purged(broker, `${query}&dryRun=true`);
      if (preview.isLowerBound === true) assert.ok(preview.matched <= meant.length);
      else assert.equal(preview.matched, meant.length);
      assert.deepEqual(kept(broker), all);

      const report = await purged(broker, query);
      const rest = [...all];
      for (const text of meant) rest.splice(rest.indexOf(text), 1);
      for (const { error } of report.errors)
        assert.equal(error.type, 'urn:ngsi-ld-gateway:problem:instances-out-of-sight');
      if (report.failed === 0) {
        whole += 1;
        assert.deepEqual([kept(broker), report.deleted], [rest, meant.length]);
      } else {
        partial += 1;
        for (const text of rest) assert.ok(kept(broker).includes(text), `${text} was not meant`);
      }
      await broker.close();
    }),
    { numRuns: runs(25) },
  );
  assert.ok(whole > 3, `${whole} of them whole, ${partial} not`);
});
