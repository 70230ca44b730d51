import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { tarGz } from '../archives.js';
import { commonSchema, completeRepository, entriesOf } from '../repositories.js';
import { endFlow } from './flow.js';
import { carSchema, fillEditor, openModels, put } from './models.js';
import { itAtLength } from '../thoroughness.js';
import { temporaryFolder } from '../temporary-folder.js';

/** All models: finding, importing and deleting them; and contexts. */
export function modelListFlows(browser: () => Browser): void {
  itAtLength(
    'domains are listed with one request, and models are found in all of them, in pages',
    async () => {
      const schema = { type: 'object', properties: { speed: { type: 'number' } } };
      const names = Array.from({ length: 27 }, (_, index) => `Car${String(index).padStart(2, '0')}`);
      const flow = await openModels(browser(), '', [
        ...['City', 'Sea'].map((name) => ['/domains', { name }] as const),
        ...names.map((name) => [`/domains/City/models/${name}`, { schema }] as const),
        ['/domains/Sea/models/Ship', { schema: { type: 'object', properties: { knots: {} } } }],
      ]);
      const { page } = flow;
      const counted = page.getByRole('row', { name: /^City/ }).getByRole('cell', { name: '27', exact: true });
      await counted.waitFor();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      await page.reload();
      await counted.waitFor();
      assert.deepEqual(
        asked.filter((path) => path.startsWith('/api/') && path !== '/api/v2/status'),
        ['/api/v2/domains'],
      );
      await page.getByLabel('Attribute').fill('speed');
      await page.getByText('27 models found').waitFor();
      await page.getByRole('link', { name: 'Next' }).click();
      await page.getByRole('link', { name: 'Car26' }).waitFor();
      await page.getByText('26–27 of 27').waitFor();
      await page.getByLabel('Attribute').fill('');
      await page.getByLabel('Search', { exact: true }).fill('SHIP');
      await page.getByText('1 model found').waitFor();
      await page.getByRole('link', { name: 'Ship' }).click();
      await page.getByRole('heading', { name: 'Ship' }).waitFor();
      await endFlow(flow);
    },
  );

  it('a dropped or chosen archive is previewed before it is imported', async () => {
    const folder = temporaryFolder();
    const files = completeRepository();
    const archiveOf = async (name: string, content: typeof files) => {
      await writeFile(join(folder, name), await tarGz(entriesOf(content)));
      return join(folder, name);
    };
    const flow = await openModels(browser(), '/~import');
    const { page, gateway } = flow;
    await drop(page, folder);
    await page.getByRole('alert').getByText('This is not one').waitFor();
    await page.getByText('models import FOLDER').waitFor();
    await drop(page, await archiveOf('city.tar.gz', files));
    await page.getByText('What the import would change').waitFor();
    await page.getByText('Bench/schema.json', { exact: false }).first().waitFor();
    await page.getByText('1 invalid', { exact: false }).first().waitFor();
    await page.getByText('3 would be kept').waitFor();
    assert.equal((await gateway.send('GET', '/api/v2/models')).text, '[]');
    await page.getByRole('button', { name: /^Import \(/ }).click();
    await page.getByText('What the import changed').waitFor();
    await page.getByRole('link', { name: 'dataModel.City/Bench' }).waitFor();

    // The same with one refused and one new file.
    const more = { ...files, 'Broken/schema.json': '{broken', 'shared/common-schema.json': commonSchema() };
    await page.locator('input[type=file]').setInputFiles(await archiveOf('more.tar.gz', more));
    await page.getByText('refused: 1').waitFor();
    await page.getByText('It cannot be read as JSON', { exact: false }).waitFor();
    await page.getByText('There is nothing to import.').waitFor();
    await endFlow(flow);
  });

  itAtLength('an import above the limit of the gateway is refused with the limit', async () => {
    const flow = await openModels(browser(), '/~import', [], { IMPORT_LIMIT_BYTES: '2048' });
    const { page } = flow;
    const name = 'schema.json';
    const choose = async (bytes: number) =>
      page
        .locator('input[type=file]')
        .first()
        .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.alloc(bytes, ' ') });
    await choose(4096);
    await page.getByText('This is too large for the gateway').waitFor();
    await page.getByText('IMPORT_LIMIT_BYTES', { exact: false }).first().waitFor();
    await choose(10);
    await page.getByText('refused: 1').waitFor();
    await endFlow(flow);
  });

  itAtLength(
    'a deletion shows its effects in advance, and a refusal by the gateway in its own words',
    async () => {
      const flow = await openModels(browser(), '/City/Car/context', [
        ['/contexts', { name: 'official', '@context': { speed: 'https://terms.example/speed' } }],
        ['/domains', { name: 'City' }],
        [
          '/domains/City/models/Car',
          { schema: carSchema({ speed: { type: 'number' } }), context: 'official' },
        ],
      ]);
      const { page, gateway } = flow;
      await page.getByText('/api/v2/contexts/official"').waitFor();
      await page.getByRole('link', { name: 'official', exact: true }).click();
      await page.getByRole('button', { name: 'Delete…' }).click();
      await page.getByRole('button', { name: 'Delete the context' }).click();
      await page.getByText('The context "official" is in use by model "Car" in domain "City".').waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();

      await page.goto(`${gateway.url}/console/#/models/City`);
      await page.getByRole('button', { name: 'Delete…' }).click();
      const go = page.getByRole('button', { name: /^Delete the domain/ });
      assert.ok(await go.isDisabled());
      await page.getByLabel('Also delete 1 model').check();
      await page.getByLabel('Type the name to confirm: City').fill('Cit');
      assert.ok(await go.isDisabled());
      await page.keyboard.press('Escape');

      await page.getByRole('link', { name: 'Car', exact: true }).click();
      await page.getByRole('button', { name: 'Delete…' }).click();
      await page.getByText('1 version and the context City~Car are deleted').waitFor();
      await page.getByRole('button', { name: 'Delete the model' }).click();
      await page.getByText('This domain has no models yet.').waitFor();
      await page.getByRole('button', { name: 'Delete…' }).click();
      await page.getByText('It has no models.').waitFor();
      // Another client creates a model in the meantime, so the domain to delete is not the one that
      // was shown.
      await put(gateway, '/domains/City/models/Bus', { schema: carSchema({}) });
      await page.getByRole('button', { name: 'Delete the domain' }).click();
      await page.getByText('This was changed elsewhere in the meantime. Nothing was done.').waitFor();
      await page.getByText('It can only be deleted together with 1 model.').waitFor();
      assert.ok(await go.isDisabled());
      await page.getByLabel('Also delete 1 model').check();
      await page.getByLabel('Type the name to confirm: City').fill('City');
      await put(gateway, '/domains/City/models/Tram', { schema: carSchema({}) });
      await go.click();
      await page.getByText('It can only be deleted together with 2 models.').waitFor();
      assert.ok(!(await page.getByLabel('Also delete 2 models').isChecked()));
      assert.ok(await go.isDisabled());
      await page.getByLabel('Also delete 2 models').check();
      await page.getByLabel('Type the name to confirm: City').fill('City');
      await go.click();
      await page.getByText('There are no domains yet.').waitFor();
      await endFlow(flow);
    },
  );

  it('a context is created, shown as it is stored, and changed after its effect on models is shown', async () => {
    const flow = await openModels(browser(), '/~contexts/~new');
    const { page, gateway } = flow;
    await page.getByLabel('Name', { exact: true }).fill('own');
    await fillEditor(page, 'The @context', '{"a": {"@id": 5}}');
    await page.getByRole('button', { name: 'Create the context' }).click();
    await page.getByRole('button', { name: '/a', exact: true }).waitFor();
    await fillEditor(
      page,
      'The @context',
      '{"ex": "https://terms.example/", "speed": "ex:speed", "no": null}',
    );
    await page.getByRole('button', { name: 'Create the context' }).click();
    await page.getByText('"no" is mapped to null').waitFor();
    await page.getByRole('button', { name: 'Show the context' }).click();
    await page.getByText('"speed": "ex:speed"').waitFor();
    await put(gateway, '/domains', { name: 'City' });
    const follower = { schema: carSchema({ speed: { type: 'number' } }), context: 'own' };
    await put(gateway, '/domains/City/models/Car', follower);
    await page.getByRole('link', { name: 'Edit' }).click();
    await fillEditor(page, 'The @context', '{"speed": "urn:terms:speed"}');
    await page.getByRole('button', { name: 'Save as a new version' }).click();
    await page.getByText('The meaning of 1 model is different now').waitFor();
    await page.getByRole('link', { name: 'City/Car', exact: true }).waitFor();
    await page.getByText('What changes').click();
    await page.getByText('"speed" means urn:terms:speed, meant https://terms.example/speed').waitFor();
    await page.getByRole('button', { name: 'Show the context' }).click();
    await page.getByText('"speed": "urn:terms:speed"').waitFor();
    await endFlow(flow);
  });
}

/** Drops a file or folder of this machine onto the page, as a window manager does. */
async function drop(page: Page, path: string): Promise<void> {
  const zone = await page.locator('.drop').boundingBox();
  assert.ok(zone !== null);
  const session = await page.context().newCDPSession(page);
  const [x, y] = [zone.x + zone.width / 2, zone.y + zone.height / 2];
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', {
      type,
      x,
      y,
      data: { items: [], files: [path], dragOperationsMask: 1 },
    });
}
