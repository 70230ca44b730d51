import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Browser } from 'playwright-core';
import { endFlow } from './flow.js';
import { carSchema, fillEditor, get, openModels, put } from './models.js';

/** The pages of a model: creating, changing and comparing it. */
export function modelFlows(browser: () => Browser): void {
  it('an older version is restored as a draft of the next one, and saved after a review', async () => {
    const car = (properties: object) => ({ schema: { type: 'object', properties } });
    const flow = await openModels(browser(), '/City/Car/versions', [
      ['/domains', { name: 'City' }],
      ['/domains/City/models/Car', car({ speed: { type: 'number' } })],
      ['/domains/City/models/Car', car({ colour: { type: 'string' } })],
    ]);
    const { page, gateway } = flow;
    await page.getByRole('button', { name: 'Restore version 1' }).click();
    await page.getByText('property "speed" is new').waitFor();
    await page.getByRole('link', { name: 'Versions' }).click();
    // Unsaved changes are not replaced.
    await page.getByRole('button', { name: 'Restore version 1' }).click();
    await page.getByText('Save or discard them first.').waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page
      .locator('.heading')
      .getByText(/version 3/i)
      .waitFor();
    const { schema } = await get(gateway, '/domains/City/models/Car');
    assert.deepEqual(schema, car({ speed: { type: 'number' } }).schema);
    await endFlow(flow);
  });

  it('a model is created from a sample; a breaking change is refused with its report, and can be saved in another way', async () => {
    const flow = await openModels(browser(), '');
    const { page, gateway } = flow;
    await page.getByRole('link', { name: 'Create a model from a sample' }).click();
    const sample = {
      id: 'urn:ngsi-ld:Car:1',
      type: 'Car',
      speed: { type: 'Property', value: 30 },
      owner: { type: 'Relationship', object: 'urn:ngsi-ld:Person:1' },
    };
    await fillEditor(page, 'One entity, or a list of them', JSON.stringify(sample));
    await page.getByRole('button', { name: 'Make a schema from it' }).click();
    await page.getByText('The schema is below.').waitFor();
    await page.getByLabel('Name of the new domain').fill('City');
    assert.equal(await page.getByLabel('Name of the model').inputValue(), 'Car');
    await page.getByRole('button', { name: 'Create the model' }).click();
    await page.getByRole('heading', { name: 'Car', exact: true }).waitFor();
    const made = (await get(gateway, '/domains/City/models/Car'))['schema'] as {
      examples: unknown;
    };
    assert.deepEqual(made.examples, [
      { id: 'urn:ngsi-ld:Car:1', type: 'Car', speed: 30, owner: 'urn:ngsi-ld:Person:1' },
    ]);

    await put(gateway, '/domains/City', { compatibility: 'backward' });
    await page.reload();
    const changed = carSchema({ speed: { type: 'string' } }, ['colour']);
    await fillEditor(page, 'JSON Schema', JSON.stringify(changed, null, 2));
    await page.getByText('This change is refused').waitFor();
    await page.getByText('property "colour" is required now').waitFor();
    await page.getByText('An entity that was valid and no longer is').first().click();
    await page.locator('.differences pre').first().getByText('urn:ngsi-ld:Car:1').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled());
    assert.equal((await get(gateway, '/domains/City/models/Car'))['version'], 1);

    await page.getByLabel('Compatibility for this save').selectOption('none');
    await page.getByRole('button', { name: 'Save the breaking change as version 2' }).click();
    await page.getByText('Saved. The current version is 2.').waitFor();
    assert.deepEqual((await get(gateway, '/domains/City/models/Car'))['schema'], changed);

    await page.getByRole('link', { name: 'Versions' }).click();
    await page.getByRole('group', { name: 'Version 1 and version 2, side by side' }).waitFor();
    await page.getByRole('textbox', { name: 'Version 1' }).getByText('"owner"').first().waitFor();
    await page.getByRole('textbox', { name: 'Version 2' }).getByText('"colour"').waitFor();
    await page.getByText('property "colour" is required now').waitFor();
    await endFlow(flow);
  });

  it('stored examples of a model are shown with their faults, opened in the workbench, added and deleted', async () => {
    const examples = '/domains/City/models/Car/examples';
    const flow = await openModels(browser(), '/City/Car/examples', [
      ['/domains', { name: 'City' }],
      ['/domains/City/models/Car', { schema: carSchema({ speed: { type: 'number' } }) }],
      [`${examples}/fast.jsonld`, { id: 'urn:ngsi-ld:Car:1', type: 'Car', speed: 'fast' }],
    ]);
    const { page, gateway } = flow;
    await page.locator('summary').getByText('not valid').waitFor();
    await page.locator('summary').getByText('fast.jsonld').click();
    await page.getByText('must be a number').waitFor();
    await page.getByRole('button', { name: 'Validate in the workbench' }).click();
    await page.waitForURL(/#\/workbench/);
    await page.getByText('1 error').waitFor();
    assert.equal(await page.getByRole('combobox', { name: 'Model', exact: true }).inputValue(), 'City/Car');
    await page.goBack();

    const entity = '{"id": "urn:ngsi-ld:Car:2", "type": "Car", "speed": 30.0}';
    await fillEditor(page, 'Entity', entity);
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.getByLabel('Name of the example').fill('fast.jsonld');
    await page.getByRole('button', { name: 'Store with the model' }).click();
    await page.getByText('already has an example called fast.jsonld').waitFor();
    await page.getByLabel('Name of the example').fill('slow.json');
    await page.getByRole('button', { name: 'Store with the model' }).click();
    await page.getByText('Stored as slow.json').waitFor();
    await page.locator('summary').getByText('slow.json').waitFor();
    const stored = await gateway.send('GET', `/api/v2${examples}/slow.json`);
    assert.equal(stored.text, entity);

    await page.locator('summary').getByText('fast.jsonld').click();
    await page.getByRole('button', { name: 'Delete…' }).last().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the example' }).click();
    await page.getByText('fast.jsonld', { exact: true }).waitFor({ state: 'detached' });
    assert.equal((await gateway.send('GET', `/api/v2${examples}/fast.jsonld`)).status, 404);
    await endFlow(flow);
  });

  it('faults of a schema are marked in place, and an update by another client is not overwritten', async () => {
    const flow = await openModels(browser(), '/City/Car', [
      ['/domains', { name: 'City' }],
      ['/domains/City/models/Car', { schema: carSchema({}) }],
    ]);
    const { page, gateway } = flow;
    await fillEditor(
      page,
      'JSON Schema',
      '{\n  "type": "object",\n  "properties": {"speed": {"type": "numbr"}}\n}',
    );
    await page.getByRole('button', { name: '/properties/speed/type' }).click();
    await page.keyboard.insertText('"number"');
    await page.getByText('Version 2 is created.').waitFor();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    // The keyword is suggested during typing.
    await fillEditor(page, 'JSON Schema', '{"type": "object", "prop');
    await page.getByRole('option', { name: /^properties/ }).click();
    await page.keyboard.press('Control+a');
    const mine = carSchema({ speed: { type: 'number' } });
    await page.keyboard.insertText(JSON.stringify(mine));
    await page.getByRole('button', { name: 'Save as version 2' }).waitFor();

    const theirs = carSchema({ doors: { type: 'integer' } });
    await put(gateway, '/domains/City/models/Car', { schema: theirs });
    await page.getByRole('button', { name: 'Save as version 2' }).click();
    await page.getByText('This was changed elsewhere in the meantime. Nothing was done.').waitFor();
    assert.deepEqual((await get(gateway, '/domains/City/models/Car'))['schema'], theirs);
    // The typed text is still there after a visit to another page.
    await page.getByRole('link', { name: 'Versions' }).click();
    await page.getByText('current', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Schema', exact: true }).click();
    await page.getByText('not saved').waitFor();
    await page.getByRole('button', { name: 'Continue with my text' }).click();
    await page.getByText('property "doors"').waitFor();
    await page.getByRole('button', { name: /as version 3$/ }).click();
    await page.getByText('Saved. The current version is 3.').waitFor();
    assert.deepEqual((await get(gateway, '/domains/City/models/Car'))['schema'], mine);
    // A new model does not replace an existing one either.
    await page.goto(`${gateway.url}/console/#/models/~new?domain=City`);
    await page.getByLabel('Name of the model').fill('Car');
    await fillEditor(page, 'JSON Schema', JSON.stringify(theirs));
    await page.getByText('There is already a model with this name. Nothing was overwritten.').waitFor();
    await endFlow(flow);
  });
}
