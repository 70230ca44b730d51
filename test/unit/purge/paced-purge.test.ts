import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPace } from '../../../sidecar/purge/requests/pace.js';
import { MishapBroker, type Mishap } from '../../support/mishap-broker.js';
import { createTestClock, purge } from '../../support/purge-harness.js';
import { seededRandom } from '../../support/stub-broker-state.js';

interface Sent {
  readonly atMs: number;
  readonly ids: number;
}

/** A purge of things at a rate: the deletes that were sent, and when. */
async function pacedPurge(options: {
  readonly entities: number;
  readonly perSecond: number;
  readonly hasBatches?: boolean;
  readonly mishaps?: readonly Mishap[];
  readonly atProgress?: (setPerSecond: (rate: number | undefined) => void, deleted: number) => void;
}): Promise<{ readonly sent: readonly Sent[]; readonly left: number }> {
  const clock = createTestClock(0);
  const { entities, hasBatches = true, mishaps = [], perSecond } = options;
  const broker = new MishapBroker({
    ...{ clock, entities, mishaps, hasBatches, restartMs: 1000, dies: false, random: seededRandom(1) },
  });
  const pace = createPace(clock, perSecond);
  const sent: Sent[] = [];
  const outcome = await purge({ url: new URL('http://broker') }, 'type=Thing', {
    clock,
    pace,
    client: {
      send: (request) => {
        if (request.method === 'DELETE') sent.push({ atMs: clock.now(), ids: 1 });
        if (request.method === 'POST')
          sent.push({ atMs: clock.now(), ids: (JSON.parse(request.jsonBody ?? '[]') as unknown[]).length });
        return broker.send(request);
      },
      close: async () => {},
    },
    onEvent: (event) => {
      if (event.type === 'progress') options.atProgress?.((rate) => pace.setPerSecond(rate), event.deleted);
    },
  });
  assert.equal(outcome.error, undefined);
  return { sent, left: broker.store.size };
}

/** Items whose delete was sent in a span of time, its end left out. */
const between = (sent: readonly Sent[], fromMs: number, toMs: number): number =>
  sent.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).reduce((sum, { ids }) => sum + ids, 0);

describe('a purge at a rate', () => {
  for (const hasBatches of [true, false]) {
    const how = hasBatches ? 'in batches' : 'one by one';
    it(`a purge at a rate deletes as many in five seconds as the rate allows, within 15 %, ${how}`, async () => {
      const { sent, left } = await pacedPurge({ entities: 600, perSecond: 40, hasBatches });
      assert.equal(left, 0);
      const inFive = between(sent, 1500, 6500);
      assert.ok(Math.abs(inFive - 200) <= 30, String(inFive));
    });
  }

  it('a purge at a rate never sends a batch that is larger than what a second allows', async () => {
    const { sent } = await pacedPurge({ entities: 50, perSecond: 7 });
    assert.ok(
      sent.every(({ ids }) => ids <= 7),
      JSON.stringify(sent),
    );
  });

  it('a purge at a rate counts every try, retries included', async () => {
    const mishaps = new Array<Mishap>(30)
      .fill('none')
      .flatMap((one, n): Mishap[] => [one, n > 5 ? '500-after' : one]);
    const { sent, left } = await pacedPurge({ entities: 100, perSecond: 10, mishaps });
    assert.equal(left, 0);
    const end = sent.at(-1)?.atMs ?? 0;
    const all = sent.reduce((sum, { ids }) => sum + ids, 0);
    assert.ok(all <= 10 + (end * 10) / 1000 + 10, `${String(all)} in ${String(end)} ms`);
  });

  it('a purge at a rate follows a rate that is changed while it runs', async () => {
    const { sent } = await pacedPurge({
      entities: 1000,
      perSecond: 20,
      atProgress: (setPerSecond, deleted) => {
        if (deleted >= 200) setPerSecond(100);
      },
    });
    const changed = sent.findIndex(
      (_, at) => sent.slice(0, at + 1).reduce((sum, { ids }) => sum + ids, 0) > 260,
    );
    const fromMs = sent[changed]?.atMs ?? NaN;
    const inThree = between(sent, fromMs + 1000, fromMs + 4000);
    assert.ok(Math.abs(inThree - 300) <= 45, String(inThree));
  });
});
