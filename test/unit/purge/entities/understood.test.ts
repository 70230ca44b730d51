import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FilterIgnoredError } from '../../../../sidecar/purge/errors.js';
import { showsOnlyWithout } from '../../../../sidecar/purge/entities/index.js';
import { FlawedBroker } from '../../../support/flawed-broker.js';
import { purge } from '../../../support/purge-harness.js';
import { pageOf } from '../hand-made-lister.js';

const OLD = '2020-01-01T00:00:00Z';
const NEVER = 'n>1000';

/** A broker with cars of 2026, each with a reading of 2025, that interprets q, or another parameter, in its own way. */
function brokerThatReads(read: (value: string) => string, parameter = 'q') {
  const broker = new FlawedBroker({
    name: 'reads q',
    reads: ({ parameters, tenant }) => {
      const value = parameters.get(parameter);
      const readAs = value === undefined ? parameters : new Map([...parameters, [parameter, read(value)]]);
      return [{ parameters: readAs, tenant }];
    },
  });
  const cars = Array.from({ length: 5 }, (_, n) => ({
    id: `urn:v:${n}`,
    type: 'Car',
    n: { type: 'Property', value: n, observedAt: '2025-06-01T00:00:00Z' },
    until: { type: 'Property', value: '2030-01-01T00:00:00Z' },
  }));
  broker.fill('', cars);
  const sent: string[] = [];
  const { client } = broker;
  const run = async (query: string) =>
    purge({ url: new URL('http://broker.test') }, query, {
      client: {
        ...client,
        send: async (request) => (sent.push(decodeURIComponent(request.path)), client.send(request)),
      },
    });
  return { run, sent };
}

const unknown = (name: string) => (q: string) =>
  q.replaceAll(new RegExp(String.raw`\b${name}(?=[<>=!])`, 'g'), 'nowhere');

/** Reads q as a broker that compares times with no range (Coraine). */
const rangesAreEmpty = (q: string) => q.replaceAll(/[\w.]+[!=]=\d{4}-[^;]*\.\.[^;]*/g, NEVER);

for (const [what, query, read] of [
  ['createdAt', `type=Car&q=createdAt<${OLD}`, unknown('createdAt')],
  ['modifiedAt', `type=Car&q=n;modifiedAt<${OLD}`, unknown('modifiedAt')],
  ['modifiedAt', `type=Car&q=(n>3|n<2);modifiedAt<${OLD}`, unknown('modifiedAt')],
  [
    'modifiedAt',
    `type=Car&q=(modifiedAt<${OLD}|createdAt<${OLD})&dryRun=true`,
    unknown('(?:modified|created)At'),
  ],
  [
    'createdAt',
    'type=Car&q=createdAt<2000-01-01T06:00:00%2B02:00',
    (q: string) => q.replaceAll(/createdAt(?=.*\+)/g, 'nowhere'),
  ],
  ['createdAt', `type=Car&q=createdAt==${OLD}..2030-01-01T00:00:00Z`, rangesAreEmpty],
  ['modifiedAt', `type=Car&q=modifiedAt!=${OLD}..${OLD}`, rangesAreEmpty],
  ['!extra', 'type=Car&q=!extra', (q: string) => q.replaceAll(/!\w+/g, NEVER)],
] as const) {
  it(`a purge that matches nothing is refused if the broker does not understand ${what}: ${query}`, async () => {
    const { error } = await brokerThatReads(read).run(query);
    assert.ok(error instanceof FilterIgnoredError, String(error));
    assert.equal(error.parameter, 'q');
    assert.ok(error.message.includes(what), error.message);
    assert.match(error.message, /does not understand.*Nothing was deleted/);
  });
}

it('a purge whose q has several conditions in doubt names all of them in its refusal or warning', async () => {
  const inDoubt = `type=Car&q=createdAt>${OLD};modifiedAt<${OLD}`;
  const { error } = await brokerThatReads(unknown('modifiedAt')).run(inDoubt);
  assert.ok(error instanceof FilterIgnoredError, String(error));
  assert.match(
    error.message,
    new RegExp(
      `one of the conditions createdAt>${OLD} and modifiedAt<${OLD} of q: .* none of them for ` +
        'createdAt>1970-01-01T00:00:00Z and modifiedAt>1970-01-01T00:00:00Z, which are true for all',
    ),
  );
  const untimed = await brokerThatReads((q) => q).run(`type=Car&q=until>${OLD};n<${OLD}`);
  assert.match(
    untimed.report?.warnings[0] ?? '',
    new RegExp(`until>${OLD} and n<${OLD} .* until>1970-01-01T00:00:00Z and n>1970-01-01T00:00:00Z`),
  );
});

for (const query of [
  `type=Car&q=createdAt<${OLD}`,
  `type=Nothing&q=createdAt<${OLD}`,
  `type=Car&q=n>9;modifiedAt<${OLD}`,
  `q=n>9;modifiedAt<${OLD}`,
  'type=Car&q=!n',
  `type=Car&q=n.observedAt<${OLD}`,
  `type=Car&q=createdAt==${OLD}..${OLD}`,
  'type=Car&q=modifiedAt!=1980-01-01T00:00:00Z..2200-01-01T00:00:00Z',
  `type=Car&q=n.observedAt==${OLD}..${OLD}`,
  `type=Car&q=until<${OLD}`,
  `type=Car&q=never<${OLD}`,
  'type=Car&q=n>9',
]) {
  it(`a purge that matches nothing succeeds if the broker understands its q: ${query}`, async () => {
    const { error, report } = await brokerThatReads((q) => q).run(query);
    assert.equal(error, undefined);
    assert.deepEqual([report?.matched, report?.warnings], [0, []]);
  });
}

it('a purge that matches nothing is refused if the broker reads A|B as the name of one type', async () => {
  const asOneName = (type: string) => (type.includes('|') ? 'OneName' : type);
  const { error } = await brokerThatReads(asOneName, 'type').run('type=Bus|Car');
  assert.ok(error instanceof FilterIgnoredError, String(error));
  assert.equal(error.parameter, 'type');
  assert.match(error.message, /Bus\|Car.*commas/);
  for (const query of ['type=Bus|Tram', 'type=Bus,Car', 'type=Car|Bus&q=n>9']) {
    const understood = await brokerThatReads(query.includes(',') ? asOneName : (type) => type, 'type').run(
      query,
    );
    assert.equal(understood.error, undefined, query);
  }
});

it('a purge that matches nothing is refused if the broker does not understand type=*', async () => {
  const asName = (type: string) => (type === '*' ? 'Star' : type);
  for (const query of ['type=*&maxAffected=9', 'type=*&q=n>2']) {
    const { error } = await brokerThatReads(asName, 'type').run(query);
    assert.ok(error instanceof FilterIgnoredError, query);
    assert.equal(error.parameter, 'type');
    assert.match(error.message, /does not understand type=\*.*Nothing was deleted/);
  }
  for (const read of [asName, (type: string) => type])
    assert.equal((await brokerThatReads(read, 'type').run('type=*&q=n>9')).report?.matched, 0);
});

it('a purge that matches nothing sends one more query if the broker knows the time, and none without a time', async () => {
  for (const [query, more] of [
    [`type=Car&q=createdAt<${OLD}`, ['type=Car&q=createdAt>1970-01-01T00:00:00Z']],
    ['type=Car&q=n>9', []],
    ['type=Nothing', []],
  ] as const) {
    const { run, sent } = brokerThatReads((q) => q);
    await run(query);
    assert.deepEqual(
      sent.slice(1).map((path) => /\?(.*?)&(?:pick|limit)/.exec(path)?.[1]),
      more,
    );
  }
});

it('a purge by a time in an attribute warns if no value is comparable with a time', async () => {
  for (const [query, path] of [
    [`type=Car&q=n<${OLD}`, 'n'],
    [`type=Car&q=n.observedAt<${OLD}`, 'n.observedAt'],
    [`type=Car&q=n.observedAt==${OLD}..2030-01-01T00:00:00Z`, 'n.observedAt'],
  ] as const) {
    const { error, report } = await brokerThatReads((q) =>
      rangesAreEmpty(q).replaceAll(/[\w.]+[<>]\d{4}-\S+/g, NEVER),
    ).run(query);
    assert.equal(error, undefined);
    const [warning = '', ...others] = report?.warnings ?? [];
    assert.match(warning, new RegExp(`${path}(?:>|==)1970-01-01T00:00:00Z`));
    assert.deepEqual(others, []);
  }
});

it('a broker is not suspected if what it did not show at first was written in the meantime', async () => {
  for (const isWritten of [true, false]) {
    const pages = [[], ['urn:v:1'], isWritten ? ['urn:v:1'] : []].map((ids) => pageOf(ids));
    const lister = { page: async () => pages.shift() ?? pageOf([]), showsAnything: async () => true };
    assert.equal(await showsOnlyWithout({ lister }, { holding: [], without: [] }), !isWritten);
  }
});
