import assert from 'node:assert/strict';
import { it } from 'node:test';
import { h } from 'preact';
import { MergeEditor } from '../../../console/editor/merge-editor.js';
import type { Side } from '../../../console/editor/merge-view.js';
import { VersionCompare } from '../../../console/models/version-compare.js';
import { text } from '../../../console/strings.js';
import { openTab, problem, tagged } from './open-tab.js';

const page = openTab({ hasShadows: true });
const [older, newer] = [
  { label: 'Version 1', value: '{"a": 1}' },
  { label: 'Version 2', value: '{"a": 2}' },
];
/** The comparisons that were shown, and those that were removed. */
const views = () => {
  const calls: unknown[] = [];
  const showing =
    (kind: string) =>
    (_root: ShadowRoot, ...[left, right, label]: [Side, Side, string?]) => {
      calls.push([kind, left.value, right.value, ...(label === undefined ? [] : [label])]);
      return () => void calls.push(`${kind} removed`);
    };
  const load = async () => ({ showMerge: showing('beside'), showUnified: showing('unified') });
  return { calls, load };
};

it('two texts are side by side with the older one on the left, or in one column on a narrow page', async () => {
  const { calls, load } = views();
  const one = await page.open(h(MergeEditor, { label: 'L', older, newer, load }));
  assert.deepEqual(calls, [['beside', older.value, newer.value]]);
  assert.equal(one.text, 'Version 1Version 2');
  await one.act(() => {
    page.media.matches = true;
    page.media.dispatchEvent(new Event('change'));
  });
  assert.deepEqual(calls.slice(1), ['beside removed', ['unified', older.value, newer.value, 'L']]);
  assert.equal(one.text, '');
  await one.leave();
  assert.equal(calls.at(-1), 'unified removed');
  page.media.matches = false;
  page.media.dispatchEvent(new Event('change'));
  assert.equal(calls.length, 4);
});

it('new texts replace those that are shown', async () => {
  const { calls, load } = views();
  const one = await page.open(h(MergeEditor, { label: 'L', older, newer, load }));
  for (const [left, right] of [
    [older, { ...newer, value: '3' }],
    [
      { ...older, value: '2' },
      { ...newer, value: '3' },
    ],
  ] as const) {
    await one.give(h(MergeEditor, { label: 'L', older: left, newer: right, load }));
    assert.deepEqual(calls.slice(-2), ['beside removed', ['beside', left.value, right.value]]);
  }
});

it('a comparison that cannot be loaded or shown says so instead of loading for ever', async () => {
  const fail = () => {
    throw new Error('no room for it');
  };
  for (const load of [
    async () => Promise.reject(new Error('no room for it')),
    async () => ({ showMerge: fail, showUnified: fail }),
  ]) {
    const one = await page.open(h(MergeEditor, { label: 'L', older, newer, load }));
    assert.ok(one.text.includes('no room for it'), one.text);
    assert.equal(one.text.includes(text.state.loading), false);
  }
});

it('a comparison says that it is loading, and shows nothing once it was left', async () => {
  const { calls, load } = views();
  let go: () => void = () => undefined;
  const waiting = async () => {
    await new Promise<void>((resolve) => (go = resolve));
    return load();
  };
  const one = await page.open(h(MergeEditor, { label: 'L', older, newer, load: waiting }));
  assert.ok(one.text.includes(text.state.loading));
  await one.leave();
  go();
  await one.act(() => undefined);
  assert.deepEqual(calls, []);
});

it('an error while reading versions is shown with a retry', async () => {
  const model = { domain: 'D', name: 'M' };
  const path = 'GET api/v2/domains/D/models/M';
  const diff = { change: { overall: 'compatible', differences: [] }, pointers: [], pointersTotal: 0 };
  const answers = {
    [`${path}/versions/diff`]: () => Response.json(diff),
    [`${path}?version=1`]: () => tagged({ schema: { title: 'old' } }),
    [`${path}?version=2`]: () => tagged({ schema: { title: 'new' } }),
  };
  for (const broken of Object.keys(answers)) {
    page.serve({ ...answers, [broken]: () => problem(503, { detail: 'not now' }) });
    const one = await page.open(h(VersionCompare, { of: model, from: 1, to: 2 }));
    assert.ok(one.text.includes('not now'), broken);
    assert.equal(one.text.includes(text.state.loading), false);
    page.serve(answers);
    await one.press(text.state.retry);
    assert.ok(one.text.includes(text.models.report), broken);
  }
});
