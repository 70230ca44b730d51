import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { request } from 'undici';
import { stopLater } from './gateway-harness.js';
import { Waiting } from './waiting.js';
import { listening } from './listening.js';

/** A request as it reached a recording broker. */
export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface RecordedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** A broker that records each request before answering it. */
export interface RecordingBroker {
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** Waits for the `nth` request (from 1) of a kind, which may have arrived already. */
  arrived(isMeant: (request: RecordedRequest) => boolean, nth?: number): Promise<RecordedRequest>;
  close(): Promise<void>;
}

/** Starts a recording broker. By default it answers every request with an empty list. */
export async function startRecordingBroker(
  answer: (request: RecordedRequest) => RecordedAnswer | Promise<RecordedAnswer> = () => EMPTY_LIST,
): Promise<RecordingBroker> {
  const requests: RecordedRequest[] = [];
  const waiting = new Waiting();
  const server = createServer({ maxHeaderSize: 256 * 1024 }, (incoming, outgoing) => {
    void (async () => {
      let body = '';
      for await (const chunk of incoming) body += String(chunk);
      const { method = '', url = '', headers } = incoming;
      const request = { method, url, headers, body };
      requests.push(request);
      waiting.notify();
      const { status, headers: answerHeaders, body: answerBody } = await answer(request);
      outgoing.writeHead(status, answerHeaders).end(answerBody);
    })().catch(() => outgoing.destroy());
  });
  const { url, close } = await listening(server);
  stopLater(close);
  return {
    url,
    requests,
    arrived: async (isMeant, nth = 1) => waiting.until(() => requests.filter(isMeant)[nth - 1]),
    close,
  };
}

const EMPTY_LIST: RecordedAnswer = {
  status: 200,
  headers: { 'content-type': 'application/json', 'ngsild-results-count': '0' },
  body: '[]',
};

/**
 * Answers with the answer of another broker; for holding back requests between a gateway and an
 * embedded broker.
 */
export function relayTo(broker: EmbeddedBroker): (request: RecordedRequest) => Promise<RecordedAnswer> {
  return async ({ method, url, headers, body }) => {
    // A new connection for each request: on a busy machine the broker may close an idle one at the
    // moment in which it is used again.
    const response = await request(`${broker.url}${url}`, {
      method,
      headers: pick(['content-type', 'accept', 'ngsild-tenant'], (name) => headers[name]),
      body: body === '' ? null : body,
      reset: true,
    });
    return {
      status: response.statusCode,
      headers: pick(['content-type', 'ngsild-results-count', 'link'], (name) => response.headers[name]),
      body: await response.body.text(),
    };
  };
}

function pick(names: readonly string[], valueOf: (name: string) => unknown): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = valueOf(name);
    if (typeof value === 'string') picked[name] = value;
  }
  return picked;
}

/** Holds requests back until it is opened. */
export class Gate {
  readonly passed: Promise<void>;
  open: () => void = () => {};

  constructor() {
    this.passed = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}

/** Whether a request deletes entities. */
export function isDelete({ method, url }: RecordedRequest): boolean {
  return method === 'DELETE' || url.startsWith('/ngsi-ld/v1/entityOperations/delete');
}

/**
 * Starts a proxy in front of a broker that holds requests back, by default its deletes, until a
 * gate opens, at the latest by `stopAll`. `peak` is the largest number of them in flight so far.
 */
export async function holdBack(
  broker: EmbeddedBroker,
  isHeld: (request: RecordedRequest) => boolean = isDelete,
): Promise<{ readonly held: RecordingBroker; readonly gate: Gate; readonly peak: () => number }> {
  const relay = relayTo(broker);
  const gate = new Gate();
  let [inFlight, peak] = [0, 0];
  const held = await startRecordingBroker(async (request) => {
    if (!isHeld(request)) return relay(request);
    peak = Math.max(peak, (inFlight += 1));
    await gate.passed;
    const answer = await relay(request);
    inFlight -= 1;
    return answer;
  });
  stopLater(async () => gate.open());
  return { held, gate, peak: () => peak };
}
