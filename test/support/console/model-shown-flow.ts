import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Browser } from 'playwright-core';
import { checkAccess } from './access.js';
import { endFlow, openFlow, tabTo, type Flow } from './flow.js';
import { carSchema, fillEditor, openModels } from './models.js';
import { itAtLength } from '../thoroughness.js';

/**
 * How the models section displays hostile content, can be used with the keyboard, and is
 * accessible.
 */
export function modelShownFlows(browser: () => Browser): void {
  itAtLength(
    'hostile names, descriptions, terms, changes and problems of models are shown as text',
    async () => {
      const flow = await openFlow(browser(), '#/elsewhere', () => undefined);
      await showHostile(flow);
      await endFlow(flow);
    },
  );

  it('models are read without the token, which is requested once for the first write, and typed text stays', async () => {
    const token = 'token-of-models';
    const flow = await openModels(browser(), '', [], { GATEWAY_TOKEN: token });
    const { page } = flow;
    await page.getByRole('button', { name: 'New domain' }).click();
    await page.getByLabel('Name', { exact: true }).fill('City');
    await page.getByRole('button', { name: 'Create the domain' }).click();
    await page.getByLabel('Token', { exact: true }).fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'City' }).waitFor();
    await page.getByRole('button', { name: 'Forget the token' }).click();
    await page.getByRole('link', { name: 'New model' }).click();
    await page.getByLabel('Name of the model').fill('Car');
    const text = JSON.stringify(carSchema({}));
    await fillEditor(page, 'JSON Schema', text);
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByText('Gateway token required').waitFor();
    await page.getByLabel('Description').fill('A car');
    await page.getByRole('button', { name: 'Enter the token' }).click();
    await page.getByLabel('Token', { exact: true }).fill(token);
    await page.keyboard.press('Enter');
    await page.getByText('A new model is created.').waitFor();
    await page.getByRole('button', { name: 'Create the model' }).click();
    await page.getByRole('heading', { name: 'Car' }).waitFor();
    await endFlow(flow);
  });

  it('text typed into a form stays while other pages are visited, until it is saved or discarded', async () => {
    const flow = await openModels(browser(), '/City/Car/settings', [
      ['/domains', { name: 'City' }],
      ['/domains/City/models/Car', { schema: carSchema({ speed: { type: 'number' } }) }],
    ]);
    const { page, gateway } = flow;
    const go = async (hash: string) => page.goto(`${gateway.url}/console/#/${hash}`);
    const forms = [
      ['models/City/Car/settings', 'Description', 'A car'],
      ['models/~contexts/~new', 'Name', 'own'],
      ['models/~new?domain=City', 'Name of the model', 'Bike'],
      ['retention/+', 'Name', 'old-cars'],
    ] as const;
    for (const [hash, label, typed] of forms) {
      await go(hash);
      await page.getByLabel(label, { exact: true }).fill(typed);
      await page.getByText('not saved', { exact: true }).waitFor();
    }
    await go('overview');
    for (const [hash, label, typed] of forms) {
      await go(hash);
      await page.getByText('not saved', { exact: true }).waitFor();
      assert.equal(await page.getByLabel(label, { exact: true }).inputValue(), typed);
    }
    await go(forms[0][0]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Nothing has been changed.').waitFor();
    for (const [hash, label] of forms.slice(1)) {
      await go(hash);
      await page.getByRole('button', { name: 'Discard the changes' }).click();
      assert.equal(await page.getByLabel(label, { exact: true }).inputValue(), '');
    }
    assert.equal(await page.getByText('not saved', { exact: true }).count(), 0);
    await endFlow(flow);
  });

  it('a typed schema is not replaced by one inferred from samples without a question', async () => {
    const flow = await openModels(browser(), '/~new');
    const { page } = flow;
    const make = page.getByRole('button', { name: 'Make a schema from it' });
    await fillEditor(page, 'One entity', '{"id": "urn:ngsi-ld:Car:1", "type": "Car", "speed": 3}');
    await make.click();
    await page.getByText('The schema is below.').waitFor();
    await make.click();
    await fillEditor(page, 'JSON Schema', '{"$comment": "mine"}');
    await make.click();
    await page.getByRole('heading', { name: 'Replace the schema?' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.cm-content').getByText('"mine"').waitFor();
    await make.click();
    await page.getByRole('button', { name: 'Replace', exact: true }).click();
    await page.locator('.cm-content').getByText('"mine"').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Discard the changes' }).click();
    await fillEditor(page, 'One entity', ' ');
    await endFlow(flow);
  });

  it('a model can be created with the keyboard alone', async () => {
    const flow = await openModels(browser(), '');
    const { page } = flow;
    await page.getByText('There are no domains yet.').waitFor();
    await tabTo(page, /^New model$/);
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'One entity, or a list of them' }).waitFor();
    await tabTo(page, /^One entity/);
    await page.keyboard.insertText('{"id": "urn:ngsi-ld:Car:1", "type": "Car", "speed": 3}');
    await tabTo(page, /^Make a schema from it$/);
    await page.keyboard.press('Enter');
    await page.getByText('The schema is below.').waitFor();
    await tabTo(page, /^Name of the new domain$/);
    await page.keyboard.type('City');
    await tabTo(page, /^Create the model$/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Car', exact: true }).waitFor();
    await endFlow(flow);
  });

  it('no page of the models section has a serious accessibility fault or is wider than a phone', async () => {
    const key = '/domains/City/models/Car';
    // The editor of the schema has to scroll.
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`attribute${index}`, {}]));
    const schema = {
      ...carSchema({ speed: { type: 'string' }, ...many }),
      examples: [{ id: 'x', type: 'Car' }],
    };
    const flow = await openModels(browser(), '', [
      ['/domains', { name: 'City', description: 'Of a city' }],
      [key, { schema: carSchema({ location: {}, speed: { type: 'number' }, ...many }) }],
      [key, { schema }],
      [`${key}/examples/stored.json`, { id: 'urn:x:1', type: 'Car', speed: 'fast' }],
    ]);
    const { page, gateway } = flow;
    for (const [hash, sign] of [
      ['', 'Of a city'],
      ['?q=Car', '1 model found'],
      ['/City', 'One context for all models of this domain'],
      ['/City/Car', 'Nothing has been changed.'],
      ['/City/Car/versions', 'Change report'],
      ['/City/Car/examples', 'stored.json'],
      ['/City/Car/openapi', 'operationId'],
      ['/City/Car/context', 'https://uri.etsi.org/ngsi-ld/default-context/speed'],
      ['/City/Car/settings', 'Nothing has been changed.'],
      ['/~new', 'Infer a schema from a sample'],
      ['/~import', 'Drop a .zip'],
      ['/~contexts', 'City~Car'],
      ['/~contexts/City~Car', 'default-context/speed'],
      ['/Nowhere', 'There is no domain'],
    ] as const) {
      await page.goto(`${gateway.url}/console/#/models${hash}`);
      await page.getByText(sign).first().waitFor();
      if (hash === '/City/Car' || hash.endsWith('/versions'))
        await page.locator('.cm-scroller').first().waitFor({ state: 'attached' });
      await checkAccess(page);
    }
    await endFlow(flow);
  });

  it('domains and models with long names, descriptions and attributes fit a phone', async () => {
    const [domain, name, long] = ['D'.repeat(128), 'M'.repeat(128), 'x'.repeat(300)];
    const schema = carSchema({ [long]: { type: 'number', description: long, enum: [1] } });
    const flow = await openModels(browser(), '', [
      ['/domains', { name: domain, description: long }],
      [`/domains/${domain}/models/${name}`, { schema, description: long }],
    ]);
    const { page, gateway } = flow;
    await page.setViewportSize({ width: 360, height: 740 });
    for (const [hash, sign] of [
      [`/${domain}`, 'One context for all models of this domain'],
      [`/${domain}/${name}`, 'Nothing has been changed.'],
      [`/${domain}/${name}/attributes`, 'Unit'],
      [`/${domain}/${name}/context`, 'default-context'],
    ] as const) {
      await page.goto(`${gateway.url}/console/#/models${hash}`);
      await page.getByText(sign).first().waitFor();
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      assert.ok(Number(overflow) <= 0, `${hash.slice(-12)} is ${String(overflow)} pixels too wide`);
    }
    await endFlow(flow);
  });
}

const MARKUP = '<img src=x onerror=reportFault(1)><b>bold</b>';

/** Shows every page of the section, with markup in everything the gateway returns. */
async function showHostile({ page, gateway }: Flow): Promise<void> {
  const fulfil = (body: unknown, status = 200) => ({
    status,
    contentType: 'application/json',
    headers: { etag: '"e"' },
    body: JSON.stringify(body),
  });
  const difference = {
    pointer: MARKUP,
    class: 'breaking',
    reason: 'type',
    detail: MARKUP,
    witness: { a: MARKUP },
  };
  const change = { overall: 'breaking', differences: [difference] };
  const warnings = [{ code: MARKUP, term: MARKUP, detail: MARKUP, pointer: MARKUP }];
  const model = {
    domain: MARKUP,
    name: MARKUP,
    description: MARKUP,
    status: 'deprecated',
    compatibility: 'none',
    version: 2,
    contextName: MARKUP,
    createdAt: MARKUP,
    modifiedAt: MARKUP,
    dialect: MARKUP,
    schema: { title: MARKUP, examples: [MARKUP] },
    context: MARKUP,
    references: [],
    warnings,
    sunset: MARKUP,
    deprecatedAt: MARKUP,
    contextBase: MARKUP,
  };
  const context = { name: MARKUP, kind: 'custom', version: 1, url: MARKUP };
  const terms = {
    '@context': { [MARKUP]: { '@id': MARKUP, '@type': MARKUP }, j: 'javascript:reportFault(1)' },
  };
  const openapi = {
    paths: { [MARKUP]: { get: { summary: MARKUP, parameters: [{ name: MARKUP, description: MARKUP }] } } },
    components: { schemas: { [MARKUP]: { properties: { [MARKUP]: { type: MARKUP } } } } },
  };
  const problem = { type: 'about:blank', title: MARKUP, status: 400, detail: MARKUP };
  await page.route('**/api/v2/**', (route) => {
    const { pathname, searchParams } = new URL(route.request().url());
    if (pathname.endsWith('/infer')) return route.fulfill(fulfil(problem, 400));
    if (pathname.endsWith('/expand'))
      return route.fulfill(
        fulfil({ result: [{ 'javascript:reportFault(1)': 'urn:console:term:1' }], warnings }),
      );
    if (pathname.endsWith('/import')) {
      const files = [{ path: MARKUP, status: 'refused', reason: MARKUP, url: MARKUP, model: MARKUP }];
      const summary = {
        dryRun: true,
        domains: [MARKUP],
        created: 1,
        updated: 0,
        unchanged: 0,
        refused: 1,
        ignored: 0,
        models: 1,
        examples: { valid: 0, invalid: 0, unchecked: 0, kept: 0, leftOut: 0 },
      };
      return route.fulfill(fulfil({ summary, files, dependents: [] }));
    }
    if (pathname.endsWith('/examples'))
      return route.fulfill(fulfil([{ name: MARKUP, size: 1, sha256: MARKUP, url: MARKUP }]));
    if (pathname.endsWith('/domains')) return route.fulfill(fulfil([model]));
    if (pathname.endsWith('/models')) return route.fulfill(fulfil([model]));
    if (pathname.endsWith('/warnings')) return route.fulfill(fulfil(warnings));
    if (pathname.endsWith('/contexts')) return route.fulfill(fulfil([context]));
    if (pathname.endsWith('/versions'))
      return route.fulfill(fulfil([{ ...model, change: 'breaking', size: 1 }]));
    if (pathname.endsWith('/diff'))
      return route.fulfill(fulfil({ from: 1, to: 2, change, pointers: [], pointersTotal: 0 }));
    if (pathname.endsWith('/openapi.json')) return route.fulfill(fulfil(openapi));
    if (pathname.endsWith('/context') || pathname.includes('/contexts/')) return route.fulfill(fulfil(terms));
    if (searchParams.has('dryRun')) return route.fulfill(fulfil({ ...problem, report: change }, 409));
    return route.fulfill(fulfil(model));
  });
  const name = encodeURIComponent(MARKUP);
  for (const hash of [
    '',
    `?q=${name}`,
    `/${name}`,
    `/${name}/${name}`,
    `/${name}/${name}/versions`,
    `/${name}/${name}/examples`,
    `/${name}/${name}/openapi`,
    `/${name}/${name}/context`,
    `/${name}/${name}/settings`,
    '/~contexts',
    `/~contexts/${name}`,
    '/~import',
  ]) {
    // Nothing of the page before may be mistaken for this page.
    await page.goto('about:blank');
    await page.goto(`${gateway.url}/console/#/models${hash}`);
    if (hash === '/~import')
      await page
        .locator('input[type=file]')
        .first()
        .setInputFiles({ name: `${MARKUP}.json`, mimeType: 'application/json', buffer: Buffer.from('{}') });
    await page.locator('main').getByText(MARKUP).first().waitFor();
    if (hash.endsWith('/context')) await page.getByText('javascript:reportFault(1)').waitFor();
    assert.equal(await page.locator('img, b, a[href^="javascript:"]').count(), 0, hash);
  }
  await page.goto(`${gateway.url}/console/#/models/${name}/${name}`);
  await fillEditor(page, 'JSON Schema', '{"type": "object"}');
  await page.getByText('This change is refused').waitFor();
  assert.equal(await page.locator('img, b').count(), 0);
}
