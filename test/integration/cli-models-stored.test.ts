import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Schemas } from '../../sidecar/client/operations.js';
import type { StoredVerdict } from '../../sidecar/cli/stored-check.js';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { cli, CliProcess } from '../support/cli-process.js';
import {
  PATIENT,
  send,
  startTestBroker,
  startTestGateway,
  stopAll,
  type TestGateway,
} from '../support/gateway-harness.js';
import { folderOf, git, put } from '../support/model-folders.js';

after(stopAll);

const SHARED = 'https://example.org/shared.json';

/** A model whose speed is defined by the shared document. */
const VEHICLE = {
  title: 'Vehicle',
  type: 'object',
  properties: { type: { const: 'Vehicle' }, speed: { $ref: `${SHARED}#/definitions/speed` } },
  required: ['id', 'type'],
};

const shared = (maximum: number) => ({
  $id: SHARED,
  definitions: { speed: { type: 'number', maximum } },
});

const vehicle = (index: number) => ({
  id: `urn:ngsi-ld:Vehicle:${String(index)}`,
  type: 'Vehicle',
  speed: { type: 'Property', value: index },
});

/** Speeds run from 0 to 299; these are the ids of those above 294. */
const FAST = [295, 296, 297, 298, 299].map((index) => `urn:ngsi-ld:Vehicle:${String(index)}`);

describe('models diff, check and push with --stored', () => {
  let broker: EmbeddedBroker;
  let gateway: TestGateway;
  let folder: string;
  const run = (...words: readonly string[]) => cli(['models', ...words, '--gateway', gateway.url]);
  const version = async () => {
    const answer = await send(gateway.url, 'GET', '/api/v2/domains/City/models/Vehicle');
    return (answer.json() as Schemas['Model']).version;
  };

  before(async () => {
    broker = await startTestBroker();
    broker.entities.seed(300, vehicle);
    gateway = await startTestGateway({ BROKER_URL: broker.url, LOG_LEVEL: 'silent', ...PATIENT });
    folder = folderOf({ 'Vehicle/schema.json': VEHICLE, 'shared.json': shared(1000) }, 'models');
    git(folder, 'init');
    const { code, stdout, stderr } = await run('import', folder, '--domain', 'City');
    assert.equal(code, 0, stdout + stderr);
  });

  it('with --stored, a changed shared document is checked against the stored entities, and all refused ids are listed', async () => {
    put(folder, { 'shared.json': shared(294) });
    const alone = folderOf({ 'shared.json': shared(294) }, 'shared');
    for (const words of [
      ['diff', folder],
      ['diff', alone],
      ['check', folder, '--fail-on', 'never'],
    ]) {
      const { code, stdout, stderr } = await run(...words, '--domain', 'City', '--stored', '--json');
      assert.equal(code, 3, stderr);
      const { stored } = JSON.parse(stdout) as { stored: readonly StoredVerdict[] };
      assert.deepEqual(
        stored.map(({ domain, model, types, checked, refused }) => [domain, model, types, checked, refused]),
        [['City', 'Vehicle', ['Vehicle'], 300, 5]],
      );
      assert.deepEqual(stored[0]?.ids.toSorted(), FAST);
    }
    const { stdout } = await run('check', folder, '--domain', 'City', '--stored', '--fail-on', 'never');
    assert.match(stdout, /City\/Vehicle would refuse 5 of 300 stored entities of type Vehicle\./);
    for (const id of FAST) assert.match(stdout, new RegExp(`^ {2}${id}$`, 'm'));
    put(folder, { 'shared.json': shared(299) });
    const harmless = await run('check', folder, '--domain', 'City', '--stored', '--fail-on', 'never');
    assert.equal(harmless.code, 0, harmless.stdout + harmless.stderr);
    assert.match(harmless.stdout, /would refuse 0 of 300/);
    put(folder, { 'shared.json': shared(1000) });
  });

  it('models push asks for confirmation if a new model refuses stored entities, and removes a domain it created if the answer is no', async () => {
    const path = folderOf({ 'schema.json': { ...VEHICLE, required: ['id', 'type', 'plate'] } }, 'Vehicle');
    const at = ['push', path, '--domain', 'New', '--stored'];
    const dry = await run(...at, '--dry-run', '--json');
    assert.equal(dry.code, 3, dry.stderr);
    const { stored } = JSON.parse(dry.stdout) as { stored: readonly StoredVerdict[] };
    assert.deepEqual([stored[0]?.refused, stored[0]?.ids.length], [300, 300]);
    const piped = await run(...at);
    assert.equal(piped.code, 2);
    assert.match(
      piped.stderr,
      /would refuse 300 of 300[^]* 280 more: [^]*add --yes\. Nothing was changed\.$/m,
    );
    assert.equal((await send(gateway.url, 'GET', '/api/v2/domains/New')).status, 404);
    const asked = await CliProcess.onTerminal(['models', ...at, '--gateway', gateway.url]);
    await asked.until(/Update New\/Vehicle\? \[y\/N\] /);
    asked.type('n\r');
    assert.equal((await asked.ended).code, 130);
    assert.equal((await send(gateway.url, 'GET', '/api/v2/domains/New')).status, 404);
  });

  it('models push --stored does not ask if all stored entities stay valid; with --yes it pushes and reports the refused ones', async () => {
    const schema = (plate: object) => ({ ...VEHICLE, properties: { ...VEHICLE.properties, ...plate } });
    put(folder, { 'Vehicle/schema.json': schema({ plate: { type: 'string' } }) });
    const at = ['push', `${folder}/Vehicle`, '--domain', 'City', '--stored'];
    const fine = await run(...at);
    assert.equal(fine.code, 0, fine.stderr);
    assert.match(fine.stdout, /would refuse 0 of 300[^]*now has version 2\.$/m);
    put(folder, { 'Vehicle/schema.json': schema({ speed: { type: 'number', maximum: 294 } }) });
    assert.equal((await run(...at)).code, 2);
    assert.equal(await version(), 2);
    const forced = await run(...at, '--yes');
    assert.equal(forced.code, 0, forced.stderr);
    assert.match(forced.stdout, /would refuse 5 of 300[^]*now has version 3\.$/m);
    const same = await run(...at);
    assert.match(same.stdout, /^City\/Vehicle has not changed\.$/m);
  });

  it('models push --stored counts entities that were invalid before separately from those that the change breaks', async () => {
    const schema = {
      ...VEHICLE,
      properties: { ...VEHICLE.properties, speed: { type: 'number', maximum: 290 } },
    };
    put(folder, { 'Vehicle/schema.json': schema });
    const at = ['push', `${folder}/Vehicle`, '--domain', 'City', '--stored', '--dry-run'];
    const { stdout } = await run(...at);
    assert.match(
      stdout,
      /would refuse 9 of 300 stored entities of type Vehicle; 5 of them are invalid already\.$/m,
    );
    const ids = [...stdout.matchAll(/^ {2}urn:ngsi-ld:Vehicle:(\d+)( {2}\(invalid already\))?$/gm)];
    const numbersOf = (isMarked: boolean) =>
      ids.filter(([, , mark]) => (mark !== undefined) === isMarked).map(([, number]) => Number(number));
    assert.deepEqual(numbersOf(false).toSorted(), [291, 292, 293, 294]);
    assert.deepEqual(numbersOf(true).toSorted(), [295, 296, 297, 298, 299]);
    const { stored } = JSON.parse((await run(...at, '--json')).stdout) as {
      stored: readonly StoredVerdict[];
    };
    assert.deepEqual(
      [stored[0]?.refused, stored[0]?.alreadyInvalid, stored[0]?.isAtLeast],
      [9, 5, undefined],
    );
  });

  it('models push --stored also checks entities of the type that the model had before', async () => {
    const renamed = { ...VEHICLE, properties: { ...VEHICLE.properties, type: { const: 'Lorry' } } };
    const path = folderOf({ 'schema.json': renamed }, 'Vehicle');
    const { code, stdout } = await run('push', path, '--domain', 'City', '--stored', '--dry-run', '--json');
    assert.equal(code, 3);
    const { stored } = JSON.parse(stdout) as { stored: readonly StoredVerdict[] };
    assert.deepEqual([stored[0]?.checked, stored[0]?.refused], [300, 300]);
    assert.ok(stored[0]?.types.includes('Lorry') && stored[0].types.includes('Vehicle'));
  });

  it('Ctrl+C during models push --stored cancels the scan, and nothing is pushed', async () => {
    put(folder, { 'Vehicle/schema.json': { ...VEHICLE, required: ['id', 'type', 'plate'] } });
    broker.behaviour.latencyMs = 5000;
    const words = ['models', 'push', `${folder}/Vehicle`, '--domain', 'City', '--stored', '--yes'];
    const asked = await CliProcess.onTerminal([...words, '--gateway', gateway.url]);
    await asked.until(/looking for matches/);
    asked.type('\u0003');
    const { code, stdout } = await asked.ended;
    broker.behaviour.latencyMs = 0;
    assert.equal(code, 130, stdout);
    assert.match(stdout, /The scan for City\/Vehicle was cancelled\. Nothing was changed\./);
    assert.equal(await version(), 3);
    const scans = (await send(gateway.url, 'GET', '/api/v2/scans?limit=1')).json() as Schemas['Scan'][];
    assert.equal(scans[0]?.state, 'cancelled');
  });

  it('models commands with --stored fail without a verdict if stored entities cannot be read', async () => {
    assert.equal((await cli(['models', 'check', folder, '--stored'])).code, 2);
    assert.equal((await run('diff', folder, '--tenant', 't')).code, 2);
    put(folder, { 'Vehicle/schema.json': { ...VEHICLE, required: ['id', 'type', 'plate'] } });
    const unknown = await run('diff', folder, '--domain', 'City', '--stored', '--tenant', 'nobody');
    assert.deepEqual([unknown.code, unknown.stdout], [4, '']);
    assert.match(unknown.stderr, /^The scan for City\/Vehicle was refused\..*Tenant nobody does not exist/);
    const lost = folderOf({ 'schema.json': { $ref: 'https://example.org/lost.json' } }, 'Vehicle');
    assert.equal((await run('push', lost, '--domain', 'City', '--stored', '--yes')).code, 4);
    assert.equal(await version(), 3);
  });
});
