import assert from 'node:assert/strict';
import { it } from 'node:test';
import { h } from 'preact';
import type { CodeViewOptions } from '../../../console/editor/code-view.js';
import { JsonEditor } from '../../../console/editor/json-editor.js';
import { text } from '../../../console/strings.js';
import { nameOf, openTab } from './open-tab.js';

const page = openTab({ hasShadows: true });
const errors = [
  { detail: 'at a pointer', pointer: '/a/b' },
  { detail: 'at a line', line: 3, column: 7 },
  { detail: 'at a line alone', line: 4 },
  { detail: 'at the whole', pointer: '' },
  { detail: 'nowhere' },
];
/** An editor that notes its calls. */
const editor = () => {
  const told: unknown[] = [];
  let options: CodeViewOptions | undefined;
  const showCode = (_root: ShadowRoot, given: CodeViewOptions) => {
    options = given;
    return {
      setValue: (value: string) => void told.push(['value', value]),
      setMarks: (marks: readonly object[]) => void told.push(['marks', marks]),
      reveal: (mark: object) => void told.push(['reveal', mark]),
      remove: () => void told.push('removed'),
    };
  };
  return {
    told,
    options: () => options ?? assert.fail('nothing was shown'),
    load: async () => ({ showCode }),
  };
};

it('an editor has the given text, label and size, and passes typed text on', async () => {
  const { told, options, load } = editor();
  const typed: string[] = [];
  const common = { label: 'Schema', errors: [], load };
  const one = await page.open(
    h(JsonEditor, { ...common, value: '{}', onInput: (next) => typed.push(`first ${next}`) }),
  );
  const { label, value, isSchema, heights } = options();
  assert.deepEqual([label, value, isSchema, heights], ['Schema', '{}', true, ['320px', '600px']]);
  assert.equal(one.text, '');
  await one.give(h(JsonEditor, { ...common, value: '[]', onInput: (next) => typed.push(`then ${next}`) }));
  assert.deepEqual(told.filter((it) => String(it).startsWith('value')).at(-1), ['value', '[]']);
  options().onInput('x');
  assert.deepEqual(typed, ['then x']);
  await one.leave();
  assert.equal(told.at(-1), 'removed');
  const other = editor();
  await page.open(
    h(JsonEditor, {
      label: 'Entity',
      value: '',
      onInput: () => undefined,
      errors: [],
      load: other.load,
      isSchema: false,
      height: 'short',
    }),
  );
  assert.deepEqual([other.options().isSchema, other.options().heights], [false, ['120px', '260px']]);
});

it('errors are listed with their places, which link to them, and marked', async () => {
  const { told, load } = editor();
  const one = await page.open(
    h(JsonEditor, { label: 'L', value: '', onInput: () => undefined, errors, load }),
  );
  assert.deepEqual(one.all('li').map(nameOf), [
    '/a/b at a pointer',
    '3:7 at a line',
    '4:1 at a line alone',
    '/ at the whole',
    '/ nowhere',
  ]);
  assert.deepEqual(told.at(-1), ['marks', errors]);
  await one.press('3:7');
  assert.deepEqual(told.at(-1), ['reveal', errors[1]]);
  const marks = [{ detail: 'else', pointer: '/x' }];
  await one.give(h(JsonEditor, { label: 'L', value: '', onInput: () => undefined, errors, marks, load }));
  assert.deepEqual(told.at(-1), ['marks', marks]);
  await one.give(
    h(JsonEditor, { label: 'L', value: '', onInput: () => undefined, errors: errors.slice(0, 1), load }),
  );
  assert.deepEqual(one.all('li').map(nameOf), ['/a/b at a pointer']);
  const many = Array.from({ length: 51 }, (_, line) => ({ detail: 'd', line }));
  await one.give(h(JsonEditor, { label: 'L', value: '', onInput: () => undefined, errors: many, load }));
  assert.equal(one.all('li').length, 50);
});

it('a place is shown each time that it is requested', async () => {
  const { told, load } = editor();
  const common = { label: 'L', value: '', onInput: () => undefined, errors: [], load };
  const reveals = () => told.filter((it) => String(it).startsWith('reveal')).length;
  const one = await page.open(h(JsonEditor, common));
  assert.equal(reveals(), 0);
  for (const [place, times] of [
    [{ pointer: '/a' }, 1],
    [{ pointer: '/a' }, 2],
  ] as const) {
    await one.give(h(JsonEditor, { ...common, place }));
    assert.equal(reveals(), times);
  }
});

it('an editor that cannot be loaded falls back to a plain field, and is not shown after its page was left', async () => {
  const load = async () => Promise.reject(new Error('no'));
  const common = { label: 'L', value: '{}', onInput: () => undefined, errors: [] };
  const one = await page.open(h(JsonEditor, { ...common, load }));
  assert.equal(one.field('L').value, '{}');
  let go: () => void = () => undefined;
  const { options, load: late } = editor();
  const waiting = async () => {
    await new Promise<void>((resolve) => (go = resolve));
    return late();
  };
  const other = await page.open(h(JsonEditor, { ...common, load: waiting }));
  assert.ok(other.text.includes(text.state.loading));
  await other.leave();
  go();
  await other.act(() => undefined);
  assert.throws(options);
});
