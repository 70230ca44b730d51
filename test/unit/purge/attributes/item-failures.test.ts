import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BrokerReply } from '../../../../sidecar/purge/broker/index.js';
import { BrokerRefusedError, FilterIgnoredError } from '../../../../sidecar/purge/errors.js';
import { deleteItem, removeItems } from '../../../../sidecar/purge/attributes/index.js';
import { entitiesIn, entities } from '../../../../sidecar/purge/listing/index.js';
import { attributePath } from '../../../../sidecar/purge/proof/index.js';
import { replyOf } from '../../../support/replies.js';
import { contextOf } from '../hand-made-context.js';
import { idsOf } from '../hand-made-lister.js';

const GONE = replyOf(204);
const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Removal {
  readonly count: number;
  readonly answer?: (id: string) => BrokerReply | Promise<BrokerReply>;
  /** Every delete takes effect, whatever the answer. */
  readonly losesAnswers?: boolean;
  readonly isPartial?: boolean;
  /** Called with each entity when it is read, and the number of deletes until then. */
  readonly onRead?: (index: number, tried: number) => void;
}

/** Starts the removal of one attribute each from some entities, by real requests. */
function removal({ count, answer = () => GONE, losesAnswers, isPartial = false, onRead }: Removal) {
  const ids = idsOf(count);
  const without = new Set<string>();
  const tried: string[] = [];
  const looks = new Set<string>();
  const list = (query: URLSearchParams) => {
    const asked = query.get('id');
    if (asked !== null) looks.add(asked);
    const all = ids.filter((id) => asked?.split(',').includes(id) ?? true);
    const [offset, limit] = [Number(query.get('offset') ?? 0), Number(query.get('limit') ?? count)];
    const page = all.slice(offset, offset + limit).map((id) => (without.has(id) ? { id } : { id, a: {} }));
    return replyOf(200, page, { 'ngsild-results-count': String(all.length) });
  };
  const context = contextOf({
    brokerQuery: { resource: entities('attributes'), selection: [], isPartial },
    broker: async ({ method, path }) => {
      const [resource = '', query = ''] = path.split('?');
      if (method === 'GET') return list(new URLSearchParams(query));
      const id = decodeURIComponent(resource.split('/')[2] ?? '');
      tried.push(id);
      if (losesAnswers === true) without.add(id);
      const reply = await answer(id);
      if (reply === GONE) without.add(id);
      return reply;
    },
  });
  const ended = removeItems(
    context,
    {
      *read(page, indexes) {
        for (const index of indexes) {
          const { [index]: entityId = '' } = page.ids;
          onRead?.(ids.indexOf(entityId), tried.length);
          yield { items: 'a' in (entitiesIn(page)[index] ?? {}) ? [{ entityId, attribute: 'a' }] : [] };
        }
      },
      mayComeBack: true,
      remove: async (item, isStale) => {
        const path = attributePath('/entities', item.entityId, 'a');
        return deleteItem(context, item, { path, operation: 'delete an attribute', isStale });
      },
      stillThere: { status: 409 },
    },
    count,
  );
  return { ended, ledger: context.ledger, tried, looks };
}

it('items whose deletes fail are each reported, and the others are deleted', async () => {
  const answer = (id: string) => (id.endsWith('0') ? replyOf(503, { title: 'Broken' }) : GONE);
  const { ended, ledger, tried } = removal({ count: 100, answer });
  assert.equal(await ended, 0);
  assert.deepEqual([ledger.matched, ledger.counts.deleted, ledger.counts.failed], [100, 90, 10]);
  assert.deepEqual([ledger.errors.length, ledger.success.length], [10, 90]);
  assert.ok(ledger.errors.every(({ error, attribute }) => error.status === 503 && attribute === 'a'));
  assert.ok(
    tried.filter((id) => id === 'urn:t:0').length > 3,
    'a hopeless item was tried in more than one round',
  );
});

it('a removal that is slower than its listing reads only a few items ahead for each delete in flight', async () => {
  let ahead = 0;
  const onRead = (index: number, tried: number) => {
    ahead = Math.max(ahead, index - tried);
  };
  const { ended, ledger } = removal({ count: 100, onRead });
  await ended;
  assert.equal(ledger.counts.deleted, 100);
  // Four deletes at a time, four items for each, and the page that is being read.
  assert.ok(ahead < 4 * 4 + 10, `${ahead} items ahead`);
});

it('a removal that ends early sends nothing more, waits for requests in flight, and resolves unclear items', async () => {
  const [failed, released] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const answer = async (id: string) => {
    if (id === 'urn:t:1') {
      failed.resolve(undefined);
      return replyOf(500);
    }
    await (id === 'urn:t:0' ? failed : released).promise;
    return id === 'urn:t:0' ? replyOf(401) : GONE;
  };
  const { ended, tried, looks, ledger } = removal({ count: 3, answer, losesAnswers: true });
  const rejected = assert.rejects(ended, BrokerRefusedError);
  for (let turns = 0; turns < 5; turns++) await turn();
  assert.deepEqual([...looks], [], 'a delete is under way');
  released.resolve(undefined);
  await rejected;
  assert.deepEqual([tried, [...looks]], [idsOf(3), ['urn:t:1']]);
  assert.deepEqual([ledger.counts.deleted, ledger.counts.unknown], [2, 0]);
});

it('a removal in doubt resolves unclear items even if its query shows only some of the matches', async () => {
  const { ended, looks, ledger } = removal({
    count: 3,
    answer: () => replyOf(500),
    losesAnswers: true,
    isPartial: true,
  });
  await ended;
  assert.deepEqual([...looks], [idsOf(3).join(',')]);
  assert.deepEqual([ledger.counts.deleted, ledger.counts.unknown], [3, 0]);
});

it('a page that must not be used ends the deletes at once, and deletes in flight are recorded', async () => {
  const onRead = (index: number) => {
    if (index === 55) throw new FilterIgnoredError('attrs', 'shows too much');
  };
  const { ended, ledger, tried } = removal({ count: 100, onRead });
  await assert.rejects(ended, FilterIgnoredError);
  const sent = tried.length;
  assert.ok(sent < 56, String(sent));
  assert.equal(ledger.counts.deleted, sent);
  await turn();
  assert.equal(tried.length, sent, 'nothing is sent afterwards');
});
