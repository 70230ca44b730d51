import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BrokerCapabilities } from '../../../../sidecar/purge/broker/index.js';
import {
  BrokerFailedError,
  BrokerRefusedError,
  FilterIgnoredError,
} from '../../../../sidecar/purge/errors.js';
import {
  entities,
  type ListedPage,
  type PageQuery,
  temporalEntities,
} from '../../../../sidecar/purge/listing/index.js';
import { proofNameOf, QueryProof } from '../../../../sidecar/purge/proof/index.js';
import type { Parameter } from '../../../../sidecar/purge/query/index.js';
import { contextOf } from '../hand-made-context.js';
import { pageOf, selectionOf } from '../hand-made-lister.js';

const GEO = { georel: 'within', geometry: 'Point', coordinates: '[1,2]', geoproperty: 'place' };
const EVERY_FILTER = selectionOf({
  type: 'Car',
  attrs: 'speed',
  q: 'speed>1;brand',
  idPattern: 'Car',
  scopeQ: '/a',
  ...GEO,
  local: 'true',
  csf: 'a==1',
});
const EMPTY = pageOf([], { count: 0 });

interface Given {
  readonly selection?: readonly Parameter[];
  readonly additions?: readonly Parameter[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly isTemporal?: boolean;
  readonly isKnown?: boolean;
}

/** The proof of a query at a broker that is a function. */
function proofAt(answer: (query: PageQuery) => ListedPage | Promise<ListedPage>, given: Given = {}) {
  const {
    selection = EVERY_FILTER,
    additions = [],
    headers = {},
    isTemporal = false,
    isKnown = true,
  } = given;
  let nowMs = 0;
  const capabilities = new BrokerCapabilities({ now: () => nowMs, monotonicMs: () => nowMs });
  if (isKnown) capabilities.learn('collection-end', '');
  const asked: PageQuery[] = [];
  const lister = {
    page: async (query: PageQuery) => {
      asked.push(query);
      return answer(query);
    },
  };
  const listed: PageQuery = { selection: [...selection, ...additions], limit: 7, count: true };
  const resource = isTemporal ? temporalEntities() : entities('ids');
  const shape = resource.projectionsOf(listed).join();
  const name = proofNameOf(listed.selection, headers, shape);
  const { requester } = contextOf({ brokerQuery: { resource, selection }, headers });
  const made = () =>
    new QueryProof({
      requester,
      resource,
      selection: listed.selection,
      filters: selection,
      additions,
      removed: undefined,
      paging: { contradicted: false, longestPage: 0 },
      lister,
      capabilities,
      countsUnshown: isTemporal,
    });
  const prove = async (proof = made()) => {
    proof.note(listed, pageOf(['urn:a:0']));
    await proof.prove();
  };
  const pass = (ms: number) => (nowMs += ms);
  return { capabilities, asked, made, prove, listed, name, shape, pass };
}

const refusalOf = (status: number) => () => {
  throw new BrokerRefusedError('list', { status });
};
const ignores = (parameter: string) => (error: unknown) =>
  error instanceof FilterIgnoredError && error.parameter === parameter;

it('the proof of a query sends one request for each filter and each condition, with a limit of 1 and otherwise unchanged', async () => {
  const { prove, asked } = proofAt(() => EMPTY);
  await prove();
  assert.equal(asked.length, 7);
  for (const { selection, limit, offset, count } of asked) {
    assert.deepEqual([limit, offset, count], [1, undefined, true]);
    assert.deepEqual(selection.map(({ name }) => name).sort(), EVERY_FILTER.map(({ name }) => name).sort());
    const changed = selection.filter(({ value }) => !EVERY_FILTER.some((own) => own.value === value));
    assert.equal(changed.length, 1);
  }
});

it('the proof of a query sends nothing for a query without filters that can be made impossible', async () => {
  const { prove, asked } = proofAt(() => EMPTY, {
    selection: selectionOf({ id: 'urn:a:1', local: 'true' }),
  });
  await prove();
  assert.deepEqual(asked, []);
});

it('the proof of a query names the condition of q that the broker ignores', async () => {
  const { prove } = proofAt(
    ({ selection }) =>
      selection.some(({ value }) => value.startsWith('speed>1;')) ? pageOf(['urn:a:1']) : EMPTY,
    { selection: selectionOf({ q: 'speed>1;brand' }) },
  );
  await assert.rejects(prove(), /The broker ignores q \(brand\) in this query: /);
});

it('the proof of a query is valid for an hour, for this query only, and a failed proof not at all', async () => {
  const { prove, asked, pass, capabilities, name, shape } = proofAt(() => EMPTY);
  await prove();
  const once = asked.length;
  pass(3_599_999);
  await prove();
  assert.equal(asked.length, once);
  const others = [
    proofNameOf(EVERY_FILTER.slice(1), {}, shape),
    ...[
      ...(['ngsild-tenant', 'fiware-service', 'fiware-servicepath'] as const),
      ...(['link', 'authorization', 'x-auth-token'] as const),
    ].map((header) => proofNameOf(EVERY_FILTER, { [header]: 'x' }, shape)),
    proofNameOf(EVERY_FILTER, {}, 'pick'),
  ];
  assert.deepEqual(
    others.map((other) => capabilities.isHonoured(other)),
    others.map(() => false),
  );
  assert.equal(new Set([name, ...others]).size, 9);
  pass(1);
  await prove();
  assert.equal(asked.length, 2 * once);
  const failing = proofAt(() => pageOf(['urn:a:1']));
  await assert.rejects(failing.prove(), FilterIgnoredError);
  assert.equal(failing.capabilities.isHonoured(failing.name), false);
});

it('the name of the proof of a query with credentials reveals nothing about them', () => {
  assert.match(proofNameOf(EVERY_FILTER, { authorization: 'Bearer secret' }, ''), /^[\w-]{43}$/);
});

it('the proof of a query repeats the request like the page that listed something if an empty page proves nothing', async () => {
  for (const [small, whole, meaning] of [
    [{ count: 5 }, pageOf([], { count: 5 }), 'counted'],
    [{ count: undefined }, pageOf([]), 'honoured'],
    [{ count: 0, hasNext: true }, pageOf([], { count: 0 }), 'honoured'],
    [{ count: 5 }, pageOf(['urn:a:1'], { count: 5 }), 'ignored'],
    [{ count: undefined }, pageOf(['urn:a:1']), 'ignored'],
  ] as const) {
    const selection = selectionOf({ q: 'a>1' });
    const { prove, asked, capabilities } = proofAt(({ limit }) => (limit === 1 ? pageOf([], small) : whole), {
      selection,
    });
    if (meaning === 'ignored') await assert.rejects(prove(), ignores('q'));
    else await prove();
    assert.deepEqual(
      asked.map(({ limit }) => limit),
      // In the end, a query without the filter, to learn how many entities a page covers.
      meaning === 'counted' ? [1, 7, undefined] : [1, 7],
    );
    assert.equal(capabilities.get('counts-before q') === true, meaning === 'counted');
  }
});

it('the proof of a query uses the probes that were sent together with the first page, unless that page was empty', async () => {
  const { made, asked, prove } = proofAt(() => EMPTY);
  const beside = made();
  await beside.begin({});
  assert.equal(asked.length, 7);
  await prove(beside);
  assert.equal(asked.length, 7);
  const again = proofAt(() => EMPTY);
  const discarded = again.made();
  await discarded.begin({});
  discarded.note(again.listed, EMPTY);
  await again.prove(discarded);
  assert.equal(again.asked.length, 14);
});

it('the proof of a query sends nothing together with the first page of a broker that is unknown or gives no counts, and nothing that is proven', async () => {
  const unknown = proofAt(() => EMPTY, { isKnown: false });
  await unknown.made().begin({});
  const uncounted = proofAt(() => EMPTY);
  uncounted.capabilities.learn('no-count', true);
  await uncounted.made().begin({});
  assert.deepEqual([...unknown.asked, ...uncounted.asked], []);
  const known = proofAt(() => EMPTY);
  await known.prove();
  const once = known.asked.length;
  await known.made().begin({});
  assert.equal(known.asked.length, once);
});

it('an error of a probe ends the purge only if the probe is needed', async () => {
  const failed = new BrokerFailedError('list', { kind: 'timeout' }, 'attempts-used-up');
  for (const error of [failed, new BrokerRefusedError('list', { status: 403 })]) {
    const { made, prove } = proofAt(() => {
      throw error;
    });
    const proof = made();
    await proof.begin({});
    await assert.rejects(prove(proof), error);
  }
});

it('a refusal of the impossible value proves the filter, and a 501 leaves it unproven', async () => {
  for (const status of [400, 404, 422]) await proofAt(refusalOf(status)).prove();
  await assert.rejects(proofAt(refusalOf(501)).prove(), FilterIgnoredError);
});

it('a negated condition is proven only by an empty list together with its opposite', async () => {
  const selection = selectionOf({ q: 'brand!="b1","b2"' });
  const { prove, asked } = proofAt(() => EMPTY, { selection });
  await prove();
  assert.deepEqual(
    asked.map((query) => query.selection[0]?.value),
    ['brand!="b1","b2";brand=="b1","b2"'],
  );
  for (const answer of [() => pageOf(['urn:a:1']), refusalOf(400)]) {
    await assert.rejects(
      proofAt(answer, { selection }).prove(),
      (error) => ignores('q')(error) && /its opposite/.test(String(error)),
    );
  }
});

it('at most eight probes of a query are in flight at once', async () => {
  let [now, most] = [0, 0];
  const q = Array.from({ length: 30 }, (_, n) => `a${n}`).join(';');
  const { prove, asked } = proofAt(
    async () => {
      most = Math.max(most, (now += 1));
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return EMPTY;
    },
    { selection: selectionOf({ q }) },
  );
  await prove();
  assert.deepEqual([asked.length, most], [30, 8]);
});

describe('the proof of a temporal query', () => {
  const TIMES = { timerel: 'between', timeAt: '2026-01-01T00:00:00Z', endTimeAt: '2026-02-01T00:00:00Z' };
  const selection = selectionOf({ type: 'Car', datasetId: 'urn:d:1', ...TIMES, timeproperty: 'createdAt' });
  const CAR = { id: 'urn:ngsi-ld:Car:1', type: 'Car', '@context': 'x', scope: '/a', createdAt: 'T' };

  /** Shows the entity whatever the filters on its instances are, and instances if it ignores one of them. */
  const brokerOf =
    (ignored: readonly string[] = [], emptied: object = CAR) =>
    (query: PageQuery) => {
      const given = new Map(query.selection.map(({ name, value }) => [name, value]));
      if (given.get('type')?.includes('PurgeProbe') === true) return EMPTY;
      const isEmptied =
        ['datasetId', 'timeproperty'].some(
          (name) => given.get(name)?.includes('PurgeProbe') === true && !ignored.includes(name),
        ) ||
        (Date.parse(given.get('timeAt') ?? '') < Date.UTC(1900, 0) && !ignored.includes('timerel'));
      return pageOf([CAR.id], {
        entities: [isEmptied ? { ...CAR, ...emptied } : { ...CAR, speed: [{ value: 1 }] }],
      });
    };

  it('a filter on instances counts as applied if the page that listed something no longer has attributes, or only empty ones', async () => {
    for (const emptied of [CAR, { speed: [] }]) {
      const { prove, asked } = proofAt(brokerOf([], emptied), { selection, isTemporal: true });
      await prove();
      assert.deepEqual(
        asked.map(({ limit }) => limit),
        [7, 7, 7, 7],
      );
    }
  });

  for (const ignored of ['datasetId', 'timerel', 'timeproperty']) {
    it(`the proof of a temporal query names the filter on instances that the broker ignores: ${ignored}`, async () => {
      await assert.rejects(
        proofAt(brokerOf([ignored]), { selection, isTemporal: true }).prove(),
        ignores(ignored),
      );
    });
  }

  it('the proof of a temporal query takes an entity without attributes as proof for filters on instances only', async () => {
    for (const filter of ['type', 'attrs', 'q', 'idPattern', 'scopeQ']) {
      const given = {
        selection: selectionOf({ [filter]: filter === 'scopeQ' ? '/x' : 'x' }),
        isTemporal: true,
      };
      await assert.rejects(
        proofAt(() => pageOf([CAR.id], { entities: [CAR] }), given).prove(),
        ignores(filter),
      );
    }
  });

  it('the proof of a temporal query takes a count or a next link as a sign of more, because pages may be empty before the end', async () => {
    for (const [more, isIgnored] of [
      [{ hasNext: true }, true],
      [{ count: 1 }, true],
      [{ count: 0 }, false],
      [{}, false],
    ] as const) {
      const { prove } = proofAt(() => pageOf([], more), {
        selection: selectionOf({ q: 'a>1' }),
        isTemporal: true,
      });
      if (isIgnored) await assert.rejects(prove(), ignores('q'), JSON.stringify(more));
      else await prove();
    }
  });

  it('additional parameters that a broker needs are part of each probe, and need no proof', async () => {
    const additions = selectionOf({
      timerel: 'after',
      timeAt: '1970-01-01T00:00:00Z',
      timeproperty: 'createdAt',
    });
    const { prove, asked } = proofAt(() => EMPTY, {
      selection: selectionOf({ type: 'Car' }),
      additions,
      isTemporal: true,
    });
    await prove();
    assert.equal(asked.length, 1);
    assert.deepEqual(asked[0]?.selection.slice(-3), additions);
  });
});

it('the proof of a tenant accepts only 400, 403 and 404 as the answer to a tenant that does not exist', async () => {
  const given = { selection: selectionOf({ local: 'true' }), headers: { 'ngsild-tenant': 'a' } };
  for (const status of [400, 401, 403, 404, 405, 409, 422, 501]) {
    const { prove } = proofAt(refusalOf(status), given);
    if ([400, 403, 404].includes(status)) await prove();
    else await assert.rejects(prove(), BrokerRefusedError);
  }
});
