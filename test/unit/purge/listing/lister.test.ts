import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type BrokerRequest,
  ReplyTooLargeError,
  type BrokerReply,
} from '../../../../sidecar/purge/broker/index.js';
import type { PurgeLimits } from '../../../../sidecar/purge/run/index.js';
import { BrokerFailedError, BrokerRefusedError, BrokerReplyError } from '../../../../sidecar/purge/errors.js';
import {
  entities,
  temporalEntities,
  type ListedResource,
  type PageQuery,
} from '../../../../sidecar/purge/listing/index.js';
import { replyOf } from '../../../support/replies.js';
import { contextOf } from '../hand-made-context.js';
import { idsOf } from '../hand-made-lister.js';

const SELECTION = [{ name: 'type', value: 'Thing' }];
const TOO_MANY = { type: 'https://uri.etsi.org/ngsi-ld/errors/TooManyResults' };

/** The number of requested entities and the other parameters: "limit pick count". */
const summaryOf = (query: URLSearchParams) =>
  [query.get('limit') ?? 'bare', ...[...query.keys()].filter((name) => !/^(?:type|limit)$/.test(name))].join(
    ' ',
  );

/** A lister whose broker shows as many entities as requested, unless told otherwise. */
function listerOf(
  answer: (query: URLSearchParams, limit: number) => BrokerReply | undefined,
  {
    resource = entities('ids'),
    limits = {},
  }: { readonly resource?: ListedResource; readonly limits?: Partial<PurgeLimits> } = {},
) {
  const asked: string[] = [];
  const broker = ({ method, path }: BrokerRequest) => {
    assert.equal(method, 'GET');
    const query = new URLSearchParams(path.split('?')[1]);
    const limit = Number(query.get('limit') ?? 5);
    asked.push(summaryOf(query));
    assert.ok(asked.length < 100, 'it goes on for ever');
    return (
      answer(query, limit) ??
      replyOf(
        200,
        idsOf(limit).map((id) => ({ id })),
        { 'ngsild-results-count': '9999' },
      )
    );
  };
  const context = contextOf({
    brokerQuery: { resource, selection: SELECTION },
    broker,
    limits: { pageSize: 1000, pageSizeMax: 1000, ...limits },
  });
  const page = async (query: Partial<PageQuery> = {}) =>
    context.lister.page({ selection: SELECTION, ...query });
  return { ...context, page, asked };
}

const refusal = (status: number, problem: unknown = {}) => replyOf(status, problem);

it('a page of matches is requested with no more content than needed', async () => {
  const { page, asked } = listerOf(() => undefined);
  assert.equal((await page()).ids.length, 1000);
  await page({ offset: 0, count: false });
  await page({ offset: 20, count: true, limit: 7 });
  await page({ limit: 5000 });
  assert.deepEqual(asked, ['1000 pick', '1000 pick', '7 pick offset count', '1000 pick']);
  const whole = listerOf(() => undefined, { resource: entities('attributes') });
  await whole.page();
  assert.deepEqual(whole.asked, ['1000']);
});

it('a page of matches is requested in every size of the contract, one after the other', async () => {
  const { page, asked } = listerOf((_query, limit) => (limit > 1 ? refusal(403, TOO_MANY) : undefined));
  await page();
  assert.deepEqual(
    asked.map((each) => Number(each.split(' ')[0])),
    [1000, 500, 200, 100, 50, 20, 10, 5, 2, 1],
  );
});

it('a page of matches is requested in the next form at once if a refusal names the parameter', async () => {
  const { page, asked } = listerOf((query) => {
    if (query.has('pick')) return refusal(400, { detail: 'pick is unknown' });
    return query.has('options') ? refusal(400, { detail: 'unknown keyValues' }) : undefined;
  });
  assert.equal((await page()).limit, 1000);
  assert.deepEqual(asked, ['1000 pick', '1000 options', '1000']);
});

it('a page of matches fails if the broker refuses the query itself, and nothing is learnt about the broker', async () => {
  for (const [status, problem] of [
    [400, { title: 'Bad q' }],
    [400, { detail: 'limit, pick, options and count are fine, but the page size and q are not' }],
    [403, { title: 'Forbidden' }],
    [404, { title: 'No such thing' }],
    [422, {}],
  ] as const) {
    const { page, asked, capabilities } = listerOf(() =>
      replyOf(status, problem, { 'www-authenticate': 'Bearer' }),
    );
    await assert.rejects(page({ count: true }), (error: unknown) => {
      assert.ok(error instanceof BrokerRefusedError);
      assert.deepEqual([error.problem.status, error.wwwAuthenticate], [status, 'Bearer']);
      return true;
    });
    assert.deepEqual(
      [
        capabilities.get('page-max'),
        capabilities.get('no-count') !== true,
        capabilities.get('refused pick') === true,
      ],
      [undefined, true, false],
    );
    assert.ok(asked.length < 30, `${asked.length} queries`);
    if (status !== 400) assert.ok(asked.length <= 2, asked.join());
  }
});

it('a page size that was accepted once is proven, so a later 400 for the same size is about the query', async () => {
  let isBad = false;
  const { page, asked } = listerOf(() => (isBad ? refusal(400) : undefined));
  await page();
  isBad = true;
  await assert.rejects(page({ offset: 1000 }), BrokerRefusedError);
  assert.equal(asked.length, 2);
});

it('a page that is too large to be read is requested in smaller steps, without blaming the broker', async () => {
  for (const [most, found] of [
    [150, 100],
    [1, 1],
  ] as const) {
    const { page, capabilities, asked } = listerOf((_query, limit) => {
      if (limit > most) throw new ReplyTooLargeError('too large');
      return undefined;
    });
    assert.equal((await page()).limit, found);
    assert.equal(capabilities.get('page-max'), undefined);
    const before = asked.length;
    await page({ offset: found });
    assert.equal(asked.length, before + 1);
  }
  const endless = listerOf(() => {
    throw new ReplyTooLargeError('too large');
  });
  await assert.rejects(endless.page(), (error: unknown) => {
    assert.ok(error instanceof BrokerReplyError);
    assert.match(error.message, /^too large .*narrow the query/);
    return true;
  });
});

it('a page that is too large to be read is requested in all smaller steps if the broker respects limits, even for each of its sources', async () => {
  for (const [most, sources, sizes] of [
    [10, [''], [1000, 500, 1, 200, 100, 50, 20, 10, 10]],
    [100, ['', ':other'], [1000, 500, 1, 200, 100, 100]],
  ] as const) {
    const { page, asked } = listerOf((_query, limit) => {
      if (limit > most) throw new ReplyTooLargeError('too large');
      const shown = idsOf(limit).flatMap((id) => sources.map((source) => ({ id: `${id}${source}` })));
      return replyOf(200, shown);
    });
    assert.equal((await page()).limit, most);
    await page({ offset: most });
    assert.deepEqual(
      asked.map((one) => Number(one.split(' ')[0])),
      sizes,
    );
  }
});

it('a page of several entities is read up to 4 MiB, and a page of a single entity up to the limit of any answer', async () => {
  const bounds: unknown[] = [];
  const { lister } = contextOf({
    brokerQuery: { resource: entities('ids'), selection: SELECTION },
    broker: ({ replyMaxBytes }) => {
      bounds.push(replyMaxBytes);
      return replyOf(200, [{ id: 'urn:t:1' }]);
    },
  });
  for (const limit of [10, 2, 1]) await lister.page({ selection: SELECTION, limit });
  assert.deepEqual(bounds, [4 * 1024 * 1024, 4 * 1024 * 1024, undefined]);
});

it('a page of histories that cannot be read whole is requested with fewer instances from then on', async () => {
  const { page, asked } = listerOf(
    (query) => {
      if (!query.has('lastN')) throw new ReplyTooLargeError('too large');
      return undefined;
    },
    { resource: temporalEntities(), limits: { pageSize: 2, pageSizeMax: 2 } },
  );
  assert.equal((await page({ isBare: true, instances: 7 })).instances, 7);
  assert.deepEqual(asked, ['2', '1', '1 lastN']);
  await page({ isBare: true });
  assert.equal(asked.at(-1), '1 lastN');
});

it('a page is not used if its status is neither that of an answer nor that of an error', async () => {
  for (const status of [202, 204, 206]) {
    const { page } = listerOf(() => replyOf(status, []));
    await assert.rejects(page(), BrokerReplyError);
  }
  for (const status of [200, 201, 203]) await listerOf(() => replyOf(status, [])).page();
  await listerOf(() => replyOf(206, []), { resource: temporalEntities() }).page();
});

it('a page of histories has the number of requested instances', async () => {
  const { page, asked } = listerOf(() => undefined, { resource: temporalEntities() });
  assert.equal((await page()).instances, 1);
  assert.equal((await page({ instances: 3, needsTimes: true })).instances, 3);
  assert.equal((await page({ isBare: true })).instances, undefined);
  assert.deepEqual(asked, ['1000 lastN', '1000 lastN options', '1000']);
});

const growing = { limits: { pageSize: 1000, pageSizeMax: 10_000 } };
/** Two pages of a query with this many matches. */
const twice = async ({ page }: ReturnType<typeof listerOf>) => {
  const first = await page({ expected: 100_000 });
  return [first.mayGrow, (await page({ offset: 1000, expected: 99_000 })).limit];
};

it('a page grows if the broker is quick and enough matches are still expected', async () => {
  assert.deepEqual(await twice(listerOf(() => undefined, growing)), [true, 4000]);
  const few = listerOf(() => undefined, growing);
  await few.page({ expected: 100_000 });
  assert.equal((await few.page({ expected: 1000 })).limit, 1000);
  assert.equal((await few.page()).limit, 1000);
  assert.equal((await few.page({ expected: 1001 })).limit, 4000);
});

for (const status of [400, 403, 413, 422]) {
  it(`a page returns to the previous size if the broker refuses it with ${status}, and remembers this`, async () => {
    const lister = listerOf((_query, limit) => (limit > 1000 ? refusal(status) : undefined), growing);
    assert.deepEqual(await twice(lister), [true, 1000]);
    assert.equal(lister.capabilities.get('page-max'), 1000);
    assert.equal(lister.asked.length, 3);
  });

  it(`a page that was large before and is refused with ${status} is requested once more in the usual size, and then fails`, async () => {
    let isRefusing = false;
    const { page, asked } = listerOf(() => (isRefusing ? refusal(status) : undefined), {
      limits: { pageSize: 1000, pageSizeMax: 4000 },
    });
    for (const offset of [0, 1000]) await page({ offset, expected: 100_000 });
    isRefusing = true;
    const before = asked.length;
    await assert.rejects(page({ offset: 5000, expected: 95_000 }), BrokerRefusedError);
    const sizes = asked.slice(before).map((one) => Number(one.split(' ')[0]));
    assert.deepEqual([sizes[0], sizes[1], sizes.lastIndexOf(4000)], [4000, 1000, 0]);
  });
}

it('a page that was large before and cannot be read now is requested in smaller steps', async () => {
  let most = Infinity;
  const { page, asked } = listerOf(
    (_query, limit) => {
      if (limit > most) throw new ReplyTooLargeError('too large');
      return undefined;
    },
    { limits: { pageSize: 1000, pageSizeMax: 4000 } },
  );
  for (const offset of [0, 1000]) await page({ offset, expected: 100_000 });
  most = 500;
  assert.equal((await page({ offset: 5000, expected: 95_000 })).limit, 500);
  assert.equal(asked.length, 5);
});

it('a page returns to the previous size if it cannot be read, or its tries run out', async () => {
  for (const how of ['too large', 'failing'] as const) {
    const lister = listerOf((_query, limit) => {
      if (limit <= 1000) return undefined;
      if (how === 'failing') return replyOf(500);
      throw new ReplyTooLargeError('too large');
    }, growing);
    assert.deepEqual(await twice(lister), [true, 1000]);
    assert.equal(lister.capabilities.get('page-max'), undefined);
    assert.equal((await lister.page({ offset: 2000, expected: 90_000 })).mayGrow, false);
  }
});

it('a page returns to the previous size if the broker shows fewer entities than requested, with more to come', async () => {
  for (const headers of [{ 'ngsild-results-count': '9999' }, { link: '<x>; rel="next"' }]) {
    const lister = listerOf(
      (_query, limit) =>
        replyOf(
          200,
          idsOf(Math.min(limit, 1000)).map((id) => ({ id })),
          headers,
        ),
      growing,
    );
    assert.deepEqual(await twice(lister), [true, 4000]);
    assert.equal((await lister.page({ offset: 2000, expected: 90_000 })).limit, 1000);
  }
});

it('a page keeps its size if it is short because it is the last one', async () => {
  const lister = listerOf((query, limit) => {
    const rest = 12_000 - Number(query.get('offset') ?? 0);
    const shown = idsOf(Math.min(limit, rest)).map((id) => ({ id }));
    return replyOf(200, shown, { 'ngsild-results-count': '12000' });
  }, growing);
  assert.deepEqual(await twice(lister), [true, 4000]);
  const last = { offset: 5500, expected: 6500, count: true };
  assert.equal((await lister.page(last)).ids.length, 6500);
  assert.equal((await lister.page({ expected: 12_000 })).limit, 10_000);
});

it('a page of any size fails if the broker asks for too long a pause', async () => {
  const { page, asked } = listerOf(
    (_query, limit) => (limit > 1000 ? replyOf(429, '', { 'retry-after': '36000' }) : undefined),
    growing,
  );
  await page({ expected: 100_000 });
  await assert.rejects(page({ offset: 1000, expected: 99_000 }), { reason: 'retry-after-too-long' });
  assert.equal(asked.length, 2);
});

it('the bare query shows whether anything matches, without paging', async () => {
  const shows = async (answer: () => BrokerReply) => {
    const { lister, asked } = listerOf(answer);
    const is = await lister.showsAnything(SELECTION);
    assert.deepEqual(asked, ['bare']);
    return is;
  };
  assert.equal(await shows(() => replyOf(200, [{ id: 'urn:t:1' }])), true);
  assert.equal(await shows(() => replyOf(200, [])), false);
  assert.equal(await shows(() => replyOf(400, [{ id: 'urn:t:1' }])), false);
  const tooLarge = () => {
    throw new ReplyTooLargeError('too large');
  };
  assert.equal(await shows(tooLarge), true);
  await assert.rejects(listerOf(() => replyOf(500)).lister.showsAnything(SELECTION), BrokerFailedError);
});
