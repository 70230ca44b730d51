import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { openConsole, startBrowser } from '../support/browser.js';
import { ensureCliBuilt } from '../support/cli-process.js';
import { startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';

after(stopAll);

const ENTITIES = 200_000;

/**
 * How much the heap of the page may grow between a tenth and nine tenths of the purge, in bytes.
 */
const MAX_GROWTH_BYTES = 8 * 1024 * 1024;

it('the console page does not grow while it shows a purge of 200,000 entities', async () => {
  await ensureCliBuilt();
  const broker = await startTestBroker();
  broker.entities.seed(ENTITIES, (index) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' }));
  const gateway = await startTestGateway({
    BROKER_URL: broker.url,
    LOG_LEVEL: 'silent',
    PURGE_BATCH_SIZE: '100',
  });
  const { page, faults } = await openConsole(await startBrowser(), gateway.url, '#/purge?query=type%3DCar');
  page.setDefaultTimeout(600_000);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const measure = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    const valueOf = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? NaN;
    return { nodes: valueOf('Nodes'), bytes: valueOf('JSHeapUsedSize') };
  };
  await page.getByRole('button', { name: 'Purge 200,000 entities…' }).click();
  await page.getByLabel(/^Type the count/).fill(String(ENTITIES));
  await page.getByRole('button', { name: 'Delete 200,000' }).click();
  await page.getByText(/^(?:[2-9]\d|1\d\d),\d{3} of 200,000 entities/).waitFor();
  const early = await measure();
  await page.getByText(/^(?:1[89]\d|200),\d{3} of 200,000 entities/).waitFor();
  const late = await measure();
  await page.getByText('200,000 of 200,000 entities').waitFor();
  assert.ok(late.nodes < early.nodes + 200, `${early.nodes} nodes, then ${late.nodes}`);
  assert.ok(late.bytes < early.bytes + MAX_GROWTH_BYTES, `${early.bytes} bytes, then ${late.bytes}`);
  assert.deepEqual(faults, []);
});
