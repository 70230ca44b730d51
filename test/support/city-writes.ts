import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Agent, request } from 'undici';
import { type CityEntity, partOf, whole } from './city-models.js';
import { stopLater } from './gateway-harness.js';
import { listening } from './listening.js';

interface WriteOf {
  readonly method: string;
  /** Below /ngsi-ld/v1. */
  readonly path: string;
  readonly body?: unknown;
}

type SingleRoute = (entity: CityEntity) => WriteOf | undefined;

/** Appended to ids that the broker does not have. */
const NEW = ':new';

const entityPath = ({ id }: CityEntity) => `/entities/${id}`;
const attributePath = (entity: CityEntity) => `${entityPath(entity)}/attrs/${entity.about}`;
const parts = (entity: CityEntity) => ({ [entity.about]: partOf(entity) });
const series = (entity: CityEntity) => ({ [entity.about]: [instanceOf(partOf(entity))] });
const instanceOf = (attribute: object) => ({ ...attribute, observedAt: '2026-05-01T12:00:00Z' });

/**
 * The routes of checked writes for a single entity: how an entity, or its fault, is written there.
 */
export const SINGLE_ROUTES: Readonly<Record<string, SingleRoute>> = {
  'POST /entities': (entity) => ({ method: 'POST', path: '/entities', body: whole(entity) }),
  'PUT /entities/{id}': (entity) => ({ method: 'PUT', path: entityPath(entity), body: whole(entity) }),
  'PATCH /entities/{id}': (entity) => ({ method: 'PATCH', path: entityPath(entity), body: parts(entity) }),
  'POST /entities/{id}/attrs': (entity) => ({
    method: 'POST',
    path: `${entityPath(entity)}/attrs`,
    body: parts(entity),
  }),
  'PATCH /entities/{id}/attrs': (entity) => ({
    method: 'PATCH',
    path: `${entityPath(entity)}/attrs`,
    body: parts(entity),
  }),
  'PATCH /entities/{id}/attrs/{attr}': (entity) => ({
    method: 'PATCH',
    path: attributePath(entity),
    body: partOf(entity),
  }),
  'PUT /entities/{id}/attrs/{attr}': (entity) => ({
    method: 'PUT',
    path: attributePath(entity),
    body: partOf(entity),
  }),
  // This violates a model in one way only.
  'DELETE /entities/{id}/attrs/{attr}': (entity) =>
    entity.way === undefined || entity.way === 'lacks'
      ? { method: 'DELETE', path: attributePath(entity) }
      : undefined,
  'POST /temporal/entities': ({ id, type, attributes }) => {
    const instances = Object.entries(attributes).map(([name, one]) => [name, [instanceOf(one)]] as const);
    // This would only add to an existing history.
    const body = { id: `${id}${NEW}`, type, ...Object.fromEntries(instances) };
    return { method: 'POST', path: '/temporal/entities', body };
  },
  'POST /temporal/entities/{id}/attrs': (entity) => ({
    method: 'POST',
    path: `/temporal${entityPath(entity)}/attrs`,
    body: series(entity),
  }),
  'PATCH /temporal/entities/{id}/attrs/{attr}/{instance}': (entity) => ({
    method: 'PATCH',
    path: `/temporal${attributePath(entity)}/urn:ngsi-ld:i:1`,
    body: series(entity),
  }),
};

/** The routes of checked batch writes: how an entity is written there. */
export const BATCH_ROUTES: Readonly<Record<string, (entity: CityEntity) => object>> = {
  '/entityOperations/create': whole,
  '/entityOperations/upsert': whole,
  '/entityOperations/update': (entity) => ({ id: entity.id, type: entity.type, ...parts(entity) }),
  '/entityOperations/merge': (entity) => ({ id: entity.id, ...parts(entity) }),
};

/** JSON in an unusual form, so that a rewritten body is noticed. */
export function oddJson(value: unknown): string {
  return `\t${JSON.stringify(value, null, 1).replaceAll('ß', '\\u00DF').replaceAll('0.5', '5e-1')} \r\n`;
}

/** Reports for each write whether it reached the broker, and with which bytes. */
export interface CityWriter {
  /**
   * Sends a body, which is compared with the one that the broker receives.
   * @param sent the body that the broker must receive, if it is different
   */
  write(write: Omit<WriteOf, 'body'>, body: string, sent?: string): Promise<CityAnswer>;
}

export interface CityAnswer {
  readonly status: number;
  readonly text: string;
  /** Whether a request with exactly these bytes reached the broker; `other` for other bytes. */
  readonly reached: 'same' | 'other' | 'not';
}

const NUMBER = 'x-write-number';

/**
 * A proxy in front of a broker: it forwards queries, accepts writes without executing them, and
 * compares them with what clients sent. The type of an entity is in its id.
 */
export async function startWriteWitness(brokerUrl: string) {
  const expected = new Map<string, { readonly line: string; readonly bytes: Buffer }>();
  const reached = new Map<string, CityAnswer['reached']>();
  const agent = new Agent({ connections: 16 });
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const { method = '', url = '', headers } = incoming;
      if (method === 'GET') {
        const ids = idsIn(url);
        const types = ids.map((id) => ({ id, type: id.split(':')[2] }));
        const json = { 'content-type': 'application/json' };
        if (ids.some((id) => id.endsWith(NEW))) {
          outgoing.writeHead(404, json).end('{}');
          return;
        }
        if (ids.length > 0) {
          const answer = url.includes('?id=') ? types : types[0];
          outgoing.writeHead(200, json).end(JSON.stringify(answer));
          return;
        }
        const tenant = headers['ngsild-tenant'];
        const listed = await request(`${brokerUrl}${url}`, {
          dispatcher: agent,
          ...(tenant === undefined ? {} : { headers: { 'ngsild-tenant': tenant } }),
        });
        outgoing.writeHead(listed.statusCode, { ...json, ...countIn(listed.headers) });
        outgoing.end(Buffer.from(await listed.body.arrayBuffer()));
        return;
      }
      const bytes = await buffer(incoming);
      const number = String(headers[NUMBER]);
      const wanted = expected.get(number);
      const isSame = wanted?.line === `${method} ${url}` && wanted.bytes.equals(bytes);
      reached.set(number, isSame ? 'same' : 'other');
      outgoing.writeHead(204).end();
    })().catch(() => outgoing.destroy());
  });
  const { url, close } = await listening(server);
  stopLater(async () => {
    await agent.close();
    await close();
  });
  let last = 0;
  const writer = (gateway: string): CityWriter => ({
    async write({ method, path }, body, sent = body) {
      const number = String((last += 1));
      const target = `/ngsi-ld/v1${path}`;
      expected.set(number, { line: `${method} ${target}`, bytes: Buffer.from(sent) });
      const once = async () => {
        const answer = await request(`${gateway}${target}`, {
          method,
          dispatcher: agent,
          headers: { 'content-type': 'application/json', [NUMBER]: number },
          ...(body === '' ? {} : { body }),
        });
        return { status: answer.statusCode, text: await answer.body.text() };
      };
      let answer = await once();
      // On a busy machine, a judgement may take too long.
      for (let again = 0; again < 5 && answer.text.includes('write-check-failed'); again += 1)
        answer = await once();
      const outcome = { ...answer, reached: reached.get(number) ?? 'not' };
      expected.delete(number);
      reached.delete(number);
      return outcome;
    },
  });
  return { url, writer };
}

/** Returns the ids that a query names. */
function idsIn(url: string): readonly string[] {
  const [, list = '', single = ''] = /[?&]id=([^&]*)|\/entities\/([^?/]+)/.exec(url) ?? [];
  return (list || single)
    .split(',')
    .map(decodeURIComponent)
    .filter((id) => id !== '');
}

function countIn(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const count = headers['ngsild-results-count'];
  return typeof count === 'string' ? { 'ngsild-results-count': count } : {};
}
