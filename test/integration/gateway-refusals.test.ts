import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { startTestBroker, startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';
import { bodyOf, closeAll, exchange, request, statusOf } from './pass-through-wire.js';

const INVALID_REQUEST = 'https://uri.etsi.org/ngsi-ld/errors/InvalidRequest';
const BAD_REQUEST_DATA = 'https://uri.etsi.org/ngsi-ld/errors/BadRequestData';

let broker: EmbeddedBroker;
let gateway: TestGateway;

/** Asserts that nothing reached the broker and nothing was deleted. */
function assertUntouched(): void {
  assert.equal(broker.requests.total, 0);
  assert.equal(broker.entities.count(), 3);
}

describe('refusals by a gateway', () => {
  before(async () => {
    broker = await startTestBroker();
    broker.entities.seed(3, (index) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' }));
    gateway = await startTestGateway({ BROKER_URL: broker.url });
  });
  after(async () => {
    await closeAll();
    await stopAll();
  });
  beforeEach(() => broker.requests.clear());

  describe('a purge with invalid parameters', () => {
    const CASES: readonly (readonly [query: string, parameter: string | undefined, type: string])[] = [
      ['type=Car&limit=10', 'limit', INVALID_REQUEST],
      ['type=Car&offset=10', 'offset', INVALID_REQUEST],
      ['type=Car&count=true', 'count', INVALID_REQUEST],
      ['type=Car&pick=id', 'pick', INVALID_REQUEST],
      ['type=Car&options=keyValues', 'options', INVALID_REQUEST],
      ['type=Car&datasetId=urn:x:1', 'datasetId', INVALID_REQUEST],
      ['type=Car&Q=speed%3E1', 'Q', INVALID_REQUEST],
      ['type=Car&idpattern=x', 'idpattern', INVALID_REQUEST],
      ['type=Car&__proto__=x', '__proto__', INVALID_REQUEST],
      ['type=Car&dryrun=true', 'dryrun', INVALID_REQUEST],
      ['type=Car&type=Bus', 'type', INVALID_REQUEST],
      ['type=Car&q=a==1&q=b==1', 'q', INVALID_REQUEST],
      ['type=Car&%74ype=Bus', 'type', INVALID_REQUEST],
      ['type=', 'type', INVALID_REQUEST],
      ['type=Car&q=', 'q', INVALID_REQUEST],
      ['type=Car&q', 'q', INVALID_REQUEST],
      ['type=Car&q=%20', 'q', INVALID_REQUEST],
      ['type=Car&q=a%00', 'q', INVALID_REQUEST],
      ['type=Car&q=%zz', 'q', INVALID_REQUEST],
      ['type=Car&dryRun=yes', 'dryRun', INVALID_REQUEST],
      ['type=Car&local=1', 'local', INVALID_REQUEST],
      ['type=Car&maxAffected=0', 'maxAffected', INVALID_REQUEST],
      ['type=Car&maxAffected=-1', 'maxAffected', INVALID_REQUEST],
      ['type=Car&maxAffected=1e3', 'maxAffected', INVALID_REQUEST],
      ['local=true', 'maxAffected', INVALID_REQUEST],
      ['q=!typo', 'maxAffected', INVALID_REQUEST],
      ['q=%28speed%7C!speed%29', 'maxAffected', INVALID_REQUEST],
      ['', undefined, BAD_REQUEST_DATA],
      ['id=urn:ngsi-ld:Car:1', undefined, BAD_REQUEST_DATA],
      ['idPattern=.*', undefined, BAD_REQUEST_DATA],
      ['q=modifiedAt%3E2020-01-01T00:00:00Z', undefined, BAD_REQUEST_DATA],
      ['type=Car&q=%28a==1', 'q', BAD_REQUEST_DATA],
      ['type=Car&id=1', 'id', BAD_REQUEST_DATA],
      ['type=Car&drop=a&keep=b', 'keep', BAD_REQUEST_DATA],
      ['type=Car&drop=id', 'drop', BAD_REQUEST_DATA],
      ['georel=near;maxDistance==1', 'geometry', BAD_REQUEST_DATA],
      ['type=Car&attrs=owner%7Bname%7D', 'attrs', BAD_REQUEST_DATA],
      ['type=Car&keep=*', 'keep', BAD_REQUEST_DATA],
      ['type=Car&drop=spe*', 'drop', BAD_REQUEST_DATA],
      ['type=Car%7Bx%7D', 'type', BAD_REQUEST_DATA],
      ['type=Car&scopeQ=Madrid', 'scopeQ', BAD_REQUEST_DATA],
      ['type=Car&csf=a=1', 'csf', BAD_REQUEST_DATA],
    ];
    for (const [query, parameter, type] of CASES) {
      it(`a purge by ?${query} is 400 and sends the broker nothing`, async () => {
        const refused = await gateway.purge(query);
        assert.equal(refused.status, 400, refused.text);
        const problem = refused.problem();
        assert.equal(problem.type, type);
        assert.equal(problem.status, 400);
        assert.equal(problem['parameter'], parameter);
        assert.notEqual(problem.detail ?? '', '');
        assert.equal(
          problem.instance,
          '/ngsi-ld/v1/entities',
          'without the query, which may hold personal data',
        );
        assertUntouched();
      });
    }

    it('a purge with a number that is out of range is told the range', async () => {
      for (const name of ['maxAffected', 'maxPerSecond'])
        for (const value of ['0', '1000000000000000']) {
          const { detail } = (await gateway.purge(`type=Car&${name}=${value}`)).problem();
          assert.equal(detail, `${name} must be a whole number from 1 to 999999999999999.`);
        }
      const largest = 'type=Car&dryRun=true&maxAffected=999999999999999';
      assert.equal((await gateway.purge(largest)).status, 200);
    });
  });

  describe('a purge with a body', () => {
    const TARGET = 'DELETE /ngsi-ld/v1/entities?type=Car';
    const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
    const CASES: readonly (readonly [how: string, headers: readonly string[], body: string])[] = [
      ['of a known length', ['Content-Length: 14'], '{"type":"Car"}'],
      ['of JSON', ['Content-Length: 14', 'Content-Type: application/json'], '{"type":"Car"}'],
      ['of JSON-LD', ['Content-Length: 2', 'Content-Type: application/ld+json'], '{}'],
      ['of a form', ['Content-Length: 4', 'Content-Type: application/x-www-form-urlencoded'], 'a=b&'],
      ['of no media type at all', ['Content-Length: 1', 'Content-Type: nonsense'], 'x'],
      ['of a single blank', ['Content-Length: 1'], ' '],
      ['in chunks', ['Transfer-Encoding: chunked'], chunked('{"type":"Car"}')],
      ['of JSON in chunks', ['Transfer-Encoding: chunked', 'Content-Type: application/json'], chunked('{}')],
      ['of 100 kB', ['Content-Length: 100000'], 'x'.repeat(100_000)],
    ];
    for (const [how, headers, body] of CASES) {
      it(`a purge with a body (${how}) is 400 and deletes nothing`, async () => {
        const answer = await exchange(gateway.port, request(TARGET, headers, body));
        assert.equal(statusOf(answer), 400);
        assert.match(answer, /^content-type: application\/problem\+json\r$/im);
        const problem = JSON.parse(bodyOf(answer)) as { type: string; detail: string };
        assert.equal(problem.type, INVALID_REQUEST);
        assert.match(problem.detail, /must not have a body/);
        assertUntouched();
      });
    }

    const EMPTY: readonly (readonly [how: string, headers: readonly string[], body: string])[] = [
      ['Content-Length: 0', ['Content-Length: 0'], ''],
      ['Content-Length: 0 and a media type', ['Content-Length: 0', 'Content-Type: application/json'], ''],
      ['a media type alone', ['Content-Type: nonsense'], ''],
      ['only an empty chunk', ['Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ];
    for (const [how, headers, body] of EMPTY) {
      it(`a purge with an empty body (${how}) is an ordinary purge`, async () => {
        const answer = await exchange(gateway.port, request(`${TARGET}&dryRun=true`, headers, body));
        assert.equal(statusOf(answer), 200);
        assert.deepEqual((JSON.parse(bodyOf(answer)) as { matched: number }).matched, 3);
      });
    }
  });

  describe('an unsupported purge', () => {
    for (const header of ['NGSILD-Snapshot', 'NGSILD-EntityMap']) {
      it(`a purge with ${header} is 501, since without the header it would delete live data`, async () => {
        const refused = await gateway.purge('type=Car', { [header]: 'urn:ngsi-ld:x:1' });
        assert.equal(refused.status, 501);
        assert.equal(refused.problem().type, 'urn:ngsi-ld-gateway:problem:not-supported');
        assert.match(refused.problem().detail ?? '', new RegExp(header, 'i'));
        assert.equal(gateway.log.lines.at(-1)?.msg, 'purge refused');
        assertUntouched();
      });
    }

    it('a purge with If-Match is 412, because what it deletes has no ETag; * is no condition', async () => {
      const refused = await gateway.purge('type=Car', { 'If-Match': '"1"' });
      assert.equal(refused.status, 412);
      assert.equal(refused.problem().type, 'urn:ngsi-ld-gateway:problem:precondition-failed');
      assertUntouched();
      assert.equal((await gateway.purge('type=Car&dryRun=true', { 'If-Match': '*' })).status, 200);
    });

    it('a temporal purge without a timeAt is refused, and never reaches the broker', async () => {
      for (const target of ['/ngsi-ld/v1/temporal/entities', '/ngsi-ld/v1/temporal/entities/']) {
        const refused = await gateway.send('DELETE', `${target}?type=Car&timerel=before`);
        assert.equal(refused.status, 400);
        assert.equal(refused.problem()['parameter'], 'timeAt');
      }
      assertUntouched();
    });
  });
});
