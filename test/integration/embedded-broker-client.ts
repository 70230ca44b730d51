import assert from 'node:assert/strict';
import {
  startEmbeddedBroker,
  type EmbeddedBroker,
  type EmbeddedBrokerOptions,
} from '../../sidecar/embedded-broker/index.js';
import { stopLater } from '../support/gateway-harness.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface BrokerUnderTest extends EmbeddedBroker {
  /**
   * Sends a request below `/ngsi-ld/v1`; a body is sent as application/json unless a header says
   * otherwise.
   */
  readonly send: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answer>;
  /** Returns the ids on the page that a query gives, in order. */
  readonly idsOf: (query: string) => Promise<readonly string[]>;
}

/** Starts a broker that `stopAll` closes. */
export async function startBroker(options: EmbeddedBrokerOptions = {}): Promise<BrokerUnderTest> {
  const broker = await startEmbeddedBroker(options);
  stopLater(() => broker.close());

  const send: BrokerUnderTest['send'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${broker.url}/ngsi-ld/v1${path}`, {
      method,
      headers: body === undefined ? headers : { 'Content-Type': 'application/json', ...headers },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
  const idsOf = async (query: string) => {
    const answer = await send('GET', `/entities?${query}`);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return (answer.body as { id: string }[]).map(({ id }) => id);
  };
  return { ...broker, send, idsOf };
}

/**
 * Checks that an answer is a problem as brokers send it (clause 5.5.3), of the given type if one is
 * given.
 */
export function assertProblem(answer: Answer, status: number, typeName?: string): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.headers.get('content-type'), 'application/json');
  const problem = answer.body as Record<string, unknown>;
  assert.equal(problem['status'], status);
  assert.equal(typeof problem['title'], 'string');
  assert.equal(typeof problem['detail'], 'string');
  if (typeName !== undefined)
    assert.equal(problem['type'], `https://uri.etsi.org/ngsi-ld/errors/${typeName}`);
}
