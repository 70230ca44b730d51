import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { openConsole } from '../browser.js';
import { endFlow, openFlow, tabTo, type Flow } from './flow.js';

const SCHEMA = {
  type: 'object',
  required: ['id', 'type', 'speed'],
  properties: {
    id: { type: 'string' },
    type: { const: 'Bike' },
    speed: { type: 'number' },
    status: { enum: ['free', 'taken'] },
    owner: { type: 'string' },
  },
};

const WRONG = `{
  "id": "urn:ngsi-ld:Bike:1",
  "type": "Bike",
  "sped":   {"type": "Property", "value": 12.50},
  "status": {"type": "Property", "value": "fre"}
}`;

async function openBench(browser: Browser): Promise<Flow> {
  const flow = await openFlow(browser, '#/overview', () => {});
  const post = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' };
    const { status } = await flow.gateway.send('POST', path, { headers, body: JSON.stringify(body) });
    assert.equal(status, 201);
  };
  await post('/api/v2/domains', { name: 'City' });
  await post('/api/v2/domains/City/models', { name: 'Bike', schema: SCHEMA });
  await flow.page.goto(`${flow.gateway.url}/console/#/workbench`);
  return flow;
}

/**
 * The editor in each part of the page, by name; after a click, the other part appears a moment
 * later.
 */
const editorOf = {
  validate: (page: Page) => page.getByRole('textbox', { name: /^Entity or array/ }),
  jsonld: (page: Page) => page.getByRole('textbox', { name: /^Document/ }),
};

/**
 * Replaces the content of the editor as a user does, by deleting it first. Otherwise Chromium gives
 * the new text the style of the selected text.
 */
async function paste(page: Page, text: string, editor = editorOf.validate): Promise<void> {
  await editor(page).focus();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

const textIn = async (page: Page): Promise<string> =>
  (await page.locator('.code-host .cm-line').allInnerTexts())
    .map((line) => line.replace(/\n$/, ''))
    .join('\n');

/** Opens an empty workbench. */
async function clear(page: Page): Promise<void> {
  await page.evaluate("location.hash = '#/workbench'");
  await page.getByRole('link', { name: 'Validate', exact: true }).click();
  await paste(page, ' ');
  await page.getByLabel('Form').selectOption('');
  await page.getByLabel('Model').fill('');
}

/** Entities in the workbench: fixed with a click, expanded and compacted. */
export function workbenchFlows(browser: () => Browser): void {
  describe('the workbench in a browser', { concurrency: 1 }, () => {
    let flow: Flow;
    let page: Page;
    before(async () => {
      flow = await openBench(browser());
      ({ page } = flow);
    });
    after(async () => endFlow(flow));

    it('an entity is fixed by clicks on suggestions, and the rest of its text stays unchanged', async () => {
      await clear(page);
      await paste(page, WRONG);
      await page.getByText('Not valid', { exact: true }).waitFor();
      await page.getByText('did you mean "free"?').waitFor();
      await page.getByText('5:43', { exact: true }).click();
      await page.locator('.cm-lintRange-error').first().waitFor();
      await page.getByRole('button', { name: 'Rename to speed' }).click();
      await page.getByText('1 error, 0 warnings').waitFor();
      await page.getByRole('button', { name: 'Change to "free"' }).click();
      await page.getByText('Valid', { exact: true }).waitFor();
      assert.equal(await textIn(page), WRONG.replace('sped', 'speed').replace('fre"', 'free"'));
      assert.ok(await page.getByRole('link', { name: 'City/Bike' }).isVisible());
    });

    it('the detected form of an entity is shown, and another form or model can be chosen', async () => {
      await clear(page);
      await paste(page, '{"id": "urn:ngsi-ld:Bike:1", "type": "Bike", "speed": 3, "status": "tken"}');
      await page.getByText('read as Key-values (simplified)').waitFor();
      await page.getByRole('button', { name: 'Change to "taken"' }).waitFor();
      await page.getByLabel('Form').selectOption('normalized');
      await page.getByText('read as Normalized').waitFor();
      await page.getByLabel('Form').selectOption('');
      await page.getByLabel('Model').fill('City/Cart');
      await page.getByText('404', { exact: true }).waitFor();
      await page.getByLabel('Model').fill('City');
      await page.getByText('Enter it as Domain/Model.').first().waitFor();
      for (const typed of ['City/', 'bik', 'City/Bi']) {
        await page.getByLabel('Model').fill(typed);
        await page.locator('datalist option[value="City/Bike"]').waitFor({ state: 'attached' });
        await page.getByLabel('Model').fill('');
        await page.locator('datalist option').waitFor({ state: 'detached' });
      }
      await page.getByLabel('Model').fill('');
      await paste(page, '{"id": "urn:ngsi-ld:Cart:1", "type": "Cart"}');
      await page.getByRole('link', { name: 'Create one from this entity' }).waitFor();
      await paste(page, '{"id": "urn:ngsi-ld:Cart:1", "type": }');
      await page
        .getByText(/line 1, column/)
        .first()
        .waitFor();
    });

    it('many entities are checked at once, and all suggestions are applied with one click', async () => {
      await clear(page);
      const bikes = Array.from({ length: 60 }, (_, index) => ({
        id: `urn:ngsi-ld:Bike:${String(index)}`,
        type: 'Bike',
        speed: 3,
        status: index < 3 ? 'fre' : 'free',
      }));
      await paste(page, JSON.stringify(bikes));
      await page.getByRole('button', { name: 'Apply all 3 suggestions' }).click();
      await page.getByText('10 more entities are valid or not shown.').waitFor();
      await page.getByRole('button', { name: /^Apply all/ }).waitFor({ state: 'detached' });
      assert.equal(await page.getByText('Not valid', { exact: true }).count(), 0);
    });

    it('a document is expanded and compacted side by side, with the data that JSON-LD drops', async () => {
      await clear(page);
      await page.getByRole('link', { name: 'Expand and compact' }).click();
      await paste(
        page,
        '{"@context": {}, "id": "urn:ngsi-ld:Bike:1", "type": "Bike", "speed": 2}',
        editorOf.jsonld,
      );
      const [expanded, compacted] = ['Expanded', 'Compacted'].map((name) =>
        page.getByRole('region', { name }),
      );
      assert.ok(expanded !== undefined && compacted !== undefined);
      await expanded.getByText('warning').first().waitFor();
      await paste(page, '{"id": "urn:ngsi-ld:Bike:1", "type": "Bike", "speed": 2}', editorOf.jsonld);
      await expanded.getByText('https://uri.etsi.org/ngsi-ld/default-context/speed').waitFor();
      await expanded.getByText('Nothing is dropped.').waitFor();
      await page.getByLabel('Context', { exact: true }).selectOption('inline');
      await page.getByLabel('Context (JSON)').fill('{"speed": "https://example.org/speed", "id": "@id"}');
      await expanded.getByText('https://example.org/speed').waitFor();
      await page.getByLabel('Context (JSON)').fill('{');
      await expanded.getByText('This is not valid JSON.').waitFor();
      await page.getByLabel('Context', { exact: true }).selectOption('url');
      await page
        .locator('datalist option[value$="/api/v2/contexts/City~Bike"]')
        .waitFor({ state: 'attached' });
      await page.getByLabel('URL of the context').fill('https://elsewhere.example/context.jsonld');
      await compacted.getByText('422', { exact: true }).waitFor();
    });

    it('an entity is fixed with the keyboard alone, and the editor does not trap the focus', async () => {
      await clear(page);
      await editorOf.validate(page).focus();
      await page.keyboard.insertText('{"id": "urn:ngsi-ld:Bike:1", "type": "Bike", "speed": "3"}');
      await page.getByRole('button', { name: 'Change to 3' }).waitFor();
      await tabTo(page, /^Change to 3$/);
      await page.keyboard.press('Enter');
      await page.getByText('Valid', { exact: true }).waitFor();
    });

    it('text typed faster than the page draws is kept, with each key in its place', async () => {
      const other = await openConsole(browser(), flow.gateway.url, '#/workbench', { slowMs: 200 });
      await editorOf.validate(other.page).focus();
      await other.page.keyboard.type('12345678901234567890');
      await other.page.keyboard.press('ArrowLeft');
      await other.page.keyboard.type('12345678901234567890');
      await other.page.getByText('1234567890123456789123456789012345678900', { exact: true }).waitFor();
      await endFlow(other);
    });

    it('content of entities is never shown as markup in the workbench', async () => {
      await clear(page);
      const markup = '<img src=x onerror=reportFault(1)>';
      const entity = { id: 'urn:ngsi-ld:Bike:1', type: 'Bike', speed: 3, status: markup, [markup]: markup };
      await paste(page, JSON.stringify(entity));
      await page.getByText('Not valid', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Expand and compact' }).click();
      await page.getByText('Compacted').first().waitFor();
      await page.getByLabel('Expanded', { exact: true }).last().waitFor();
      assert.equal(await page.locator('img').count(), 0);
    });
  });
}
