import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import {
  sendJson,
  startTestBroker,
  startTestGateway,
  stopAll,
  type Answer,
  type TestGateway,
} from '../support/gateway-harness.js';
import { hour, TEMPORAL } from '../support/temporal-harness.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { ended, entitiesOf, everyKind, type PurgeRecord, recordOf } from '../support/undo.js';

interface Planned extends PurgeRecord {
  readonly plan?: { readonly items: number; readonly expiresAt: string };
  readonly planOf?: string;
  readonly arrived: number;
  readonly problem?: { readonly status: number; readonly detail: string };
}

describe('plan and apply', () => {
  let broker: EmbeddedBroker;
  let gateway: TestGateway;

  before(async () => {
    broker = await startTestBroker();
    gateway = await startTestGateway({ BROKER_URL: broker.url });
  });
  after(stopAll);

  const post = async (body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    sendJson(gateway.url, 'POST', '/api/v2/purges', body, headers);

  async function ran(answer: Answer): Promise<Planned> {
    assert.equal(answer.status, 202, answer.text);
    const { id } = answer.json() as PurgeRecord;
    await ended(gateway, id);
    return (await recordOf(gateway, id)) as Planned;
  }

  async function planOf(query: string, more: object = {}): Promise<Planned> {
    return ran(await post({ target: 'entities', query, dryRun: true, plan: true, ...more }));
  }

  async function withCars(count: number): Promise<void> {
    await gateway.purge('type=Car');
    broker.entities.seed(count, everyKind);
  }

  it('a dry run under PURGE_STRATEGY=native keeps a plan only if attributes are dropped', async () => {
    const native = await startTestGateway({ BROKER_URL: broker.url, PURGE_STRATEGY: 'native' });
    await withCars(3);
    for (const [query, items] of [
      ['type=Car', undefined],
      ['type=Car&drop=speed', 3],
    ] as const) {
      const body = { target: 'entities', query, dryRun: true, plan: true };
      const { id } = (await sendJson(native.url, 'POST', '/api/v2/purges', body)).json() as PurgeRecord;
      await ended(native, id);
      const { state, plan, warnings } = (await recordOf(native, id)) as Planned;
      assert.deepEqual([state, plan?.items], ['succeeded', items]);
      assert.equal(/^No plan was kept: PURGE_STRATEGY=native/.test(warnings.join()), items === undefined);
    }
  });

  it('a plan deletes exactly the previewed items: those that arrive afterwards stay, and are counted', async () => {
    await withCars(300);
    const plan = await planOf('type=Car');
    assert.deepEqual([plan.matched, plan.plan?.items], [300, 300]);
    broker.entities.seed(20, (index) => everyKind(index + 1000));
    broker.entities.seed(5, (index) => everyKind(index));
    const purge = await ran(await post({ plan: plan.id }));
    assert.deepEqual(
      [purge.state, purge.matched, purge.deleted, purge.arrived, purge.planOf],
      ['succeeded', 300, 300, 20, plan.id],
    );
    assert.equal((await entitiesOf(broker, 'type=Car')).length, 20);
  });

  it('a plan deletes only items that still match', async () => {
    await withCars(20);
    const plan = await planOf('type=Car&q=owner==%22urn:ngsi-ld:Person:1%22');
    for (const index of [1, 2, 3])
      await sendJson(broker.url, 'PATCH', `/ngsi-ld/v1/entities/${everyKind(index).id}/attrs`, {
        owner: { type: 'Relationship', object: 'urn:ngsi-ld:Person:2' },
      });
    const purge = await ran(await post({ plan: plan.id }));
    assert.deepEqual([purge.deleted, (await entitiesOf(broker, 'type=Car')).length], [17, 3]);
  });

  it('a plan can cover dropped attributes', async () => {
    await withCars(10);
    const plan = await planOf('type=Car&drop=speed');
    assert.equal(plan.plan?.items, 10);
    broker.entities.seed(3, (index) => everyKind(index + 500));
    const purge = await ran(await post({ plan: plan.id }));
    assert.deepEqual([purge.deleted, purge.arrived], [10, 3]);
    const left = await entitiesOf(broker, 'type=Car');
    assert.equal(left.filter((car) => 'speed' in car).length, 3);
  });

  for (const [unit, query, left] of [
    ['entities', 'type=Sensor', 1],
    ['attributes', 'type=Sensor&attrs=temperature', 1],
    ['instances', `type=Sensor&timerel=before&timeAt=${hour(8)}`, 2],
  ] as const)
    it(`a plan can cover ${unit} of histories`, async () => {
      const measured = (id: string, hours: readonly number[]) => ({
        id: `urn:ngsi-ld:Sensor:${unit}:${id}`,
        type: 'Sensor',
        temperature: hours.map((n) => ({ type: 'Property', value: n, observedAt: hour(n) })),
      });
      broker.temporal.seed(3, (index) => measured(String(index), [1, 2]));
      const plan = await ran(
        await post({ target: 'temporal', query, dryRun: true, plan: true, maxAffected: 100 }),
      );
      assert.deepEqual([plan.unit, plan.plan?.items], [unit, plan.matched]);
      broker.temporal.seed(1, () => measured('late', [3, 4]));
      const purge = await ran(await post({ plan: plan.id }));
      assert.deepEqual([purge.state, purge.deleted, purge.arrived], ['succeeded', plan.matched, left]);
      assert.equal(broker.temporal.instances(), 2);
      broker.temporal.seed(1, () => measured('late', [3]));
      await gateway.send('DELETE', `${TEMPORAL}?type=Sensor`);
    });

  it('a plan is applied only once, and only by a request with no member other than its id', async () => {
    await withCars(3);
    const plan = await planOf('type=Car');
    const more = await post({ plan: plan.id, maxAffected: 1 });
    assert.equal(more.status, 422);
    assert.deepEqual((more.json() as { errors: unknown }).errors, [
      {
        pointer: '',
        detail: 'must have no member but plan: the query and the options are those of the dry run',
      },
    ]);
    await ran(await post({ plan: plan.id }));
    broker.entities.seed(3, everyKind);
    const again = await post({ plan: plan.id });
    assert.equal(again.status, 409);
    assert.match(again.problem().type, /:plan-gone$/);
    assert.equal((await entitiesOf(broker, 'type=Car')).length, 3);
  });

  it('a purge without a plan cannot be applied, and only a dry run can make a plan', async () => {
    await withCars(1);
    const dry = await ran(await post({ target: 'entities', query: 'type=Car', dryRun: true }));
    assert.equal(dry.plan, undefined);
    for (const plan of [dry.id, 'nothing', '00000000-0000-0000-0000-000000000000'])
      assert.equal((await post({ plan })).status, 409, plan);
    const refused = await post({ target: 'entities', query: 'type=Car', plan: true });
    assert.equal(refused.status, 400);
    assert.equal(refused.problem()['parameter'], 'plan');
    assert.equal((await gateway.purge('type=Car&plan=true&dryRun=true')).status, 400);
    for (const body of [
      { plan: true, dryRun: true },
      { plan: false, target: 'entities', query: 'type=Car' },
      { plan: '' },
    ])
      assert.equal((await post(body)).status, 422, JSON.stringify(body));
    assert.equal((await entitiesOf(broker, 'type=Car')).length, 1);
  });

  it('a plan is not applied at a broker other than that of its dry run', async () => {
    const env = { DATABASE_PATH: join(temporaryFolder(), 'db') };
    const first = await startTestGateway({ ...env, BROKER_URL: broker.url });
    await withCars(3);
    const dryRun = { target: 'entities', query: 'type=Car', dryRun: true, plan: true };
    const { id } = (await sendJson(first.url, 'POST', '/api/v2/purges', dryRun)).json() as PurgeRecord;
    await ended(first, id);
    await first.gateway.close();
    const other = await startTestBroker();
    other.entities.seed(3, everyKind);
    const second = await startTestGateway({ ...env, BROKER_URL: other.url });
    const answer = await sendJson(second.url, 'POST', '/api/v2/purges', { plan: id });
    assert.equal(answer.status, 409, answer.text);
    assert.match(answer.problem().type, /:plan-gone$/);
    assert.equal(other.entities.count(), 3);
  });

  it('applying a plan respects the policy and the maximum of both requests', async () => {
    await withCars(5);
    const plan = await planOf('type=Car');
    const refused = await post({ plan: plan.id }, { 'x-purge-policy': 'max-affected=4' });
    assert.equal(refused.status, 409);
    assert.match(refused.problem().type, /:too-many-matches$/);
    assert.equal((await post({ plan: plan.id }, { 'x-purge-policy': 'dry-run-only' })).status, 403);
    const bounded = await planOf('type=Car', { maxAffected: 5 });
    broker.entities.seed(2, (index) => everyKind(index + 900));
    const purge = await ran(await post({ plan: bounded.id }, { 'x-purge-policy': 'max-affected=5' }));
    assert.deepEqual([purge.state, purge.deleted, purge.arrived], ['succeeded', 5, 2]);
  });

  it('a plan can only be applied with the tenant and the @context of its dry run', async () => {
    await withCars(1);
    const plan = await planOf('type=Car');
    for (const [header, value] of [
      ['ngsild-tenant', 'other'],
      ['fiware-service', 'other'],
      ['fiware-servicepath', '/other'],
      ['link', '<https://other.example/c.jsonld>; rel="http://www.w3.org/ns/json-ld#context"'],
    ] as const) {
      const other = await post({ plan: plan.id }, { [header]: value });
      assert.equal(other.status, 400, header);
      assert.match(other.problem().detail ?? '', new RegExp(`leave the header ${header} out`));
    }
    assert.equal((await entitiesOf(broker, 'type=Car')).length, 1);
  });
});
