import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { stopAll, stopLater } from '../support/gateway-harness.js';
import { CAR_WITH_BRAND, etagOf, makeModel, startApi } from './api-client.js';
import { temporaryFolder } from '../support/temporary-folder.js';

after(stopAll);

let folder: string;
before(async () => {
  folder = temporaryFolder();
});

it('the database of a gateway is created with its folders, and keeps everything after the gateway has stopped', async () => {
  const DATABASE_PATH = join(folder, 'new', 'deep', 'schema.db');
  const first = await startApi({ DATABASE_PATH });
  const model = await makeModel(first.api, 'Mobility', 'Car');
  await first.api.put(model, { schema: CAR_WITH_BRAND });
  const [before, context] = [await first.api.get(model), await first.api.get('/contexts/Mobility~Car')];
  await first.gateway.close();
  assert.deepEqual(
    await readdir(join(folder, 'new', 'deep')),
    ['schema.db', 'schema.db.lock'],
    'nothing is left to write',
  );
  const { api } = await startApi({ DATABASE_PATH });
  const read = await api.get(model);
  assert.deepEqual(read.json(), before.json());
  assert.equal(etagOf(read), etagOf(before));
  assert.equal((await api.get('/contexts/Mobility~Car')).text, context.text);
});

it('the database of a gateway is closed when the start fails for another reason', async () => {
  const DATABASE_PATH = join(folder, 'closed.db');
  const other = createServer();
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  stopLater(async () => void other.close());
  const PORT = String((other.address() as AddressInfo).port);
  await assert.rejects(startApi({ DATABASE_PATH, PORT }), { code: 'EADDRINUSE' });
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.startsWith('closed')),
    ['closed.db', 'closed.db.lock'],
    'SQLite removes its log when the last connection is closed',
  );
});
