import assert from 'node:assert/strict';
import { BrokerCapabilities } from '../../sidecar/purge/broker/index.js';
import { FilterIgnoredError, UnexpectedEntityError } from '../../sidecar/purge/index.js';
import { CONTEXTS, FlawedBroker, type Asked, type Flaw } from './flawed-broker.js';
import { createTestClock, purge } from './purge-harness.js';
import { seededRandom } from './stub-broker-state.js';
import { words } from './words.js';

/** A flaw that only affects queries of a certain shape: the given parameters are dropped. */
const drops = (
  name: string,
  isHere: (parameters: Asked['parameters']) => boolean,
  ...dropped: string[]
): Flaw => ({ name, reads: (asked) => (isHere(asked.parameters) ? [without(asked, ...dropped)] : [asked]) });

/** A flaw in the reading of q. */
const misreads = (name: string, read: (q: string) => string): Flaw => ({
  name,
  reads: (asked) => {
    const q = asked.parameters.get('q');
    return q === undefined ? [asked] : [withParameter(asked, 'q', read(q))];
  },
});

const has = (parameters: Asked['parameters'], ...names: readonly string[]) =>
  names.every((name) => parameters.has(name));
const GEO = ['georel', 'geometry', 'coordinates', 'geoproperty'];

export const HONEST: Flaw = { name: 'none', reads: (asked) => [asked] };

/**
 * Brokers that drop or misread a filter only in queries of a certain shape; most have been
 * observed.
 */
export const FLAWS: readonly Flaw[] = [
  drops(
    'q next to a single id',
    (given) => has(given, 'q', 'id') && given.get('id')?.includes(',') === false,
    'q',
  ),
  drops('q next to attrs', (given) => has(given, 'q', 'attrs'), 'q'),
  drops('q next to a geoquery', (given) => has(given, 'q', 'georel'), 'q'),
  drops('a geoquery next to q', (given) => has(given, 'q', 'georel'), ...GEO),
  drops('scopeQ next to q', (given) => has(given, 'q', 'scopeQ'), 'scopeQ'),
  drops('type next to attrs', (given) => has(given, 'type', 'attrs'), 'type'),
  drops('type next to id', (given) => has(given, 'type', 'id'), 'type'),
  drops('attrs without type', (given) => !given.has('type'), 'attrs'),
  drops('idPattern next to q', (given) => has(given, 'idPattern', 'q'), 'idPattern'),
  drops('type with several types', (given) => /[,|]/.test(given.get('type') ?? ''), 'type'),
  {
    name: 'q for the types of another source',
    reads: (asked) => {
      const [first, second] = (asked.parameters.get('type') ?? '').split(/[,|]/);
      if (first === undefined || second === undefined || !asked.parameters.has('q')) return [asked];
      return [withParameter(asked, 'type', first), without(withParameter(asked, 'type', second), 'q')];
    },
  },
  { name: 'q for one tenant', reads: (asked) => (asked.tenant === 'b' ? [without(asked, 'q')] : [asked]) },
  {
    name: 'the tenant beside q',
    reads: (asked) => (asked.parameters.has('q') ? [{ ...asked, tenant: 'a' }] : [asked]),
  },
  misreads('the last condition of q', (q) => q.split(';').slice(0, -1).join(';') || q),
  misreads('the first condition of q', (q) => q.split(';').slice(1).join(';') || q),
  misreads('!= of a list read as ==', (q) => q.replaceAll(/!=(?=[^;|]*,)/g, '==')),
  misreads('!= read as true', (q) => withoutConditions(q, /!=/)),
  misreads('!attr read as true', (q) => withoutConditions(q, /^!/)),
  misreads('paths of q read as true', (q) => withoutConditions(q, /\[/)),
  { ...drops('q next to late attrs', (given) => has(given, 'q', 'attrs'), 'q'), late: ['attrs'] },
  { name: 'attrs after paging', reads: (asked) => [asked], late: ['attrs'], isBearable: true },
  { name: 'a Link that cannot be fetched', reads: (asked) => [asked], readsWithoutContext: true },
];

function without(asked: Asked, ...names: readonly string[]): Asked {
  return { ...asked, parameters: new Map([...asked.parameters].filter(([name]) => !names.includes(name))) };
}

function withParameter(asked: Asked, name: string, value: string): Asked {
  return { ...asked, parameters: new Map([...asked.parameters, [name, value]]) };
}

function withoutConditions(q: string, isDropped: RegExp): string {
  const left = q.split(';').filter((condition) => !isDropped.test(condition));
  return left.length === 0 ? 'n>=0' : left.join(';');
}

/** Vehicles that differ in everything a query can select by. */
function vehicles(tenant: string): readonly object[] {
  return Array.from({ length: 24 }, (_, n) => ({
    id: `urn:v:${n}`,
    type: ['Car', 'Bus', 'Van'][n % 3],
    ...(n % 4 === 0 ? {} : { scope: n % 4 === 1 ? '/a' : '/b' }),
    n: { type: 'Property', value: tenant === 'a' ? n : n * 2 },
    brand: { type: 'Property', value: `b${n % 5}` },
    ...(n % 2 === 0 ? { extra: { type: 'Property', value: { deep: n % 3 } } } : {}),
    ...(n % 3 === 1
      ? {}
      : { location: { type: 'GeoProperty', value: { type: 'Point', coordinates: [n % 6, 0] } } }),
  }));
}

const CONDITIONS = words(`
  n>10 n<=14 brand=="b1" brand=="b1","b2" brand!="b1" brand!="b1","b2" extra !extra extra[deep]==1
  (n<6|n>15) brand~="b[12]" brand!~="b[34]" (n<4|!extra)
`);

/** Generates a random query string, tenant and Link. */
function queryOf(random: () => number) {
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)];
  const chance = (share: number) => random() < share;
  const type = chance(0.85) ? pick(['Car', 'Bus', 'Van', 'Car,Bus', 'Bus|Van', 'Car,Nothing']) : undefined;
  const conditions = CONDITIONS.filter(() => chance(0.15)).slice(0, 3);
  const parameters = new URLSearchParams();
  if (type !== undefined) parameters.set('type', type);
  if (conditions.length > 0) parameters.set('q', conditions.join(';'));
  if (chance(0.2)) parameters.set('id', pick(['urn:v:3', 'urn:v:4,urn:v:5,urn:v:12']) ?? '');
  if (chance(0.2)) parameters.set('attrs', pick(['extra', 'extra,location']) ?? '');
  if (chance(0.2)) parameters.set('scopeQ', pick(['/a', '/b', '/a,/b']) ?? '');
  if (chance(0.2)) parameters.set('idPattern', pick(['1', ':[0-9]$']) ?? '');
  if (chance(0.2)) {
    parameters.set('georel', 'near;maxDistance==250000');
    parameters.set('geometry', 'Point');
    parameters.set('coordinates', '[1,0]');
  }
  const qualifies = ['type', 'q', 'attrs', 'georel'].some((name) => parameters.has(name));
  if (!qualifies) parameters.set('type', 'Car');
  const link = chance(0.25) ? pick([CONTEXTS.up, CONTEXTS.down]) : undefined;
  return { query: `${parameters.toString()}&maxAffected=1000`, tenant: pick(['a', 'b']) ?? 'a', link };
}

/** The outcomes of random purges. */
export interface Outcomes {
  done: number;
  refused: number;
}

/**
 * Purges at a broker with a flaw repeatedly, keeping what was learnt, and checks each purge:
 * nothing outside the query was deleted, and at a broker that reads the query correctly, every
 * match was.
 * @param isRefused whether a refusal is right at an honest broker
 */
export async function checkPurges(flaw: Flaw, seed: number, often: number): Promise<Outcomes> {
  const random = seededRandom(seed);
  const clock = createTestClock();
  const capabilities = new BrokerCapabilities(clock);
  const broker = new FlawedBroker(flaw);
  const outcomes: Outcomes = { done: 0, refused: 0 };
  for (let nth = 0; nth < often; nth += 1) {
    for (const tenant of ['a', 'b']) broker.fill(tenant, vehicles(tenant));
    const { query, tenant, link } = queryOf(random);
    const meant = new Set(broker.meant(query.replace('&maxAffected=1000', ''), tenant, link));
    const before = broker.ids(tenant);
    const others = broker.ids(tenant === 'a' ? 'b' : 'a').length;
    const context = `<${link ?? ''}>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"`;
    const { report, error } = await purge({ url: new URL('http://broker.test') }, query, {
      capabilities,
      clock,
      client: broker.client,
      limits: { pageSize: 7, pageSizeMax: 7 },
      retry: { maxAttempts: 1 },
      headers: { 'ngsild-tenant': tenant, ...(link === undefined ? {} : { link: context }) },
    });
    const said = `${flaw.name}: ${query} of ${tenant} ${link ?? ''} (seed ${seed}, ${nth}): ${String(error)}`;
    const left = new Set(broker.ids(tenant));
    const gone = before.filter((id) => !left.has(id));
    assert.deepEqual(
      gone.filter((id) => !meant.has(id)),
      [],
      said,
    );
    assert.equal(broker.ids(tenant === 'a' ? 'b' : 'a').length, others, said);
    if (error === undefined) outcomes.done += 1;
    else outcomes.refused += 1;
    const isFlawed = error instanceof FilterIgnoredError || error instanceof UnexpectedEntityError;
    if (flaw === HONEST) {
      const isUp = link !== CONTEXTS.down;
      if (isUp) assert.deepEqual([report?.deleted, gone.length], [meant.size, meant.size], said);
      assert.ok(!isFlawed, said);
    }
  }
  return outcomes;
}
