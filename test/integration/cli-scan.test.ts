import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findingsTable } from '../../sidecar/cli/scan-command.js';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { cli } from '../support/cli-process.js';
import {
  PATIENT,
  sendJson,
  startTestBroker,
  startTestGateway,
  stopAll,
  type TestGateway,
} from '../support/gateway-harness.js';
import { BROKEN, ROOM, roomEntity, ROOMS, type Scan } from '../support/scans.js';

after(stopAll);

describe('the command scan', () => {
  let broker: EmbeddedBroker;
  let gateway: TestGateway;
  const schema = join(tmpdir(), `room-${String(process.pid)}.json`);
  const broken = BROKEN.reduce((sum, { entities }) => sum + entities, 0);

  before(async () => {
    broker = await startTestBroker();
    broker.entities.seed(ROOMS, roomEntity);
    gateway = await startTestGateway({ BROKER_URL: broker.url, LOG_LEVEL: 'silent', ...PATIENT });
    await sendJson(gateway.url, 'POST', '/api/v2/domains', { name: 'D' });
    await sendJson(gateway.url, 'POST', '/api/v2/domains/D/models', { name: 'Room', schema: ROOM });
    await writeFile(schema, JSON.stringify(ROOM));
  });

  it('a scan through a gateway and a scan directly at the broker find the same, and exit with 3', async () => {
    for (const place of [
      ['--gateway', gateway.url],
      ['--broker', broker.url, '--schema', schema],
    ]) {
      const { code, stdout } = await cli(['scan', 'type=Room', '--json', ...place]);
      const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Scan;
      assert.deepEqual([code, last.state, last.checked, last.invalid], [3, 'succeeded', ROOMS, broken]);
      assert.deepEqual(
        last.findings.map(({ entities }) => entities).sort(),
        BROKEN.map(({ entities }) => entities).sort(),
      );
    }
  });

  it('a scan prints a table of findings, and succeeds if at most --max-invalid entities are invalid', async () => {
    const place = ['--gateway', gateway.url];
    const { code, stdout } = await cli(['scan', 'type=Room', '--max-invalid', String(broken), ...place]);
    assert.equal(code, 0);
    assert.match(stdout, /^succeeded: 2,000 checked, 1,944 valid, 56 invalid\n/);
    assert.match(stdout, /22 +D\/Room +\/temperature\/value +type/);
    const here = await cli(['scan', 'type=Room', '--broker', broker.url, '--schema', schema]);
    assert.match(here.stdout, /22 +\w+ +\/temperature\/value +type/);
  });

  it('a scan that judges none of the entities that it finds exits with 3, and one that finds none with 0', async () => {
    broker.entities.seed(3, (index) => ({ id: `urn:ngsi-ld:Hall:${String(index)}`, type: 'Hall' }));
    const hall = await cli(['scan', 'type=Hall', '--gateway', gateway.url]);
    assert.equal(hall.code, 3);
    assert.match(hall.stdout, /^succeeded: 0 checked.*3 not judged\n3 of type Hall have no model/);
    assert.match(hall.stderr, /^No entity was judged\. Name the model with --model/);
    // Some of the types may be without a model.
    const both = await cli([
      'scan',
      'type=Hall,Room',
      '--max-invalid',
      String(broken),
      '--gateway',
      gateway.url,
    ]);
    assert.equal(both.code, 0);
    const none = await cli(['scan', 'type=Cellar', '--gateway', gateway.url]);
    assert.equal(none.code, 0);
    assert.match(none.stdout, /Warning: No entity matches the query, so nothing was judged\./);
  });

  it('a finding with a long detail makes no other line of the table longer', () => {
    const finding = { domain: 'D', model: 'Room', pointer: '/status/value', keyword: 'enum', entities: 1 };
    const lines = findingsTable([
      { ...finding, detail: 'x'.repeat(300), sample: ['urn:ngsi-ld:Room:1'] },
      { ...finding, detail: 'must be "on"', sample: ['urn:ngsi-ld:Room:2'] },
    ]);
    assert.deepEqual(
      lines.map((line) => line.length > 300),
      [false, true, false],
    );
  });

  it('a scan with missing or invalid options exits with 2, and one that the gateway refuses exits with 4', async () => {
    assert.equal((await cli(['scan', 'type=Room', '--broker', broker.url])).code, 2);
    assert.equal((await cli(['scan', 'typ=Room', '--broker', broker.url, '--schema', schema])).code, 2);
    assert.equal((await cli(['scan', 'type=Room', '--model', 'D/None', '--gateway', gateway.url])).code, 4);
  });
});
