import {
  PATIENT,
  send,
  startTestGateway,
  type Answer,
  type TestGateway,
} from '../support/gateway-harness.js';
import { ApiDescription } from './api-description.js';

/** What a test sends in addition to method and target. */
export interface Sent {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, instead of `body`. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client of a gateway's API. It checks every answer against the API's own description. */
export class ApiClient {
  readonly url: string;
  readonly description: ApiDescription;
  readonly #headers: Readonly<Record<string, string>>;

  private constructor(url: string, description: ApiDescription, headers: Readonly<Record<string, string>>) {
    this.url = url;
    this.description = description;
    this.#headers = headers;
  }

  /** @param headers sent with every request */
  static async of(gatewayUrl: string, headers: Readonly<Record<string, string>> = {}): Promise<ApiClient> {
    const url = `${gatewayUrl}/api/v2`;
    return new ApiClient(url, await ApiDescription.read(`${url}/openapi.json`), headers);
  }

  /** @param target below /api/v2 */
  async send(method: string, target: string, { body, raw, headers }: Sent = {}): Promise<Answer> {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const answer = await send(this.url, method, target, {
      headers: {
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...this.#headers,
        ...headers,
      },
      ...(payload === undefined ? {} : { body: payload }),
    });
    this.description.check(method, target, answer);
    return answer;
  }

  get = (target: string, headers: Sent['headers'] = {}): Promise<Answer> =>
    this.send('GET', target, { headers });
  post = (target: string, body: unknown, headers: Sent['headers'] = {}): Promise<Answer> =>
    this.send('POST', target, { body, headers });
  put = (target: string, body: unknown, headers: Sent['headers'] = {}): Promise<Answer> =>
    this.send('PUT', target, { body, headers });
  delete = (target: string, headers: Sent['headers'] = {}): Promise<Answer> =>
    this.send('DELETE', target, { headers });
}

/** Starts a gateway with its API but without a broker. The deadline allows for slow machines. */
export async function startApi(
  env: Readonly<Record<string, string>> = {},
): Promise<TestGateway & { readonly api: ApiClient }> {
  const gateway = await startTestGateway({ BROKER_URL: 'http://127.0.0.1:9', ...PATIENT, ...env });
  return { ...gateway, api: await ApiClient.of(gateway.url) };
}

/**
 * Creates a domain and a model in it.
 * @returns the path of the model
 */
export async function makeModel(
  api: ApiClient,
  domain: string,
  model: string,
  schema: unknown = CAR,
  others: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  await api.post('/domains', { name: domain });
  const made = await api.post(`/domains/${domain}/models`, { name: model, schema, ...others });
  if (made.status !== 201) throw new Error(`${made.status}: ${made.text}`);
  return `/domains/${domain}/models/${model}`;
}

/** The schema of an entity. */
export const CAR = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    id: { type: 'string', format: 'uri' },
    type: { const: 'Car' },
    speed: { type: 'number', minimum: 0 },
  },
  required: ['id', 'type'],
} as const;

/** The schema of a car with one more property; every entity that was valid stays valid. */
export const CAR_WITH_BRAND = {
  ...CAR,
  properties: { ...CAR.properties, brand: { type: 'string' } },
} as const;

/** The schema of a car with a bound that refuses entities that were valid. */
export const SLOW_CAR = {
  ...CAR,
  properties: { ...CAR.properties, speed: { type: 'number', minimum: 0, maximum: 50 } },
} as const;

/** Returns the ETag of an answer, quotes included. */
export function etagOf(answer: Answer): string {
  const etag = answer.headers.get('etag');
  if (etag === null || !/^"[^"]+"$/.test(etag)) throw new Error(`no ETag: ${String(etag)}`);
  return etag;
}
