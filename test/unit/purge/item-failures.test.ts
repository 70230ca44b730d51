import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BrokerRequest } from '../../../sidecar/broker/client.js';
import { ownAttributesOf } from '../../../sidecar/ngsi-ld/entity-members.js';
import { BrokerFailedError, FilterIgnoredError } from '../../../sidecar/purge/errors.js';
import { deleteItem } from '../../../sidecar/purge/item-delete.js';
import { removeItems } from '../../../sidecar/purge/item-removal.js';
import { entities } from '../../../sidecar/purge/listed-resource.js';
import { attributePath } from '../../../sidecar/purge/resource-path.js';
import { replyOf } from '../broker/replies.js';
import { contextOf } from './hand-made-context.js';

/** Starts the removal of one attribute each from a hundred entities of a broker that fails some deletes. */
function removal(fails: (index: number) => number | undefined, reads: (index: number) => void = () => {}) {
  const world = new Map(Array.from({ length: 100 }, (_, index) => [`urn:t:${index}`, new Set(['a'])]));
  const tried: number[] = [];
  const broker = ({ method, path }: BrokerRequest) => {
    const [resource = '', query = ''] = path.split('?');
    if (method === 'GET') {
      const given = new URLSearchParams(query);
      const [offset, limit] = [Number(given.get('offset') ?? 0), Number(given.get('limit'))];
      const page = [...world].slice(offset, offset + limit);
      const body = page.map(([id, names]) => ({ id, ...(names.has('a') ? { a: {} } : {}) }));
      return replyOf(200, body, { 'ngsild-results-count': String(world.size) });
    }
    const id = decodeURIComponent(resource.split('/')[2] ?? '');
    const index = Number(id.split(':')[2]);
    tried.push(index);
    const status = fails(index);
    if (status !== undefined) return replyOf(status, { title: 'Broken' });
    world.get(id)?.delete('a');
    return replyOf(204);
  };
  const context = contextOf({ view: { resource: entities('attributes'), selection: [] }, broker });
  const ended = removeItems(
    context,
    {
      *read(page, indexes) {
        for (const index of indexes) {
          const entityId = page.ids[index] ?? '';
          reads(Number(entityId.split(':')[2]));
          const names = ownAttributesOf(page.entities[index] ?? {});
          yield { items: names.map((attribute) => ({ entityId, attribute })) };
        }
      },
      remove: async (item) => {
        const path = attributePath('/entities', item.entityId, item.attribute ?? '');
        return deleteItem(context, item, { path, operation: 'delete an attribute' });
      },
      stillThere: { status: 409 },
    },
    world.size,
  );
  return { ended, tally: context.tally, tried };
}

describe('items whose deletes fail', () => {
  it('are each reported, and the others go all the same', async () => {
    const { ended, tally, tried } = removal((index) => (index % 4 === 0 ? 503 : undefined));
    assert.equal(await ended, 0);
    assert.deepEqual([tally.matched, tally.counts.deleted, tally.counts.failed], [100, 75, 25]);
    assert.equal(tally.errors.length, 25);
    assert.ok(tally.errors.every(({ error, attribute }) => error.status === 503 && attribute === 'a'));
    assert.equal(tally.success.length, 75);
    assert.ok(
      tried.filter((index) => index === 0).length > 3,
      'a hopeless item was tried in more than one round',
    );
  });

  it('are each reported where the broker answers each with a refusal', async () => {
    const { ended, tally, tried } = removal((index) => (index % 2 === 0 ? 409 : undefined));
    await ended;
    assert.deepEqual([tally.counts.deleted, tally.counts.failed, tried.length], [50, 50, 100]);
  });

  it('end the purge where the broker answers nothing but failures', async () => {
    const { ended, tally, tried } = removal(() => 503);
    await assert.rejects(
      ended,
      (error: unknown) => error instanceof BrokerFailedError && error.reason === 'nothing-but-failures',
    );
    assert.equal(tally.counts.deleted, 0);
    // Three tries for each of a hundred would be three hundred.
    assert.ok(tried.length < 100, String(tried.length));
  });
});

describe('a page that must not be used', () => {
  it('ends the deletes at once, and those under way are booked', async () => {
    const { ended, tally, tried } = removal(
      () => undefined,
      (index) => {
        if (index === 55) throw new FilterIgnoredError('attrs', 'shows too much');
      },
    );
    await assert.rejects(ended, FilterIgnoredError);
    const sent = tried.length;
    assert.ok(sent < 56, String(sent));
    assert.equal(tally.counts.deleted, sent);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(tried.length, sent, 'nothing is sent afterwards');
  });
});
