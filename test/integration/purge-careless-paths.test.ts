import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { createBrokerClient } from '../../sidecar/purge/broker/index.js';
import { CAREFUL, type Carelessness } from '../support/careless-reading.js';
import {
  startCarelessBroker,
  type CarelessBroker,
  type CarelessEntity,
  type Part,
  type Piece,
} from '../support/careless-broker.js';
import { purge, purgeHistory, type PurgeOptions, type PurgeOutcome } from '../support/purge-harness.js';
import { runs } from '../support/thoroughness.js';
import { words } from '../support/words.js';

const OLD = '2025-01-01T00:00:00Z';
const NEW = '2025-01-03T00:00:00Z';
const BEFORE = 'timerel=before&timeAt=2025-01-02T00:00:00Z';

/**
 * The names used in a generated set of entities: ids of entities to purge, and names of attributes,
 * datasets and instances.
 */
interface Names {
  readonly ids: readonly string[];
  readonly attribute: string;
  readonly datasetId: string;
  readonly instanceId: string;
}

/** A way to purge what is of type Doomed, and the part of a Doomed entity that it removes. */
interface Way {
  readonly hasBatches?: boolean;
  readonly run: (broker: CarelessBroker, names: Names, options: PurgeOptions) => Promise<PurgeOutcome>;
  readonly isMeant: (piece: Piece, names: Names) => boolean;
}

const current = ({ collection }: Piece) => collection === 'entities';
const history = ({ collection }: Piece) => collection === 'temporal';
const entityWay = (strategy: 'auto' | 'batch' | 'single', hasBatches: boolean): Way => ({
  hasBatches,
  run: (broker, _names, options) => purge(broker, 'type=Doomed', { ...options, limits: { strategy } }),
  isMeant: current,
});

const WAYS: Readonly<Record<string, Way>> = {
  'entities by batch or singly': entityWay('auto', true),
  'entities by batch': entityWay('batch', true),
  'entities, at a broker without batches': entityWay('auto', false),
  'entities singly': entityWay('single', true),
  'attributes by drop': {
    run: (broker, { attribute }, options) =>
      purge(broker, `type=Doomed&drop=${encodeURIComponent(attribute)}`, options),
    isMeant: (piece, { attribute }) => current(piece) && piece.attribute === attribute,
  },
  'attributes by keep': {
    run: (broker, _names, options) => purge(broker, 'type=Doomed&keep=kept', options),
    isMeant: (piece) => current(piece) && piece.attribute !== undefined && piece.attribute !== 'kept',
  },
  'temporal entities': {
    run: (broker, _names, options) => purgeHistory(broker, 'type=Doomed', options),
    isMeant: history,
  },
  'temporal attributes': {
    run: (broker, { attribute }, options) =>
      purgeHistory(broker, `type=Doomed&attrs=${encodeURIComponent(attribute)}`, options),
    isMeant: (piece, { attribute }) => history(piece) && piece.attribute === attribute,
  },
  'temporal datasets': {
    run: (broker, { datasetId }, options) =>
      purgeHistory(broker, `type=Doomed&datasetId=${encodeURIComponent(datasetId)}`, options),
    isMeant: (piece, { datasetId }) => history(piece) && piece.part?.datasetId === datasetId,
  },
  'temporal instances': {
    run: (broker, _names, options) => purgeHistory(broker, `type=Doomed&${BEFORE}`, options),
    isMeant: (piece) => history(piece) && piece.part?.observedAt === OLD,
  },
};

const SIGNS = [
  '?',
  '#',
  '/',
  '\\',
  ';',
  '%',
  '+',
  ' ',
  '.',
  '..',
  '&',
  '=',
  ',',
  '*',
  ':',
  '\t',
  '\n',
  '\u0000',
  '\u00a0',
  ...words(`
    %3F %23 %2F %5C %3B %2B %20 %00 %253F %252F %2523 ？ ／ ＃ ； ％
  `),
  ...words(`
    ?deleteAll=true &deleteAll=true /attrs/a %2Fattrs%2Fa ;a=1 /.. /../b %2e%2e /.
  `),
];

/** Text with occasional characters that servers may interpret. */
const oddText = fc
  .array(fc.oneof(fc.constantFrom(...SIGNS), fc.constantFrom('a', 'b', '1', 'é', 'ａ')), { maxLength: 4 })
  .map((pieces) => `urn:a${pieces.join('')}`);

/**
 * Names that a query can contain: no blanks, commas or control characters, which are refused before
 * anything is sent.
 */
const oddName = oddText.filter((text) => !/[\s,\p{Cc}]/u.test(text));

const names: fc.Arbitrary<Names> = fc.record({
  ids: fc.uniqueArray(oddText, { minLength: 1, maxLength: 3 }),
  attribute: fc.oneof(oddName, fc.constant('plain')),
  datasetId: fc.oneof(oddName, fc.constant('urn:plain')),
  instanceId: fc.oneof(oddText, fc.constant('urn:plain')),
});

const flags = Object.keys(CAREFUL) as (keyof Carelessness)[];
const allAtOnce = Object.fromEntries(flags.map((flag) => [flag, true])) as unknown as Carelessness;
const carelessness: fc.Arbitrary<Carelessness> = fc.oneof(
  fc.constantFrom(...flags).map((flag) => ({ ...CAREFUL, [flag]: true })),
  fc
    .record({ decodesTarget: fc.boolean(), decodesSlashes: fc.boolean(), isGreedy: fc.boolean() })
    .chain((some) =>
      fc
        .subarray(flags)
        .map((set) => ({ ...CAREFUL, ...Object.fromEntries(set.map((flag) => [flag, true])), ...some })),
    ),
  fc.constant(allAtOnce),
);

/**
 * Texts that a careless server may read instead of the given one. Entities with these names exist
 * as well, and must stay.
 */
function twinsOf(text: string): readonly string[] {
  const steps: readonly ((given: string) => string)[] = [
    (given) => given.replace(/[?#;\p{Cc}][^]*$/u, ''),
    (given) => given.replace(/[?][^?]*$/, ''),
    (given) =>
      given.replaceAll(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    (given) => given.replaceAll('\\', '/'),
    (given) => given.replaceAll('+', ' '),
    (given) => given.replaceAll(/\/+/g, '/').replace(/\/$/, ''),
    (given) => given.replace(/\/attrs\/[^]*$/, ''),
    (given) => given.replace(/[&,][^]*$/, ''),
    (given) => given.trim().normalize('NFKC'),
  ];
  const found = new Set([text]);
  for (const known of found) {
    for (const step of steps) if (found.size < 24) found.add(step(known));
  }
  found.delete('');
  return [...found];
}

/**
 * Returns Doomed entities with the names, Kept ones with every name that could be confused with
 * them, and the same variants for all other names.
 */
function worldOf({ ids, attribute, datasetId, instanceId }: Names): CarelessEntity[] {
  const partsOf = (name: string): Part[] => {
    const suffix = name === attribute ? '' : `:${name}`;
    const instanceIds = twinsOf(instanceId).map((id) => id + suffix);
    return [
      ...instanceIds.map((id, index) => ({ instanceId: id, observedAt: index === 0 ? OLD : NEW })),
      ...twinsOf(datasetId).map((dataset, index) => ({
        instanceId: `urn:d${index}${suffix}`,
        datasetId: dataset,
        observedAt: NEW,
      })),
    ];
  };
  const attributes = new Map([...twinsOf(attribute), 'kept', 'plain'].map((name) => [name, partsOf(name)]));
  const twins = new Set(ids.flatMap(twinsOf));
  for (const id of ids) twins.delete(id);
  return [
    ...ids.map((id) => ({ id, type: 'Doomed', attributes })),
    ...[...twins].map((id) => ({ id, type: 'Kept', attributes })),
  ];
}

const keyOf = ({ collection, entity, attribute, part }: Piece) =>
  JSON.stringify([collection, entity.id, attribute, part?.instanceId, part?.datasetId]);

const nameOf = ({ collection, entity, attribute, part }: Piece) =>
  `${collection} ${entity.type} ${keyOf({ collection, entity, ...(attribute === undefined ? {} : { attribute }), ...(part === undefined ? {} : { part }) })}`;

for (const [what, way] of Object.entries(WAYS)) {
  it(`a purge with ambiguous names deletes nothing outside the query, however the broker reads paths: ${what}`, async (t) => {
    const broker = await startCarelessBroker(t);
    broker.hasBatches = way.hasBatches === true;
    const client = createBrokerClient({ brokerUrl: broker.url, timeoutMs: 120_000 });
    t.after(() => client.close());
    const shared = { ...client, close: async () => {} };
    await fc.assert(
      fc.asyncProperty(names, carelessness, async (chosen, how) => {
        broker.fill(worldOf(chosen));
        broker.carelessness = how;
        broker.deletes.length = 0;
        const before = broker.contents();
        const { report } = await way.run(broker, chosen, { client: shared });
        const left = new Set(broker.contents().map(keyOf));
        const gone = before.filter((piece) => !left.has(keyOf(piece)));
        const wrong = gone.filter((piece) => piece.entity.type !== 'Doomed' || !way.isMeant(piece, chosen));
        assert.deepEqual(wrong.map(nameOf), [], broker.deletes.join('\n'));
        const entitiesGone = gone.filter((piece) => piece.attribute === undefined).length;
        if (what.includes('entities') && report !== undefined) assert.equal(report.deleted, entitiesGone);
      }),
      { numRuns: runs(20) },
    );
  });
}

for (const [how, flags, id, twin] of [
  ['decodes the path before it splits off the query', { decodesTarget: true }, 'urn:t:O?b', 'urn:t:O'],
  ['decodes the path before it cuts off the fragment', { decodesTarget: true }, 'urn:t:O#b', 'urn:t:O'],
  [
    'decodes slashes early and strips the last one',
    { decodesSlashes: true, stripsTrailingSlash: true, isGreedy: true },
    'urn:t:O/',
    'urn:t:O',
  ],
  [
    'reads text after a semicolon as matrix parameters',
    { cutsMatrix: true, decodesSlashes: true },
    'urn:t:O;b',
    'urn:t:O',
  ],
  ['decodes twice', { decodesTwice: true }, 'urn:t:O%3Fb', 'urn:t:O?b'],
  [
    'reads backslashes as slashes',
    { decodesSlashes: true, turnsBackslashes: true, isGreedy: true },
    'urn:t:O\\b',
    'urn:t:O/b',
  ],
  ['reads plus signs as spaces', { readsForms: true, decodesTwice: true }, 'urn:t:O+b', 'urn:t:O b'],
  ['trims ids', { trims: true }, 'urn:t:O ', 'urn:t:O'],
] as const) {
  it(`an ambiguous id never causes the delete of another entity at a broker that ${how}: it is deleted by batch or reported`, async (t) => {
    const attributes = new Map([['plain', [{ instanceId: 'urn:i:1', observedAt: OLD }]]]);
    const doomed = { id, type: 'Doomed', attributes };
    const kept = { id: twin, type: 'Kept', attributes };
    for (const [way, isReported] of [
      ['entities by batch or singly', false],
      ['entities by batch', false],
      ['entities, at a broker without batches', true],
      ['entities singly', true],
      ['attributes by drop', true],
      ['temporal entities', true],
      ['temporal attributes', true],
      ['temporal datasets', true],
      ['temporal instances', true],
    ] as const) {
      const broker = await startCarelessBroker(t);
      broker.carelessness = { ...CAREFUL, ...flags };
      broker.hasBatches = WAYS[way]?.hasBatches === true;
      broker.fill([doomed, kept]);
      const chosen = { ids: [id], attribute: 'plain', datasetId: '@none', instanceId: 'urn:i:1' };
      const { report } = (await WAYS[way]?.run(broker, chosen, {})) ?? {};
      assert.deepEqual([report?.matched, report?.failed], [1, isReported ? 1 : 0], way);
      const left = broker.contents().filter(({ entity }) => entity.type === 'Kept');
      assert.equal(left.length, 4, `${way}: entity and instance in both collections`);
      const [error] = report?.errors ?? [];
      assert.equal(error?.error.type, isReported ? 'urn:ngsi-ld-gateway:problem:no-safe-path' : undefined);
      assert.equal(error?.entityId, isReported ? id : undefined);
      if (isReported)
        assert.deepEqual(
          broker.deletes.filter((sent) => !sent.includes('entityOperations')),
          [],
        );
    }
  });
}

it('at a broker whose deleteAll only finds datasets, attributes are removed with one request each once this is known', async (t) => {
  const broker = await startCarelessBroker(t);
  broker.deleteAll = 'with-datasets';
  const part = { instanceId: 'urn:i:1', observedAt: OLD };
  const set = { instanceId: 'urn:i:2', observedAt: OLD, datasetId: 'urn:d:1' };
  broker.fill(
    Array.from({ length: 40 }, (_, n) => ({
      id: `urn:t:${n}`,
      type: 'Doomed',
      attributes: new Map([
        ['plain', n % 4 === 0 ? [part, set] : [part]],
        ['kept', [part]],
      ]),
    })),
  );
  const { report } = await purgeHistory(broker, 'type=Doomed&attrs=plain');
  assert.deepEqual([report?.deleted, report?.failed], [40, 0]);
  const left = broker
    .contents()
    .filter(({ collection, attribute }) => collection === 'temporal' && attribute === 'plain');
  assert.deepEqual(left, []);
  assert.ok(broker.deletes.length <= 40 + 4, `${broker.deletes.length} deletes`);
});
