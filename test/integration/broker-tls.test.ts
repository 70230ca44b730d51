import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { stopAll, stopLater } from '../support/gateway-harness.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { ROOT } from '../support/project.js';

after(stopAll);

const certificate = (name: string) => join(ROOT, 'test/support/certificates', name);

/** Starts a broker without entities whose TLS offers HTTP/2 and HTTP/1.1, as nginx, Caddy and Envoy do. */
async function startTlsBroker() {
  const versions: string[] = [];
  const answer = (request: Http2ServerRequest, response: Http2ServerResponse) => {
    versions.push(request.httpVersion);
    response.setHeader('content-type', 'application/json');
    response.setHeader('NGSILD-Results-Count', '0');
    response.end('[]');
  };
  const key = readFileSync(certificate('server.key'));
  const cert = readFileSync(certificate('server.pem'));
  const server = createSecureServer({ key, cert, allowHTTP1: true }, answer);
  server.listen(0, 'localhost');
  await once(server, 'listening');
  stopLater(async () => {
    server.close();
    await once(server, 'close');
  });
  return { versions, url: `https://localhost:${(server.address() as AddressInfo).port}` };
}

it('a broker is spoken to in HTTP/1.1 also if its TLS offers HTTP/2, so that no client holds up the others', async () => {
  const { versions, url: BROKER_URL } = await startTlsBroker();
  const NODE_EXTRA_CA_CERTS = certificate('authority.pem');
  const gateway = await GatewayProcess.start({ PORT: '0', BROKER_URL, NODE_EXTRA_CA_CERTS });
  const entities = `${await gateway.url()}/ngsi-ld/v1/entities?type=Car`;
  assert.equal((await fetch(entities)).status, 200);
  assert.equal((await fetch(`${entities}&dryRun=true`, { method: 'DELETE' })).status, 200);
  assert.deepEqual(new Set(versions), new Set(['1.1']));
});
