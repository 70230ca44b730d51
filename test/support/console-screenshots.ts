/** Takes the screenshots of the documentation; run by `npm run screenshots`, after a build. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openConsole, startBrowser } from './browser.js';
import { PATIENT, startTestBroker, startTestGateway, stopAll } from './gateway-harness.js';
import { ROOT } from './project.js';

const isForLooking = process.argv[2] !== undefined;
const folder = join(ROOT, process.argv[2] ?? 'docs/images');
await mkdir(folder, { recursive: true });

const TYPES = ['Vehicle', 'Vehicle', 'Vehicle', 'AirQualityObserved', 'ParkingSpot'];
const broker = await startTestBroker();
broker.entities.seed(12_000, (index) => {
  const type = TYPES[index % TYPES.length] ?? 'Vehicle';
  return {
    id: `urn:ngsi-ld:${type}:${String(index).padStart(5, '0')}`,
    type,
    speed: { type: 'Property', value: (index * 37) % 160 },
  };
});
const gateway = await startTestGateway({ BROKER_URL: broker.url, LOG_LEVEL: 'silent', ...PATIENT });
const browser = await startBrowser();
/** Takes a picture as small as its quality allows, or a PNG for viewing while working on a page. */
async function take(page: Page, name: string): Promise<void> {
  if (isForLooking) {
    await page.screenshot({ path: join(folder, `${name}.png`) });
    return;
  }
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 82 });
  await writeFile(join(folder, `${name}.webp`), Buffer.from(data, 'base64'));
}

const size = { width: 1200, height: 780 };

const { page } = await openConsole(browser, gateway.url, '#/purge', size);
await page.getByLabel('Type', { exact: true }).fill('Vehicle');
await page.getByLabel('Query (q)').fill('speed>100');
await page.getByRole('button', { name: /^Purge [\d,]+ entities/ }).waitFor();
await take(page, 'console-purge');

const dark = await openConsole(browser, gateway.url, '#/purge?query=type%3DVehicle%26maxPerSecond%3D400', {
  ...size,
  theme: 'dark',
});
await dark.page.getByRole('button', { name: /^Purge [\d,]+ entities/ }).click();
await dark.page.getByLabel(/^Type the count/).fill('7200');
await dark.page.getByRole('button', { name: /^Delete 7,200/ }).click();
await dark.page.getByText(/^[2-9],\d{3} of 7,200 entities/).waitFor();
await take(dark.page, 'console-progress');
await dark.page.getByRole('button', { name: 'Cancel the purge' }).click();

await putModel();
await page.goto(`${gateway.url}/console/#/models/Mobility/Vehicle/versions`);
await page.getByText('breaking').first().waitFor();
await page.locator('.cm-changedLine').first().waitFor();
await take(page, 'console-versions');
await page.goto(`${gateway.url}/console/#/workbench`);
await page.getByRole('textbox', { name: /^Entity/ }).fill(`{
  "id": "urn:ngsi-ld:Vehicle:1",
  "type": "Vehicle",
  "sped": {"type": "Property", "value": "fast"},
  "status": {"type": "Property", "value": "ocupied"}
}`);
await page.getByRole('button', { name: 'Rename to speed' }).waitFor();
await take(page, 'console-workbench');

await gateway.sendJson('PUT', '/api/v2/retention-policies/silent-sensors', {
  target: 'entities',
  query: 'type=AirQualityObserved',
  olderThan: 'P90D',
  by: 'modifiedAt',
  schedule: '0 3 * * *',
  timeZone: 'Europe/Madrid',
  description: 'Sensors that fell silent.',
});
/** Stores a model with two versions, the second of which is a breaking change. */
async function putModel(): Promise<void> {
  const send = async (method: string, path: string, body: unknown) =>
    gateway.sendJson(method, `/api/v2/domains${path}`, body);
  const schema = (speed: object) => ({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    required: ['id', 'type', 'speed'],
    properties: {
      id: { type: 'string', format: 'uri' },
      type: { const: 'Vehicle' },
      speed,
      status: { enum: ['free', 'occupied'] },
    },
  });
  await send('POST', '', { name: 'Mobility', description: 'Vehicles and roads' });
  const path = '/Mobility/models/Vehicle';
  await send('PUT', path, { schema: schema({ type: 'number', description: 'Property. In km/h' }) });
  await send('PUT', path, { schema: schema({ type: 'string', description: 'Property. In words' }) });
}

if (isForLooking) {
  // The other pages, for viewing while working on them.
  for (const [name, hash] of [
    ['history', '#/history'],
    ['retention', '#/retention'],
    ['policy', '#/retention/silent-sensors'],
    ['editor', '#/retention/+'],
    ['overview', '#/overview'],
    ['models', '#/models'],
    ['model', '#/models/Mobility/Vehicle'],
    ['versions', '#/models/Mobility/Vehicle/versions'],
    ['workbench', '#/workbench'],
    [
      'geo',
      '#/purge?query=type%3DVehicle%26georel%3Dnear%3BmaxDistance%3D%3D500000%26geometry%3DPoint%26coordinates%3D%5B-4%2C40%5D',
    ],
  ] as const) {
    await page.goto(`${gateway.url}/console/${hash}`);
    await page.reload();
    await page.waitForTimeout(1200);
    await page.screenshot({ path: join(folder, `${name}.png`) });
  }
  const small = await openConsole(browser, gateway.url, '#/purge?query=type%3DVehicle', {
    width: 360,
    height: 800,
  });
  await small.page.waitForTimeout(1200);
  await small.page.screenshot({ path: join(folder, 'small.png'), fullPage: true });
}
await stopAll();
