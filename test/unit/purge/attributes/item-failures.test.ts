import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BrokerRequest, BrokerReply } from '../../../../sidecar/purge/broker/index.js';
import { ownAttributesOf } from '../../../../sidecar/ngsi-ld/members.js';
import {
  BrokerFailedError,
  BrokerRefusedError,
  FilterIgnoredError,
} from '../../../../sidecar/purge/errors.js';
import { deleteItem, removeItems } from '../../../../sidecar/purge/attributes/index.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import { attributePath } from '../../../../sidecar/purge/proof/index.js';
import { replyOf } from '../broker/replies.js';
import { contextOf } from '../hand-made-context.js';

/** Starts the removal of one attribute each from a hundred entities of a broker that fails some deletes. */
function removal(
  fails: (index: number) => number | undefined,
  reads: (index: number, tried: number) => void = () => {},
) {
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
  const context = contextOf({ brokerQuery: { resource: entities('attributes'), selection: [] }, broker });
  const ended = removeItems(
    context,
    {
      *read(page, indexes) {
        for (const index of indexes) {
          const entityId = page.ids[index] ?? '';
          reads(Number(entityId.split(':')[2]), tried.length);
          const names = ownAttributesOf(page.entities[index] ?? {});
          yield { items: names.map((attribute) => ({ entityId, attribute })) };
        }
      },
      mayComeBack: true,
      remove: async (item, isStale) => {
        const path = attributePath('/entities', item.entityId, item.attribute ?? '');
        return deleteItem(context, item, { path, operation: 'delete an attribute', isStale });
      },
      stillThere: { status: 409 },
    },
    world.size,
  );
  return { ended, ledger: context.ledger, tried };
}

it('items whose deletes fail are each reported, and the others are deleted', async () => {
  const { ended, ledger, tried } = removal((index) => (index % 4 === 0 ? 503 : undefined));
  assert.equal(await ended, 0);
  assert.deepEqual([ledger.matched, ledger.counts.deleted, ledger.counts.failed], [100, 75, 25]);
  assert.equal(ledger.errors.length, 25);
  assert.ok(ledger.errors.every(({ error, attribute }) => error.status === 503 && attribute === 'a'));
  assert.equal(ledger.success.length, 75);
  assert.ok(
    tried.filter((index) => index === 0).length > 3,
    'a hopeless item was tried in more than one round',
  );
});

it('failing deletes end the purge if the broker answers with nothing but failures', async () => {
  const { ended, ledger, tried } = removal(() => 503);
  await assert.rejects(
    ended,
    (error: unknown) => error instanceof BrokerFailedError && error.reason === 'nothing-but-failures',
  );
  assert.equal(ledger.counts.deleted, 0);
  // Three tries for each of a hundred would be three hundred.
  assert.ok(tried.length < 100, String(tried.length));
});

it('a removal that is slower than its listing reads only a few items ahead for each delete in flight', async () => {
  let ahead = 0;
  const { ended, ledger } = removal(
    () => undefined,
    (index, tried) => {
      ahead = Math.max(ahead, index - tried);
    },
  );
  await ended;
  assert.equal(ledger.counts.deleted, 100);
  // Four deletes at a time, four items for each, and the page that is being read.
  assert.ok(ahead < 4 * 4 + 10, `${ahead} items ahead`);
});

const ids = ['urn:t:0', 'urn:t:1', 'urn:t:2'];
const idOf = (path: string) => decodeURIComponent(path.split('/')[2] ?? '');
/** Removes `a` from three entities whose deletes are answered by a function. */
function three(answer: (id: string) => BrokerReply | Promise<BrokerReply>, isPartial = false) {
  const deletes: string[] = [];
  const looks = new Set<string>();
  const context = contextOf({
    brokerQuery: { resource: entities('attributes'), selection: [], isPartial },
    broker: ({ method, path }) => {
      const asked = new URLSearchParams(path.split('?')[1]).get('id');
      if (method === 'GET') {
        if (asked !== null) looks.add(asked);
        // Every delete takes effect, whatever the answer.
        const body = ids.map((id) => ({ id, ...(deletes.includes(id) ? {} : { a: {} }) }));
        const shown = body.filter(({ id }) => asked?.split(',').includes(id) ?? true);
        const offset = Number(new URLSearchParams(path.split('?')[1]).get('offset') ?? 0);
        return replyOf(200, shown.slice(offset), { 'ngsild-results-count': String(shown.length) });
      }
      deletes.push(idOf(path));
      return answer(idOf(path));
    },
  });
  const ended = removeItems(
    context,
    {
      *read(page, indexes) {
        const found = indexes.filter((index) => 'a' in (page.entities[index] ?? {}));
        yield { items: found.map((index) => ({ entityId: page.ids[index] ?? '', attribute: 'a' })) };
      },
      mayComeBack: true,
      remove: async (item, isStale) => {
        const path = attributePath('/entities', item.entityId, 'a');
        return deleteItem(context, item, { path, operation: 'delete an attribute', isStale });
      },
      stillThere: { status: 409 },
    },
    3,
  );
  return { ended, deletes, looks, ledger: context.ledger };
}

it('a removal that ends early sends nothing more, waits for requests in flight, and resolves unclear items', async () => {
  let [noteFailure, release] = [() => {}, () => {}];
  const failed = new Promise<void>((resolve) => (noteFailure = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  const { ended, deletes, looks, ledger } = three(async (id) => {
    if (id === 'urn:t:1') {
      noteFailure();
      return replyOf(500);
    }
    await (id === 'urn:t:0' ? failed : released);
    return replyOf(id === 'urn:t:0' ? 401 : 204);
  });
  const rejected = assert.rejects(ended, BrokerRefusedError);
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([...looks], [], 'a delete is under way');
  release();
  await rejected;
  assert.deepEqual([deletes, [...looks]], [ids, ['urn:t:1']]);
  assert.deepEqual([ledger.counts.deleted, ledger.counts.unknown], [2, 0]);
});

it('a removal in doubt resolves unclear items even if its query shows only some of the matches', async () => {
  const { ended, looks, ledger } = three(() => replyOf(500), true);
  await ended;
  assert.deepEqual([[...looks], ledger.counts.deleted, ledger.counts.unknown], [[ids.join(',')], 3, 0]);
});

it('a page that must not be used ends the deletes at once, and deletes in flight are recorded', async () => {
  const { ended, ledger, tried } = removal(
    () => undefined,
    (index) => {
      if (index === 55) throw new FilterIgnoredError('attrs', 'shows too much');
    },
  );
  await assert.rejects(ended, FilterIgnoredError);
  const sent = tried.length;
  assert.ok(sent < 56, String(sent));
  assert.equal(ledger.counts.deleted, sent);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(tried.length, sent, 'nothing is sent afterwards');
});

/** Removes one attribute; the first tries are cut short, because the list got too old between two of them. */
async function cutShort(tries: number) {
  const world = new Map([['urn:t:0', new Set(['a'])]]);
  let tried = 0;
  const context = contextOf({
    brokerQuery: { resource: entities('attributes'), selection: [] },
    broker: () => {
      const body = [...world].map(([id, names]) => ({ id, ...(names.has('a') ? { a: {} } : {}) }));
      return replyOf(200, body, { 'ngsild-results-count': '1' });
    },
  });
  await removeItems(
    context,
    {
      *read(page, indexes) {
        const items = indexes.flatMap((index) =>
          ownAttributesOf(page.entities[index] ?? {}).map((attribute) => ({
            entityId: page.ids[index] ?? '',
            attribute,
          })),
        );
        yield { items };
      },
      mayComeBack: true,
      remove: async (item, _isStale, onSend) => {
        context.ledger.add(item);
        onSend?.();
        tried += 1;
        if (tried <= tries) return { kind: 'retryable', problem: { status: 429 }, isCutShort: true };
        world.get(item.entityId)?.delete('a');
        return { kind: 'deleted' };
      },
      stillThere: { status: 409 },
    },
    1,
  );
  return { tried, counts: context.ledger.counts };
}

it('items whose tries are cut short are tried again a few times before they are reported', async () => {
  const { counts } = await cutShort(3);
  assert.deepEqual([counts.deleted, counts.failed], [1, 0]);
  const hopeless = await cutShort(Infinity);
  assert.deepEqual([hopeless.counts.deleted, hopeless.counts.failed], [0, 1]);
  assert.ok(hopeless.tried < 10, String(hopeless.tried));
});
