import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import type { EmbeddedBroker, EmbeddedBrokerOptions } from '../../sidecar/embedded-broker/index.js';
import { send, sendJson, startTestBroker, startTestGateway, type TestGateway } from './gateway-harness.js';
import { temporaryFolder } from './temporary-folder.js';

/** A gateway that keeps archives in a folder, and its broker; `stopAll` closes both. */
export interface ArchivingGateway {
  readonly folder: string;
  readonly broker: EmbeddedBroker;
  readonly gateway: TestGateway;
}

export async function startArchiving(options: EmbeddedBrokerOptions = {}): Promise<ArchivingGateway> {
  const folder = temporaryFolder();
  const broker = await startTestBroker(options);
  const gateway = await startTestGateway({ BROKER_URL: broker.url, ARCHIVE_URL: pathToFileURL(folder).href });
  return { folder, broker, gateway };
}

/** The members of the record of a purge or a restore that tests use. */
export interface PurgeRecord {
  readonly id: string;
  readonly state: string;
  readonly target: string;
  readonly unit?: string;
  readonly matched: number;
  readonly deleted: number;
  readonly failed: number;
  readonly unknown: number;
  readonly errors: readonly unknown[];
  readonly warnings: readonly string[];
  readonly sample?: readonly string[];
  readonly archive?: { readonly entities: number; readonly bytes: number };
  readonly tenant?: string;
  readonly fiware?: object;
  readonly restoreOf?: string;
  readonly restored?: number;
  readonly alreadyThere?: number;
  readonly different?: number;
  readonly concurrency?: number;
}

/**
 * Returns an entity with an attribute of every kind, with datasets, sub-attributes and numbers of
 * all sorts.
 */
export function everyKind(index: number) {
  return {
    id: `urn:ngsi-ld:Car:${String(index).padStart(6, '0')}`,
    type: 'Car',
    scope: ['/city/north', '/fleet'],
    speed: [
      { type: 'Property', value: index / 7, unitCode: 'KMH', observedAt: '2026-01-01T00:00:00Z' },
      { type: 'Property', value: -index, datasetId: 'urn:ngsi-ld:dataset:gps' },
    ],
    owner: {
      type: 'Relationship',
      object: 'urn:ngsi-ld:Person:1',
      since: { type: 'Property', value: { type: 'Property', createdAt: 'a value of its own' } },
    },
    name: { type: 'LanguageProperty', languageMap: { de: 'Wagen', en: 'car' } },
    place: { type: 'GeoProperty', value: { type: 'Point', coordinates: [index / 1000, 50.5] } },
    state: { type: 'VocabProperty', vocab: 'running' },
    raw: { type: 'JsonProperty', json: { a: [1, { b: null }], modifiedAt: 'kept' } },
    stops: { type: 'ListProperty', valueList: [1, 2, 'x'] },
    parts: { type: 'ListRelationship', objectList: [{ object: 'urn:x:1' }, { object: 'urn:x:2' }] },
  };
}

type Json = Readonly<Record<string, unknown>>;

/** Returns everything that a broker lists for a query, ordered by id, with system attributes. */
export async function entitiesOf(
  broker: Pick<EmbeddedBroker, 'url'>,
  query: string,
): Promise<readonly Json[]> {
  const all: Json[] = [];
  for (let offset = 0; ; offset += 1000) {
    const target = `/ngsi-ld/v1/entities?${query}&options=sysAttrs&limit=1000&offset=${String(offset)}`;
    const page = (await send(broker.url, 'GET', target)).json() as Json[];
    all.push(...page);
    if (page.length < 1000) break;
  }
  return all.sort((one, other) => (String(one['id']) < String(other['id']) ? -1 : 1));
}

/** Removes createdAt and modifiedAt, except inside values. */
export function withoutSystemTimes(entities: readonly unknown[]): unknown {
  const free = (value: unknown, depth: number): unknown => {
    if (Array.isArray(value)) return value.map((one) => free(one, depth));
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value)
      .filter(([name]) => name !== 'createdAt' && name !== 'modifiedAt')
      .map(([name, one]) => [name, ['value', 'json'].includes(name) ? one : free(one, depth + 1)] as const);
    return Object.fromEntries(members);
  };
  return entities.map((entity) => free(entity, 0));
}

/** Runs a purge and returns its record at the end. */
export async function purged(gateway: TestGateway, query: string): Promise<PurgeRecord> {
  const answer = await gateway.purge(query);
  assert.ok(answer.status < 300, answer.text);
  return recordOf(gateway, answer.headers.get('purge-id') ?? '');
}

/** Runs a restore and returns its record at the end. */
export async function restored(gateway: TestGateway, purge: string, body: object = {}): Promise<PurgeRecord> {
  const taken = await sendJson(gateway.url, 'POST', `/api/v2/purges/${purge}/restore`, body);
  assert.equal(taken.status, 202, taken.text);
  const { id } = taken.json() as PurgeRecord;
  await ended(gateway, id);
  return recordOf(gateway, id);
}

/** Resolves when a purge or a restore has ended. */
export async function ended(gateway: Pick<TestGateway, 'send'>, id: string): Promise<void> {
  await gateway.send('GET', `/api/v2/purges/${id}/events`);
}

export async function recordOf(gateway: Pick<TestGateway, 'send'>, id: string): Promise<PurgeRecord> {
  return (await gateway.send('GET', `/api/v2/purges/${id}`)).json() as PurgeRecord;
}

/**
 * Returns the instances in histories of sensors, in order, without members that only the broker
 * sets.
 */
export function instancesIn(histories: Iterable<Json>): readonly string[] {
  const all: string[] = [];
  for (const { id, type, ...attributes } of histories)
    for (const [name, value] of type === 'Sensor' ? Object.entries(attributes) : [])
      for (const instance of [value].flat() as Json[]) {
        const { instanceId: _id, createdAt: _created, modifiedAt: _modified, ...rest } = instance;
        if (rest['type'] !== undefined) all.push(JSON.stringify([id, name, Object.entries(rest).sort()]));
      }
  return all.sort();
}

/** Returns the histories that a broker stores. */
export function historiesOf({ temporal }: EmbeddedBroker): readonly Json[] {
  return temporal.ids().map((id) => temporal.get(id) ?? {});
}
