import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { h } from 'preact';
import {
  EMPTY_WORKBENCH,
  EXAMPLE,
  modelError,
  parseModel,
  saveWorkbench,
} from '../../../console/workbench/state.js';
import { WorkbenchPage } from '../../../console/workbench/workbench-page.js';
import { text } from '../../../console/strings.js';
import { openTab, problem, tagged } from './open-tab.js';

describe('the workbench', () => {
  const page = openTab();
  const t = text.workbench;

  /** The text that "Fill in an example" fills in, if a model is named. */
  async function filledIn(model: string): Promise<string> {
    saveWorkbench({ ...EMPTY_WORKBENCH, model });
    const one = await page.open(h(WorkbenchPage, { part: undefined }));
    await one.press(t.example);
    assert.doesNotMatch(one.text, /no valid example/);
    return one.field(t.text).value;
  }

  it('the workbench fills in an example of the named model: a stored one, or one of its schema, or a generated one', async () => {
    const own = { id: 'urn:x:1', type: 'Bike', speed: 12 };
    const schemas: Readonly<Record<string, object>> = { Own: { examples: [own, {}] }, Made: {} };
    const stored: Readonly<Record<string, readonly object[]>> = {
      Kept: [{ name: 'a.json', form: 'keyvalues' }, { name: 'b.jsonld', form: 'normalized' }, {}],
      Plain: [{ name: 'c.json' }, { name: 'd.json', form: 'ngsiv2' }],
    };
    page.answer = ({ url }) => {
      const [, name = ''] = /\/models\/(\w+)/.exec(url) ?? [];
      if (/\/examples\?/.test(url)) return Response.json(stored[name] ?? []);
      const [, example] = /\/examples\/(.+)/.exec(url) ?? [];
      if (example !== undefined) return Response.json({ id: `urn:x:${example}` });
      if (url.endsWith('/files/example-normalized.jsonld')) return Response.json({ id: 'urn:x:made' });
      return name in schemas ? tagged({ name, schema: schemas[name] }) : Response.json([]);
    };
    assert.equal(await filledIn(''), EXAMPLE);
    assert.deepEqual(JSON.parse(await filledIn('City/Kept')), { id: 'urn:x:b.jsonld' });
    assert.deepEqual(JSON.parse(await filledIn('City/Plain')), { id: 'urn:x:c.json' });
    assert.deepEqual(JSON.parse(await filledIn('City/Own')), own);
    assert.deepEqual(JSON.parse(await filledIn('City/Made')), { id: 'urn:x:made' });
  });

  it('the workbench says why a model has no example, and leaves the text', async () => {
    page.answer = ({ url }) => {
      if (url.includes('/files/')) return problem(404, { detail: 'The model has no valid example.' });
      const isModel = /\/models\/\w+$/.test(url);
      return isModel ? tagged({ name: 'Odd', schema: {} }) : Response.json([]);
    };
    saveWorkbench({ ...EMPTY_WORKBENCH, model: 'City/Odd', text: '{}' });
    const one = await page.open(h(WorkbenchPage, { part: undefined }));
    await one.press(t.example);
    assert.match(one.text, /no valid example/);
    assert.equal(one.field(t.text).value, '{}');
  });

  it('a model is named by its domain and its name, and by nothing else', () => {
    assert.deepEqual(parseModel(' City/Car '), ['City', 'Car']);
    for (const text of ['', 'City', 'City/', '/Car', 'City/Car/x', 'City/Car/']) {
      assert.equal(parseModel(text), undefined, text);
      assert.equal(modelError({ ...EMPTY_WORKBENCH, model: text }) === undefined, text === '', text);
    }
    for (const model of ['City/Car', ' ']) assert.equal(modelError({ ...EMPTY_WORKBENCH, model }), undefined);
  });
});
