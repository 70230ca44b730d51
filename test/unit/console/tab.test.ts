import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { getDraft, restoreDrafts, setDraft } from '../../../console/shared/drafts.js';
import { count, rate, time } from '../../../console/shared/format.js';
import { setAddress, parseRoute, replaceAddress, routeTo } from '../../../console/shared/router.js';
import { applyTheme, storedTheme } from '../../../console/shared/theme.js';
import * as places from '../../../console/models/routes.js';
import { openTab } from './open-tab.js';
import { words } from '../../support/words.js';

const page = openTab();

/** Whether the browser asks before the page is left. */
const asks = () => !page.window.dispatchEvent(new Event('beforeunload', { cancelable: true }));

it('the browser asks before the page is left exactly while there is unsaved text', () => {
  assert.ok(!asks());
  setDraft('a', { text: 1 });
  setDraft('b', { text: 2 });
  assert.ok(asks());
  assert.deepEqual([getDraft('a'), getDraft('b')], [{ text: 1 }, { text: 2 }]);
  setDraft('a', undefined);
  assert.ok(asks());
  assert.deepEqual([getDraft('a'), getDraft('b')], [undefined, { text: 2 }]);
  setDraft('b', undefined);
  assert.ok(!asks());
});

it('stored drafts that cannot be read are removed and do not stop the page', () => {
  const name = 'ngsi-ld-gateway.drafts';
  for (const damaged of [
    '',
    '{',
    'null',
    '{}',
    '"a"',
    '[1]',
    '[null]',
    '[["a"]]',
    '[["a", null]]',
    '[[1, {}]]',
  ]) {
    page.session.kept.set(name, damaged);
    restoreDrafts();
    assert.deepEqual(
      [getDraft('a'), asks(), page.session.kept.has(name)],
      [undefined, false, false],
      damaged,
    );
  }
  page.session.kept.set(name, '[1, ["a", {"text": 1}]]');
  restoreDrafts();
  assert.deepEqual(getDraft('a'), { text: 1 });
});

it('an address leads back to the parts of which it was made, whatever these are', () => {
  const part = fc.string({ unit: 'grapheme', minLength: 1 }).filter((one) => !/\p{Surrogate}/u.test(one));
  const names = fc.dictionary(fc.constantFrom('a', 'b c', 'd&'), part, { noNullPrototype: true });
  fc.assert(
    fc.property(fc.array(part), names, (path, params) => {
      const route = parseRoute(routeTo(path, params));
      assert.deepEqual(route.path, path);
      assert.deepEqual(Object.fromEntries(route.params), params);
    }),
  );
});

it('empty parts are left out of an address, and unreadable parts are left unchanged', () => {
  assert.equal(routeTo(['a b', 'c/d'], { x: '', y: undefined, z: '1' }), '#/a%20b/c%2Fd?z=1');
  assert.equal(routeTo(['a'], { x: undefined }), '#/a');
  for (const hash of ['', '#', '#/', '#//']) assert.deepEqual(parseRoute(hash).path, []);
  assert.deepEqual(parseRoute('#/%/a%2Fb?x=1?2').path, ['%', 'a/b']);
  assert.equal(parseRoute('#/%/a?x=1?2').params.get('x'), '1?2');
});

it('the state of a page is kept in its address without a step in the history, and only when it changes', () => {
  page.location.hash = '#/a';
  setAddress('#/a');
  setAddress('#/b');
  assert.deepEqual(page.history.replaced, [[{ kept: true }, '#/b']]);
  page.history.replaceState = () => {
    throw new DOMException('too often', 'SecurityError');
  };
  setAddress('#/c');
  replaceAddress('#/d');
  assert.deepEqual(page.location.replaced, ['#/d']);
});

it('places of the models section cannot be confused with domains, models and their names', () => {
  const car = { domain: 'City', name: 'a/b' };
  for (const [place, hash] of [
    [places.toModels({ q: 'x' }), '#/models?q=x'],
    [places.toDomain('a/b', { page: '2' }), '#/models/a%2Fb?page=2'],
    [places.toModel(car), '#/models/City/a%2Fb'],
    [places.toModel(car, 'versions', { to: '2' }), '#/models/City/a%2Fb/versions?to=2'],
    [places.toModel(car, 'schema'), '#/models/City/a%2Fb'],
    [places.toNewModel('City'), '#/models/~new?domain=City'],
    [places.toImport(), '#/models/~import'],
    [places.toContexts({ page: '2' }), '#/models/~contexts?page=2'],
    [places.toContext('a', 'edit'), '#/models/~contexts/a/edit'],
    [places.toContext('a'), '#/models/~contexts/a'],
    [places.toReferences(), '#/models/~references'],
    [places.toReference('https://a/b#c'), '#/models/~references/https%3A%2F%2Fa%2Fb%23c'],
  ])
    assert.equal(place, hash);
});

it('the theme is kept in the browser, unless it is that of the machine', () => {
  const { dataset } = document.documentElement;
  for (const theme of ['dark', 'light'] as const) {
    applyTheme(theme);
    assert.deepEqual([dataset['theme'], storedTheme()], [theme, theme]);
  }
  applyTheme('system');
  assert.deepEqual([dataset['theme'], page.local.kept.size, storedTheme()], [undefined, 0, 'system']);
  page.local.kept.set('ngsi-ld-gateway.theme', 'pink');
  assert.equal(storedTheme(), 'system');
  page.local.isOff = true;
  applyTheme('dark');
  assert.deepEqual([dataset['theme'], storedTheme()], ['dark', 'dark']);
});

it('counts have groups of three digits and no fraction, and rates three digits', () => {
  assert.deepEqual(
    [0, 999, 1234, 1_234_567, 2 ** 53 - 1].map(count),
    words(`
      0 999 1,234 1,234,567 9,007,199,254,740,991
    `),
  );
  assert.deepEqual([0.5, 12.345, 1234, 98_765].map(rate), ['0.5/s', '12.3/s', '1,230/s', '98,800/s']);
});

it('a time is shown in its time zone, which is named, and an invalid one unchanged', () => {
  assert.match(time('2026-11-26T13:03:05Z', 'Europe/Madrid'), /^26 Nov 2026, 14:03:05 (?:CET|GMT\+1)$/);
  assert.equal(time(Date.parse('2026-11-26T13:03:05Z'), 'UTC'), '26 Nov 2026, 13:03:05 UTC');
  assert.equal(time('never'), 'never');
});
