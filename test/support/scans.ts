import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Schemas } from '../../sidecar/client/operations.js';
import { send, sendJson } from './gateway-harness.js';

export type Scan = Schemas['Scan'];

/** A model that entities can violate in five ways. */
export const ROOM = {
  type: 'object',
  properties: {
    type: { const: 'Room' },
    temperature: { type: 'number', maximum: 100 },
    status: { enum: ['on', 'off'] },
    levels: { type: 'array', items: { type: 'integer' } },
    name: { type: 'string', minLength: 1 },
  },
  required: ['name'],
};

/** The violations, and their number in each thousand entities. */
const WAYS = [
  { pointer: '/temperature/value', keyword: 'type', per: 11, breaks: { temperature: property('warm') } },
  { pointer: '/temperature/value', keyword: 'maximum', per: 7, breaks: { temperature: property(101) } },
  { pointer: '/status/value', keyword: 'enum', per: 5, breaks: { status: property('broken') } },
  {
    pointer: '/levels/value/*',
    keyword: 'type',
    per: 3,
    breaks: { levels: property([1, 'two', 3, 'four']) },
  },
  { pointer: '', keyword: 'required', per: 2, breaks: { name: undefined } },
] as const;

/** As many entities as fill two pages. */
export const ROOMS = 2000;

/** The findings of a scan of so many entities, and the number of invalid ones. */
export const BROKEN = WAYS.map(({ pointer, keyword, per }) => ({
  pointer,
  keyword,
  entities: (ROOMS / 1000) * per,
}));
export const BROKEN_ENTITIES = BROKEN.reduce((sum, { entities }) => sum + entities, 0);

/** Stores the model. */
export async function storeRoom(gateway: string): Promise<void> {
  await sendJson(gateway, 'POST', '/api/v2/domains', { name: 'D' });
  await sendJson(gateway, 'POST', '/api/v2/domains/D/models', { name: 'Room', schema: ROOM });
}

/** Resolves when a scan has judged at least that many entities. */
export async function judgedAtLeast(gateway: string, id: string, most: number): Promise<void> {
  for (let checked = 0; checked < most;) {
    await pause(20);
    ({ checked } = (await send(gateway, 'GET', `/api/v2/scans/${id}`)).json() as Scan);
  }
}

/** Checks that all entities of each finding are stored, each once. */
export async function assertKept(gateway: string, { id, findings }: Scan): Promise<void> {
  for (const [position, { entities }] of findings.entries()) {
    const path = `/api/v2/scans/${id}/entities?finding=${String(position)}`;
    const { text } = await send(gateway, 'GET', path, { headers: { accept: 'application/x-ndjson' } });
    const lines = text.trimEnd().split('\n');
    assert.deepEqual([lines.length, new Set(lines).size], [entities, entities]);
  }
}

function property(value: unknown) {
  return { type: 'Property', value };
}

/**
 * Returns the entity with a number. In each thousand, some entities violate the model, each in one
 * way.
 */
export function roomEntity(index: number): object {
  const place = index % 1000;
  let from = 100;
  let breaks: object = {};
  for (const way of WAYS) {
    if (place >= from && place < from + way.per) breaks = way.breaks;
    from += 100;
  }
  const entity = {
    id: `urn:ngsi-ld:Room:${String(index)}`,
    type: 'Room',
    name: property(`Room ${String(index)}`),
    temperature: property(index % 40),
    status: property('on'),
    levels: property([1, 2]),
    ...breaks,
  };
  return JSON.parse(JSON.stringify(entity)) as object;
}

/** Starts a scan. @returns its id */
export async function startScan(gateway: string, body: object): Promise<string> {
  const answer = await sendJson(gateway, 'POST', '/api/v2/scans', body);
  assert.equal(answer.status, 202, answer.text);
  const { id } = answer.json() as Scan;
  assert.equal(answer.headers.get('location'), `${gateway}/api/v2/scans/${id}`);
  return id;
}

/** Returns the final record of a scan. */
export async function scanned(gateway: string, id: string): Promise<Scan> {
  await (await fetch(`${gateway}/api/v2/scans/${id}/events`)).text();
  return (await send(gateway, 'GET', `/api/v2/scans/${id}`)).json() as Scan;
}
