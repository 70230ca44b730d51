import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  BrokerCapabilities,
  type BrokerReply,
  type BrokerRequest,
  BrokerTimeoutError,
} from '../../../../sidecar/purge/broker/index.js';
import { BrokerFailedError } from '../../../../sidecar/purge/errors.js';
import {
  NOTHING_RESTORED,
  restoreArchive,
  type RestoreOrder,
} from '../../../../sidecar/purge/restoring/index.js';
import { RateLimiter } from '../../../../sidecar/purge/requests/index.js';
import { yieldToEventLoop } from '../../../../sidecar/shared/event-loop.js';
import { createTestClock } from '../../../support/purge-harness.js';
import { replyOf } from '../../../support/replies.js';

type Entity = Readonly<Record<string, unknown>> & { readonly id: string };

/** Restores lines at a broker that is a function. */
async function restore(
  unit: RestoreOrder['unit'],
  archive: readonly Entity[],
  broker: (request: BrokerRequest) => BrokerReply | Promise<BrokerReply>,
  clock = createTestClock(),
  more: Partial<RestoreOrder> = {},
) {
  return restoreArchive(
    {
      unit,
      headers: {},
      ids: undefined,
      dryRun: false,
      from: NOTHING_RESTORED,
      lines: async function* () {
        for (const entity of archive) yield { id: entity.id, line: JSON.stringify(entity) };
      },
      limits: { batchSize: 500, concurrency: 4 },
      save: async () => {},
      onEvent: () => {},
      ...more,
    },
    {
      client: { send: async (request) => broker(request), close: async () => {} },
      capabilities: new BrokerCapabilities(clock),
      retry: { maxAttempts: 3, minDelayMs: 1, maxDelayMs: 10, awayMs: 30_000 },
      clock,
      random: () => 0,
    },
    new AbortController().signal,
  );
}

const problem = (status: number) => replyOf(status, { title: 'No' });

/**
 * A broker like Cassiopeia, whose collections end with a slash, and which requires kinds of attributes but does not show them.
 */
function kindless(entities: readonly Entity[] = []) {
  const world = new Map(entities.map((entity) => [entity.id, entity]));
  const posts: { readonly path: string; readonly body: unknown }[] = [];
  const shown = (entity: Entity) =>
    Object.fromEntries(
      Object.entries(entity).map(([name, value]) => [
        name,
        typeof value === 'object' && value !== null
          ? [value].flat().map((instance) => Object.assign({}, instance, { type: undefined }))
          : value,
      ]),
    );
  const hasKinds = (entity: object) =>
    Object.values(entity)
      .filter((value) => typeof value === 'object' && value !== null)
      .flat()
      .every((instance) => typeof (instance as { type?: unknown }).type === 'string');
  const broker = ({ method, path, jsonBody = '' }: BrokerRequest): BrokerReply => {
    const [resource = '', search = ''] = path.split('?');
    if (method === 'GET') {
      if (resource === '/temporal/entities/') return replyOf(200, []);
      const [, , id = ''] = resource.split('/').map(decodeURIComponent);
      const one = world.get(id);
      if (one !== undefined) return replyOf(200, shown(one));
      if (resource !== '/entities/') return problem(404);
      const ids = (new URLSearchParams(search).get('id') ?? '').split(',');
      return replyOf(200, ids.flatMap((each) => world.get(each) ?? []).map(shown));
    }
    if (resource === '/entityOperations/create') return problem(400);
    if (!resource.endsWith('/')) return problem(404);
    const body = JSON.parse(jsonBody) as Entity;
    if (!hasKinds(body) || typeof body.id !== 'string') return problem(400);
    posts.push({ path, body });
    world.set(body.id, { ...world.get(body.id), ...body });
    return replyOf(201);
  };
  return { broker, posts, world };
}

it('a restore whose concurrency is changed sends that many requests at a time from the next page on', async () => {
  const { broker } = kindless();
  const limits = { batchSize: 8, concurrency: 4 };
  const inFlight = { now: 0, most: 0 };
  const seen: number[] = [];
  const archive = Array.from({ length: 24 }, (_, index) => ({ id: `urn:t:${String(index)}`, type: 'T' }));
  const report = await restore(
    'entities',
    archive,
    async (request) => {
      inFlight.now += 1;
      inFlight.most = Math.max(inFlight.most, inFlight.now);
      await yieldToEventLoop();
      inFlight.now -= 1;
      return broker(request);
    },
    createTestClock(),
    {
      limits,
      onEvent: () => {
        seen.push(inFlight.most);
        inFlight.most = 0;
        limits.concurrency = 2;
      },
    },
  );
  assert.equal(report.restored, 24);
  assert.deepEqual(seen, [4, 2, 2]);
});

it('a restore looks for entities with as many queries at a time as it may have requests in flight, each for one type', async () => {
  const { broker } = kindless();
  const archive = Array.from({ length: 400 }, (_, index) => ({
    id: `urn:t:${String(index)}`,
    type: index % 2 === 0 ? 'A' : 'B',
  }));
  const asked: string[] = [];
  const inFlight = { now: 0, most: 0 };
  const counted = async (request: BrokerRequest) => {
    if (request.method === 'GET')
      asked.push(new URLSearchParams(request.path.split('?')[1]).get('type') ?? '');
    inFlight.now += 1;
    inFlight.most = Math.max(inFlight.most, inFlight.now);
    await yieldToEventLoop();
    inFlight.now -= 1;
    return broker(request);
  };
  const report = await restore('entities', archive, counted, createTestClock(), {
    dryRun: true,
    limits: { batchSize: 500, concurrency: 3 },
  });
  assert.deepEqual([report.matched, report.restored, inFlight.most], [400, 400, 3]);
  assert.ok(
    asked.every((type) => type === 'A' || type === 'B'),
    asked.join(),
  );
});

it('entities are restored at a broker that shows no kinds of attributes, and whose collections end with a slash', async () => {
  const { broker, posts } = kindless();
  const point = { type: 'Point', coordinates: [1, 2] };
  const report = await restore(
    'entities',
    [
      { id: 'urn:t:1', type: 'T', speed: [{ value: 1, createdAt: '2026-01-01T00:00:00Z' }] },
      { id: 'urn:t:2', type: 'T', owner: [{ object: 'urn:p:1' }], where: [{ value: point }] },
    ],
    broker,
  );
  assert.deepEqual([report.restored, report.failed], [2, 0]);
  assert.deepEqual(posts, [
    {
      path: '/entities/',
      body: { id: 'urn:t:1', type: 'T', speed: [{ type: 'Property', value: 1 }] },
    },
    {
      path: '/entities/',
      body: {
        id: 'urn:t:2',
        type: 'T',
        owner: [{ type: 'Relationship', object: 'urn:p:1' }],
        where: [{ type: 'GeoProperty', value: point }],
      },
    },
  ]);
});

it('attributes are restored at a broker that accepts them only with the id and the type of their entity', async () => {
  const stays = { type: 'Property', value: 0 };
  const ids = ['urn:t:1', 'urn:t:2', 'urn:t:3'];
  const { broker, posts } = kindless(ids.map((id) => ({ id, type: 'T', stays })));
  const report = await restore(
    'attributes',
    ids.map((id) => ({ id, type: 'T', speed: [{ value: 1 }] })),
    broker,
  );
  assert.deepEqual([report.restored, report.failed], [3, 0]);
  assert.deepEqual(posts[0], {
    path: '/entities/urn%3At%3A1/attrs/?options=noOverwrite',
    body: { id: 'urn:t:1', type: 'T', speed: { type: 'Property', value: 1 } },
  });
});

it('instances are restored at a broker whose collections end with a slash', async () => {
  const { broker, posts } = kindless();
  const speed = [{ type: 'Property', value: 1, observedAt: '2026-01-01T00:00:00Z' }];
  await restore('instances', [{ id: 'urn:t:1', type: 'T', speed }], broker);
  assert.deepEqual(posts, [{ path: '/temporal/entities/', body: { id: 'urn:t:1', type: 'T', speed } }]);
});

/** An entity with these attributes at a broker that answers an append like this. */
function holding(own: Entity, append: (names: readonly string[]) => BrokerReply) {
  const appended: (readonly string[])[] = [];
  const broker = ({ method, jsonBody = '' }: BrokerRequest): BrokerReply => {
    if (method === 'GET') return replyOf(200, [own]);
    const names = Object.keys(JSON.parse(jsonBody) as object).filter(
      (name) => !['id', 'type'].includes(name),
    );
    const reply = append(names);
    if (reply.status < 300) {
      appended.push(names);
      for (const name of names) Object.assign(own, { [name]: { type: 'Property', value: 1 } });
    }
    return reply;
  };
  return { broker, appended };
}

const ONE = { type: 'Property', value: 1 };
const TWO = [ONE, { ...ONE, datasetId: 'urn:d:1' }];

it('an attribute that the broker refuses to append does not prevent the others of its entity', async () => {
  const { broker, appended } = holding({ id: 'urn:t:1', type: 'T', speed: ONE }, (names) =>
    names.includes('speed') ? replyOf(400, { title: 'attribute already exists' }) : replyOf(204),
  );
  const archive = [{ id: 'urn:t:1', type: 'T', speed: TWO, name: ONE, owner: ONE }];
  const { restored, failed, errors } = await restore('attributes', archive, broker);
  assert.deepEqual([restored, failed, appended], [2, 1, [['name'], ['owner']]]);
  assert.deepEqual(
    errors.map(({ attribute, error: { title } }) => [attribute, title]),
    [['speed', 'attribute already exists']],
  );
});

it('an attribute that the broker reports as not appended is not restored, whether named as sent or by its IRI', async () => {
  for (const attributeName of ['speed', 'https://uri.etsi.org/ngsi-ld/default-context/speed']) {
    const { broker } = holding({ id: 'urn:t:1', type: 'T', speed: ONE }, () =>
      replyOf(207, { updated: [], notUpdated: [{ attributeName, reason: 'It is there.' }] }),
    );
    const { failed, errors } = await restore(
      'attributes',
      [{ id: 'urn:t:1', type: 'T', speed: TWO }],
      broker,
    );
    assert.deepEqual([failed, errors[0]?.error.detail], [1, 'It is there.'], attributeName);
  }
});

it('an entity that the broker reports as existing is already there, whatever its status in a batch', async () => {
  for (const status of [409, 400, undefined]) {
    let isThere = false;
    const error = { title: 'entity already exists', ...(status === undefined ? {} : { status }) };
    const { restored, alreadyThere, failed } = await restore(
      'entities',
      ['urn:t:1', 'urn:t:2'].map((id) => ({ id, type: 'T' })),
      ({ method }) => {
        if (method === 'GET') return replyOf(200, isThere ? [{ id: 'urn:t:1' }, { id: 'urn:t:2' }] : []);
        isThere = true;
        return replyOf(207, { success: ['urn:t:2'], errors: [{ entityId: 'urn:t:1', error }] });
      },
    );
    assert.deepEqual([restored, alreadyThere, failed], [1, 1, 0], String(status));
  }
});

it('a restore gives the reason of the broker for what was not created, in whatever form the broker gives it', async () => {
  const why = { message: 'The key dataset is invalid.' };
  const scorpio = { title: 'Bad Request Data.', detail: why };
  const detail = JSON.stringify(why);
  for (const [reply, expected] of [
    [{ failure: [{ ...scorpio, errorCode: 400 }] }, { title: scorpio.title, status: 400, detail }],
    [{ ProblemDetails: { ...scorpio, status: 400 } }, { title: scorpio.title, status: 400, detail }],
    [
      { error: ['No such type', 'No such attribute'] },
      { title: 'No such type; No such attribute', status: 500 },
    ],
  ] as const) {
    const { failed, errors } = await restore('entities', GOOD_AND_BAD.slice(0, 2), ({ method }) => {
      if (method === 'GET') return replyOf(200, []);
      const items = GOOD_AND_BAD.slice(0, 2).map(({ id }) => ({ id, ...reply }));
      return replyOf(207, 'failure' in reply ? items : { success: [], errors: items });
    });
    assert.equal(failed, 2);
    const { type: _type, ...error } = errors[0]?.error ?? {};
    assert.deepEqual(error, expected);
  }
});

it('an entity that exists according to a list of failures counts as already there', async () => {
  let isThere = false;
  const { restored, alreadyThere } = await restore('entities', GOOD_AND_BAD.slice(0, 2), ({ method }) => {
    if (method === 'GET') return replyOf(200, isThere ? GOOD_AND_BAD.slice(0, 2) : []);
    isThere = true;
    const failure = [{ title: 'Already exists.', errorCode: 409 }];
    return replyOf(207, [
      { id: 'urn:t:1', success: [] },
      { id: 'urn:t:bad', failure },
    ]);
  });
  assert.deepEqual([restored, alreadyThere], [1, 1]);
});

it('a problem in a successful answer is the reason why something was not created', async () => {
  const type = 'https://uri.etsi.org/ngsi-ld/errors/BadRequestData';
  const denied = replyOf(200, { type, title: 'No', detail: 'The quota is used up.' });
  for (const [unit, archive] of [
    ['entities', GOOD_AND_BAD],
    ['entities', GOOD_AND_BAD.slice(0, 1)],
    ['attributes', [{ id: 'urn:t:1', type: 'T', speed: TWO }]],
    ['instances', [{ id: 'urn:t:1', type: 'T', speed: { ...ONE, observedAt: '2026-01-01T00:00:00Z' } }]],
  ] as const) {
    const { failed, errors } = await restore(unit, archive, ({ method, path }) => {
      if (method !== 'GET') return denied;
      return replyOf(200, unit === 'attributes' && path.startsWith('/entities') ? [{ id: 'urn:t:1' }] : []);
    });
    assert.equal(failed, archive.length, unit);
    assert.equal(errors[0]?.error.detail, 'The quota is used up.', unit);
  }
});

it('a failure of an append that names no attribute is the reason for those that are not shown', async () => {
  const { broker } = holding({ id: 'urn:t:1', type: 'T', speed: ONE }, () =>
    replyOf(207, {
      id: 'urn:t:1',
      success: [],
      failure: [{ title: 'No', detail: 'It is read-only.', errorCode: 403 }],
    }),
  );
  const { failed, errors } = await restore('attributes', [{ id: 'urn:t:1', type: 'T', speed: TWO }], broker);
  assert.deepEqual([failed, errors[0]?.error.detail], [1, 'It is read-only.']);
});

it('a restored entity has all that only looks like a member that the broker sets, and numbers of any size', async () => {
  const system = '"createdAt":"2026-01-01T00:00:00Z","modifiedAt":"2026-01-01T00:00:00Z"';
  const attribute = (more: string) => `{"type":"Property","value":${more}}`;
  const huge = `1${'0'.repeat(400)}`;
  const members = (own: string, sub: string) => [
    `"instanceId":${attribute('"i-1"')}`,
    `"speed":${attribute(`1e400${sub},"instanceId":${attribute('"i-2"')}`)}`,
    `"size":${attribute(huge)}`,
    // An attribute, as in brokers of versions before 1.9.
    `"expiresAt":${attribute(`"2030-01-01T00:00:00Z"${own}`)}`,
  ];
  const named = '"id":"urn:t:1","type":"T"';
  const line = `{${[named, system, ...members(`,${system}`, `,${system},"datasetId":"urn:d:1"`)].join()}}`;
  let sent = '';
  await restore(
    'entities',
    [],
    ({ method, jsonBody = '' }) => {
      sent ||= jsonBody;
      return method === 'GET' ? replyOf(200, sent === '' ? [] : [{ id: 'urn:t:1' }]) : replyOf(201);
    },
    createTestClock(),
    {
      lines: async function* () {
        yield { id: 'urn:t:1', line };
      },
    },
  );
  assert.equal(sent, `{${[named, ...members('', ',"datasetId":"urn:d:1"')].join()}}`);
});

it('a distance or an @context that the broker added to what it listed is not restored', async () => {
  const car = { id: 'urn:t:1', type: 'T', speed: { type: 'Property', value: 1 } };
  let sent = '';
  const listed = { ...car, geoDistance: 9226.8, '@context': ['https://models.example/context.jsonld'] };
  await restore('entities', [listed], ({ method, jsonBody = '' }) => {
    sent ||= jsonBody;
    return method === 'GET' ? replyOf(200, sent === '' ? [] : [car]) : replyOf(201);
  });
  assert.deepEqual(JSON.parse(sent), car);
});

it('an entity that is nested too deeply to be sent does not prevent the others', async () => {
  const line = (id: string, depth: number) =>
    `{"id":"${id}","type":"T","n":{"type":"Property","value":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
  const created: string[] = [];
  const { restored, failed, errors } = await restore(
    'entities',
    [],
    ({ method, jsonBody = '[]' }) => {
      if (method === 'GET')
        return replyOf(
          200,
          created.map((id) => ({ id })),
        );
      created.push(...(JSON.parse(jsonBody) as readonly Entity[]).map(({ id }) => id));
      return replyOf(201);
    },
    createTestClock(),
    {
      lines: async function* () {
        for (const [id, depth] of [
          ['urn:t:1', 1],
          ['urn:t:2', 100_000],
          ['urn:t:3', 2],
        ] as const)
          yield { id, line: line(id, depth) };
      },
    },
  );
  if (canWrite(100_000)) {
    assert.deepEqual([restored, failed, created], [3, 0, ['urn:t:1', 'urn:t:2', 'urn:t:3']]);
    return;
  }
  assert.deepEqual([restored, failed, created], [2, 1, ['urn:t:1', 'urn:t:3']]);
  assert.deepEqual([errors[0]?.entityId, errors[0]?.error.status], ['urn:t:2', 422]);
});

/** Whether this version of Node.js writes JSON that is nested so deeply; those before 26 do not. */
function canWrite(depth: number): boolean {
  try {
    JSON.stringify(JSON.parse('['.repeat(depth) + ']'.repeat(depth)));
    return true;
  } catch {
    return false;
  }
}

/** A broker that refuses a batch as a whole, and names some of its entities in the errors of a 400. */
function refusingBatches(named: (ids: readonly string[]) => readonly string[], createsAnyway = false) {
  const [world, batches, singly] = [new Set<string>(), [] as number[], [] as string[]];
  const broker = ({ method, path, jsonBody = '' }: BrokerRequest): BrokerReply => {
    if (method === 'GET')
      return replyOf(
        200,
        [...world].map((id) => ({ id })),
      );
    const body = JSON.parse(jsonBody) as Entity | readonly Entity[];
    if (path !== '/entityOperations/create') {
      const { id } = body as Entity;
      singly.push(id);
      if (id === 'urn:t:bad') return problem(400);
      if (world.has(id)) return problem(409);
      world.add(id);
      return replyOf(201);
    }
    const ids = (body as readonly Entity[]).map(({ id }) => id);
    batches.push(ids.length);
    const bad = named(ids);
    if (bad.length === 0 || createsAnyway) for (const id of ids) world.add(id);
    return bad.length === 0
      ? replyOf(201, ids)
      : replyOf(400, {
          errors: bad.map((entityId) => ({ entityId, error: { status: 400, title: 'Bad' } })),
        });
  };
  return { broker, batches, singly };
}

const GOOD_AND_BAD = ['urn:t:1', 'urn:t:bad', 'urn:t:2', 'urn:t:3'].map((id) => ({ id, type: 'T' }));

it('a restore at a rate creates no more in one request than the rate allows in a second', async () => {
  const world = new Set<string>();
  const sizes: number[] = [];
  const clock = createTestClock();
  const ids = Array.from({ length: 25 }, (_, n) => `urn:t:${n}`);
  const report = await restore(
    'entities',
    ids.map((id) => ({ id, type: 'T' })),
    ({ method, path, jsonBody = '' }) => {
      const asked = new URLSearchParams(path.split('?')[1]).get('id')?.split(',') ?? [];
      if (method === 'GET')
        return replyOf(
          200,
          asked.filter((id) => world.has(id)).map((id) => ({ id, type: 'T' })),
        );
      const sent = JSON.parse(jsonBody) as readonly Entity[];
      sizes.push(sent.length);
      for (const { id } of sent) world.add(id);
      return replyOf(
        201,
        sent.map(({ id }) => id),
      );
    },
    clock,
    { rateLimiter: new RateLimiter(clock, 10) },
  );
  assert.deepEqual([report.restored, sizes], [25, [10, 10, 5]]);
});

it('entities that the refusal of a batch does not name are created in a further batch', async () => {
  const { broker, batches, singly } = refusingBatches((ids) => ids.filter((id) => id === 'urn:t:bad'));
  const { restored, failed, errors } = await restore('entities', GOOD_AND_BAD, broker);
  assert.deepEqual([restored, failed, batches, singly], [3, 1, [4, 3], []]);
  assert.deepEqual(
    errors.map(({ entityId, error: { title } }) => [entityId, title]),
    [['urn:t:bad', 'Bad']],
  );
});

it('entities are created one by one if the refusal of their batch names none of them', async () => {
  const { broker, batches, singly } = refusingBatches(() => ['urn:t:other']);
  const { restored, failed } = await restore('entities', GOOD_AND_BAD, broker);
  assert.deepEqual([restored, failed, batches, singly.length], [3, 1, [4], 4]);
});

it('entities that the broker created before it refused a repeated batch count as restored', async () => {
  const { broker } = refusingBatches(() => ['urn:t:other'], true);
  let tries = 0;
  const { restored, alreadyThere } = await restore('entities', GOOD_AND_BAD, (request) => {
    const reply = broker(request);
    if (request.path !== '/entityOperations/create' || (tries += 1) > 1) return reply;
    throw new BrokerTimeoutError('no answer', true);
  });
  assert.deepEqual([restored, alreadyThere], [3, 0]);
});

it('instances without a time, which some brokers refuse, do not prevent those with a time', async () => {
  const posts: unknown[] = [];
  const seen = { ...ONE, observedAt: '2026-01-01T00:00:00Z' };
  const { failed } = await restore(
    'instances',
    [{ id: 'urn:t:1', type: 'T', speed: [ONE, seen], name: [ONE] }],
    ({ method, jsonBody = '' }) => {
      if (method === 'GET') return replyOf(200, []);
      const { speed = [], name = [] } = JSON.parse(jsonBody) as Record<string, readonly object[]>;
      posts.push(JSON.parse(jsonBody));
      return [...speed, ...name].every((instance) => 'observedAt' in instance) ? replyOf(201) : problem(400);
    },
  );
  assert.equal(failed, 3);
  assert.deepEqual(posts, [
    { id: 'urn:t:1', type: 'T', speed: [seen] },
    { id: 'urn:t:1', type: 'T', speed: [ONE], name: [ONE] },
    { id: 'urn:t:1', type: 'T', speed: [ONE] },
    { id: 'urn:t:1', type: 'T', name: [ONE] },
  ]);
});

it('existing instances with a time are found even if the broker refuses the query for instances without a time', async () => {
  const seen = { ...ONE, observedAt: '2026-01-01T00:00:00Z' };
  const { restored, alreadyThere } = await restore(
    'instances',
    [{ id: 'urn:t:1', type: 'T', speed: [{ ...ONE, value: 2 }, seen] }],
    ({ method, path }) => {
      if (method !== 'GET') return replyOf(201);
      if (path.includes('timeproperty=createdAt')) return problem(400);
      return replyOf(200, [{ id: 'urn:t:1', type: 'T', speed: [seen] }]);
    },
  );
  assert.deepEqual([restored, alreadyThere], [1, 1]);
});

/** An archive of histories with four attributes each. */
const histories = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const seen = [{ ...ONE, observedAt: '2026-01-01T00:00:00Z' }];
    return { id: `urn:t:${String(index)}`, type: 'T', speed: seen, name: seen, place: seen, state: seen };
  });

it('a restore of instances ends at a broker that answers them with nothing but failures', async () => {
  let posts = 0;
  const broker = ({ method }: BrokerRequest) => {
    if (method === 'GET') return replyOf(200, []);
    posts += 1;
    return problem(500);
  };
  await assert.rejects(
    restore('instances', histories(100), broker),
    (error) => error instanceof BrokerFailedError && error.reason === 'nothing-but-failures',
  );
  assert.ok(posts <= 25, String(posts));
});

it('instances are sent as often as the policy says, with one pause before each try and no more queries at once than allowed', async () => {
  const clock = createTestClock();
  let [posts, queries, most] = [0, 0, 0];
  const broker = async ({ method }: BrokerRequest) => {
    if (method === 'POST') {
      posts += 1;
      return problem(500);
    }
    queries += 1;
    most = Math.max(most, queries);
    await new Promise((resolve) => setImmediate(resolve));
    queries -= 1;
    return replyOf(200, []);
  };
  const { failed, retries } = await restore('instances', histories(4), broker, clock);
  assert.deepEqual([failed, posts, retries, clock.sleeps.length, most], [16, 12, 8, 8, 4]);
});

it('instances whose answer is lost are sent again only if they are not shown', async () => {
  const added = new Map<string, unknown>();
  const sent: unknown[] = [];
  const { restored, failed } = await restore('instances', histories(1), ({ method, path, jsonBody = '' }) => {
    if (method === 'GET') {
      const name = new URLSearchParams(path.split('?')[1]).get('attrs') ?? '';
      return replyOf(200, [{ id: 'urn:t:0', type: 'T', [name]: added.get(name) }]);
    }
    const { id: _id, type: _type, ...attributes } = JSON.parse(jsonBody) as Record<string, unknown>;
    sent.push(Object.keys(attributes));
    // It adds two of them before it fails.
    for (const [name, value] of Object.entries(attributes).slice(0, 2)) added.set(name, value);
    return problem(500);
  });
  assert.deepEqual([restored, failed], [4, 0]);
  assert.deepEqual(sent, [
    ['speed', 'name', 'place', 'state'],
    ['place', 'state'],
  ]);
});

it('the newest instances of a history are sent first, because a broker may make the current entity of them', async () => {
  const at = (index: number) => new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString();
  const speed = Array.from({ length: 1200 }, (_, value) => ({
    type: 'Property',
    value,
    observedAt: at(value),
  }));
  const stored: (typeof speed)[number][] = [];
  let current: number | undefined;
  const { restored } = await restore(
    'instances',
    [{ id: 'urn:a:1', type: 'A', speed }],
    ({ method, path, jsonBody = '' }) => {
      if (method === 'GET') {
        const query = new URLSearchParams(path.split('?')[1]);
        const [from = '', to = ''] = ['timeAt', 'endTimeAt'].map((name) => query.get(name) ?? '');
        const shown = stored.filter(({ observedAt }) => observedAt >= from && observedAt < to);
        return replyOf(200, [{ id: 'urn:a:1', type: 'A', speed: shown }]);
      }
      const { speed: sent } = JSON.parse(jsonBody) as { readonly speed: typeof speed };
      current ??= Math.max(...sent.map(({ value }) => value));
      stored.push(...sent);
      return replyOf(204);
    },
  );
  assert.deepEqual([restored, stored.length, current], [1200, 1200, 1199]);
});

it('instances that may still appear, or that no query shows, are sent once', async () => {
  const [seen = { id: '' }] = histories(1);
  const unseen = { id: 'urn:t:0', type: 'T', speed: [ONE] };
  for (const [entity, answer, counts] of [
    [seen, problem(504), [1, 4, 0]],
    [seen, new BrokerTimeoutError('no answer', true), [1, 4, 0]],
    [unseen, problem(500), [1, 0, 1]],
  ] as const) {
    let posts = 0;
    const { failed, unknown } = await restore('instances', [entity], ({ method, path }) => {
      if (method === 'GET') return replyOf(200, path.startsWith('/types') ? ['T'] : []);
      posts += 1;
      if (answer instanceof Error) throw answer;
      return answer;
    });
    assert.deepEqual([posts, failed, unknown], counts);
  }
});

for (const unit of ['entities', 'instances'] as const)
  it(`no request that restores ${unit} has 1 MB, also in a script with several bytes a letter`, async () => {
    const text = '\u6771'.repeat(1000);
    const sizes: number[] = [];
    const instance = (second: number) => ({
      type: 'Property',
      value: text,
      observedAt: new Date(second * 1000).toISOString(),
    });
    const archive =
      unit === 'entities'
        ? Array.from({ length: 500 }, (_, at) => ({
            id: `urn:a:${String(at)}`,
            type: 'A',
            name: instance(at),
          }))
        : [{ id: 'urn:a:1', type: 'A', name: Array.from({ length: 500 }, (_, at) => instance(at)) }];
    await restore(unit, archive, ({ method, jsonBody = '' }) => {
      if (method === 'GET') return replyOf(200, []);
      sizes.push(Buffer.byteLength(jsonBody));
      return replyOf(201, []);
    });
    assert.ok(sizes.length > 1);
    assert.ok(Math.max(...sizes) < 1_000_000, String(Math.max(...sizes)));
  });

it('instances are restored at a broker, or through a proxy, that accepts only small bodies', async () => {
  const added: string[] = [];
  const name = Array.from({ length: 20 }, (_, second) => ({
    type: 'Property',
    value: 'x'.repeat(1000),
    observedAt: new Date(second * 1000).toISOString(),
  }));
  const report = await restore(
    'instances',
    [{ id: 'urn:a:1', type: 'A', name }],
    ({ method, jsonBody = '' }) => {
      if (method === 'GET')
        return replyOf(200, added.length === 0 ? [] : [{ id: 'urn:a:1', type: 'A', name }]);
      if (jsonBody.length > 8192) return problem(413);
      added.push(jsonBody);
      return replyOf(204, []);
    },
  );
  assert.deepEqual([report.restored, report.failed], [20, 0]);
  assert.equal(added.join('').split('observedAt').length - 1, 20);
});

it('an instance that the broker refuses does not prevent the others of its history', async () => {
  const at = (index: number) => `2026-01-01T00:00:${String(index).padStart(2, '0')}Z`;
  const speed = Array.from({ length: 40 }, (_, value) => ({
    type: 'Property',
    value,
    observedAt: at(value),
  }));
  const stored: object[] = [];
  let requests = 0;
  const history = [{ id: 'urn:a:1', type: 'A', speed }];
  const refusing = (isRefused: (value: number) => boolean) =>
    restore('instances', history, ({ method, jsonBody = '' }) => {
      if (method === 'GET') return replyOf(200, [{ id: 'urn:a:1', type: 'A', speed: stored }]);
      requests += 1;
      const { speed: sent } = JSON.parse(jsonBody) as (typeof history)[number];
      // The refused request has stored what comes before the refused instance.
      const refused = sent.findIndex(({ value }) => isRefused(value));
      stored.push(...sent.slice(0, refused === -1 ? sent.length : refused));
      return refused === -1 ? replyOf(204) : problem(400);
    });
  const report = await refusing((value) => value === 7 || value === 30);
  assert.deepEqual([report.restored, report.failed, report.unknown], [38, 2, 0]);
  assert.equal(stored.length, 38);
  stored.length = 0;
  requests = 0;
  history.push(
    ...Array.from({ length: 30 }, (_, index) => ({ id: `urn:b:${String(index)}`, type: 'A', speed })),
  );
  const none = await refusing(() => true);
  assert.deepEqual([none.restored, none.failed], [0, 31 * 40]);
  assert.ok(requests < 400, String(requests));
});

it('entities with long ids and types are restored at a broker that takes request lines of at most 4096 bytes', async () => {
  const type = 'https://smart-data-models.github.io/dataModel.Environment/AirQualityObserved';
  const archive = Array.from({ length: 30 }, (_, index) => ({
    id: `urn:x:${'\u6771'.repeat(43)}${String(index)}`,
    type,
  }));
  let created: readonly Entity[] = [];
  const report = await restore('entities', archive, ({ method, path, jsonBody = '[]' }) => {
    if (`${method} /ngsi-ld/v1${path} HTTP/1.1\r\n`.length > 4096) return problem(414);
    if (method === 'GET') {
      const ids = new URLSearchParams(path.split('?')[1]).get('id')?.split(',') ?? [];
      return replyOf(
        200,
        created.filter(({ id }) => ids.includes(id)),
      );
    }
    created = JSON.parse(jsonBody) as readonly Entity[];
    return replyOf(
      201,
      created.map(({ id }) => id),
    );
  });
  assert.deepEqual([report.restored, report.failed], [30, 0]);
});

it('entities and attributes of several types are restored at a broker that refuses several types next to several ids', async () => {
  const archive = ['A', 'B', 'A', 'B', 'C'].map((type, index) => ({
    id: `urn:t:${String(index)}`,
    type,
    n: 1,
  }));
  for (const unit of ['entities', 'attributes'] as const) {
    const world = new Map<string, Entity>(
      unit === 'entities' ? [] : archive.map(({ n: _n, ...entity }) => [entity.id, entity]),
    );
    const report = await restore(unit, archive, ({ method, path, jsonBody = '' }) => {
      const [resource = '', search] = path.split('?');
      if (method === 'GET') {
        const query = new URLSearchParams(search);
        const [ids = [], types = []] = ['id', 'type'].map((name) => query.get(name)?.split(','));
        if (types.length === 0 || (ids.length > 1 && types.length > 1)) return problem(400);
        const found = ids.flatMap((id) => world.get(id) ?? []);
        return replyOf(
          200,
          found.filter(({ type }) => types.includes(String(type))),
        );
      }
      const sent = JSON.parse(jsonBody) as Entity | readonly Entity[];
      const id = decodeURIComponent(resource.split('/')[2] ?? '');
      if (Array.isArray(sent)) for (const entity of sent as readonly Entity[]) world.set(entity.id, entity);
      else world.set(id, { ...world.get(id), ...(sent as Entity), id });
      return replyOf(resource.startsWith('/entityOperations') ? 201 : 204);
    });
    assert.deepEqual([report.restored, report.failed], [5, 0], JSON.stringify(report));
  }
});

it('an id that the broker refuses in queries does not prevent the restore of other entities', async () => {
  const odd = 'urn:t:has spaces';
  const archive = [
    ...Array.from({ length: 40 }, (_, index) => ({ id: `urn:t:${String(index)}`, type: 'T' })),
  ];
  archive.splice(17, 0, { id: odd, type: 'T' });
  const created = new Set(['urn:t:3']);
  let queries = 0;
  const broker = ({ method, path, jsonBody = '[]' }: BrokerRequest) => {
    if (method === 'GET') {
      queries += 1;
      const ids = new URLSearchParams(path.split('?')[1]).get('id')?.split(',') ?? [];
      if (ids.includes(odd)) return problem(400);
      return replyOf(
        200,
        ids.filter((id) => created.has(id)).map((id) => ({ id, type: 'T' })),
      );
    }
    const ids = (JSON.parse(jsonBody) as readonly Entity[]).map(({ id }) => id);
    for (const id of ids) created.add(id);
    return replyOf(201, ids);
  };
  const report = await restore('entities', archive, broker);
  assert.deepEqual([report.restored, report.alreadyThere, report.failed], [39, 1, 1]);
  assert.match(JSON.stringify(report.errors), /has spaces.*does not show it/);
  assert.ok(queries < 200, String(queries));
  await assert.rejects(
    restore('entities', archive, ({ method }) => problem(method === 'GET' ? 400 : 201)),
    /with status 400/,
  );
});

/** A broker of histories that refuses some ids in queries. */
function refusingBroker(isRefused: (id: string) => boolean) {
  const added = new Map<string, Entity>();
  const broker = ({ method, path, jsonBody = '{}' }: BrokerRequest) => {
    if (method !== 'GET') {
      const entity = JSON.parse(jsonBody) as Entity;
      added.set(entity.id, entity);
      return replyOf(201);
    }
    const id = new URLSearchParams(path.split('?')[1]).get('id') ?? '';
    if (isRefused(id)) return replyOf(400, { title: 'Bad id' });
    return replyOf(200, [added.get(id) ?? []].flat());
  };
  return { broker, added };
}

it('a history whose id the broker refuses in queries fails with the reason, and the others are restored', async () => {
  const archive = histories(3);
  for (const dryRun of [false, true]) {
    const { broker, added } = refusingBroker((id) => id === 'urn:t:1');
    const report = await restore('instances', archive, broker, createTestClock(), { dryRun });
    assert.deepEqual([report.matched, report.restored, report.failed, report.unknown], [12, 8, 4, 0]);
    assert.deepEqual([...added.keys()], dryRun ? [] : ['urn:t:0', 'urn:t:2']);
    assert.equal(report.errors.length, 4);
    for (const { entityId, error } of report.errors) {
      assert.equal(entityId, 'urn:t:1');
      assert.match(JSON.stringify(error), /Bad id/);
    }
  }
});

it('a restore of instances ends if the broker refuses the queries for one id after the other', async () => {
  const { broker, added } = refusingBroker(() => true);
  await assert.rejects(restore('instances', histories(11), broker), /with status 400/);
  assert.equal(added.size, 0);
});

it('instances whose answer is lost are not sent again if the broker then refuses to show them', async () => {
  let posts = 0;
  const report = await restore('instances', histories(1), ({ method }) => {
    if (method === 'GET') return posts === 0 ? replyOf(200, []) : problem(400);
    posts += 1;
    return problem(500);
  });
  assert.deepEqual([posts, report.restored, report.failed], [1, 0, 4]);
});

/** A broker that stores what is left of an entity, depending on the request. */
function losingBroker(left: (entity: Entity, path: string) => Entity) {
  const world = new Map<string, Entity>();
  const broker = ({ method, path, jsonBody = '' }: BrokerRequest) => {
    if (method === 'GET') {
      const ids = new URLSearchParams(path.split('?')[1]).get('id')?.split(',') ?? [];
      return replyOf(
        200,
        ids.flatMap((id) => world.get(id) ?? []),
      );
    }
    const sent = [JSON.parse(jsonBody) as Entity | readonly Entity[]].flat() as readonly Entity[];
    for (const entity of sent) world.set(entity.id, left(entity, path));
    return replyOf(201);
  };
  return { broker, world };
}

it('entities with datasets are restored as a whole at a broker that loses datasets in batches', async () => {
  const speed = { type: 'Property', value: 1 };
  const archive = [
    { id: 'urn:t:1', type: 'T', speed },
    { id: 'urn:t:2', type: 'T', speed: [speed, { ...speed, datasetId: 'urn:d:1' }] },
    { id: 'urn:t:3', type: 'T', speed: { ...speed, datasetId: 'urn:d:1' } },
    { id: 'urn:t:4', type: 'T', speed: [speed] },
  ];
  const paths = new Map<string, string>();
  const { broker, world } = losingBroker((entity, path) => {
    paths.set(entity.id, path);
    if (path === '/entities') return entity;
    const instances = [entity['speed']].flat() as readonly object[];
    return { ...entity, speed: instances.find((one) => !('datasetId' in one)) };
  });
  const report = await restore('entities', archive, broker);
  assert.deepEqual([report.restored, report.failed, report.different], [4, 0, 0]);
  assert.deepEqual(
    [...world.values()].map(({ speed: stored }) => [stored].flat().length).sort(),
    [1, 1, 1, 2],
  );
  assert.deepEqual(
    archive.map(({ id }) => paths.get(id)),
    ['/entityOperations/create', '/entities', '/entities', '/entityOperations/create'],
  );
});

it('a restore counts what the broker stores differently from the archive', async () => {
  const archive = Array.from({ length: 5 }, (_, index) => ({
    id: `urn:t:${String(index)}`,
    type: 'T',
    createdAt: '2026-01-01T00:00:00Z',
    n: { type: 'Property', value: index / 3 },
  }));
  const rounding = losingBroker(({ n, ...entity }) => ({
    ...entity,
    n: { ...(n as object), value: Number((n as { readonly value: number }).value.toFixed(6)) },
  }));
  const report = await restore('entities', archive, rounding.broker);
  assert.deepEqual([report.restored, report.failed, report.different], [5, 0, 3]);
});

it('entities that were created and cannot be read as a whole are restored, and not compared', async () => {
  const { broker } = losingBroker(({ id, type }) => ({ id, type }));
  const report = await restore('entities', [{ id: 'urn:t:1', type: 'T' }], (request) =>
    request.path.includes('sysAttrs') ? replyOf(200, 'not JSON') : broker(request),
  );
  assert.deepEqual([report.restored, report.failed, report.different], [1, 0, 0]);
});
