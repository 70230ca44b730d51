import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { h } from 'preact';
import { SampleList } from '../../../console/entities/sample-list.js';
import { text } from '../../../console/strings.js';
import { SAMPLE_DRAFT } from '../../../console/models/sample-card.js';
import { getDraft } from '../../../console/shared/drafts.js';
import { savedWorkbench, EMPTY_WORKBENCH } from '../../../console/workbench/state.js';
import { ValidatePanel } from '../../../console/workbench/validate-panel.js';
import { openTab, problem } from './open-tab.js';

const CAR = `{"id": "urn:Car:1", "type": ["Car", "Thing"], "createdAt": "2026-01-01T00:00:00Z",
  "speed": {"type": "Property", "value": 12345678901234567890, "unitCode": "KMH"},
  "owner": {"type": "Relationship", "object": "urn:Person:1"},
  "trips": [{"type": "Property", "value": 1}, {"type": "Property", "value": 2, "datasetId": "urn:d"}]}`;

describe('an entity from a list of matches', () => {
  const page = openTab();
  const open = async (place: object = {}, label = 'Sample') => {
    const list = await page.open(h(SampleList, { ids: ['urn:Car:1', 'urn:Car:2'], place, label }));
    await list.press('urn:Car:1');
    return list;
  };

  it('an entity is read from its tenant and context, and goes to the workbench as it was stored', async () => {
    page.serve({ 'GET ngsi-ld': () => new Response(CAR) });
    const list = await open({ tenant: 'madrid', link: '<https://c.test>; rel="x"' });
    const [read] = page.sent;
    assert.deepEqual(page.lines, ['GET ngsi-ld/v1/entities/urn%3ACar%3A1']);
    assert.deepEqual(
      [read?.headers.get('ngsild-tenant'), read?.headers.get('link'), read?.headers.get('x-gateway-token')],
      ['madrid', '<https://c.test>; rel="x"', null],
    );
    assert.match(list.text, /tenant madrid.*/);
    assert.deepEqual(JSON.parse(list.all('pre')[0]?.textContent ?? ''), JSON.parse(CAR));
    await list.press(text.quality.open);
    assert.deepEqual(
      [page.location.hash, JSON.parse(savedWorkbench().text)],
      ['#/workbench', JSON.parse(CAR)],
    );
    assert.match(savedWorkbench().text, /12345678901234567890/);
    await list.press(text.entity.close);
    assert.equal(list.all('dialog').length, 0);
  });

  it('an entity that is missing is shown with the error', async () => {
    page.serve({ 'GET ngsi-ld': () => problem(404, { detail: 'It does not exist.' }) });
    const list = await open();
    assert.ok(list.text.includes('It does not exist.'));
  });

  it('the newest instances of a history are read, and cannot go to the workbench', async () => {
    page.serve({ 'GET ngsi-ld': () => new Response(CAR) });
    const list = await open({ target: 'temporal' });
    assert.deepEqual(page.lines, ['GET ngsi-ld/v1/temporal/entities/urn%3ACar%3A1?lastN=10']);
    assert.ok(list.text.includes(text.entity.newest));
    assert.ok(!list.buttons.includes(text.quality.open));
  });
});

describe('an entity whose type has no model', () => {
  const page = openTab();
  const bench = async (entityText: string) => {
    const panel = await page.open(
      h(ValidatePanel, { workbench: { ...EMPTY_WORKBENCH, text: entityText }, onChange: () => undefined }),
    );
    await panel.pass(450);
    return panel;
  };

  it('an entity becomes the sample of a new model', async () => {
    page.serve({ 'POST api/v2/validate': () => problem(404) });
    const panel = await bench(CAR);
    assert.ok(!panel.buttons.some((name) => name.includes('Examples')));
    await panel.press(text.workbench.makeModel);
    assert.deepEqual(getDraft(SAMPLE_DRAFT), { sample: CAR });
  });
});
