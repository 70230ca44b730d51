import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { ApiError, UnreachableError } from '../../../console/api/client.js';
import { errorDetail, errorTitle, brokerProblem, previewTitle } from '../../../console/parts/states.js';
import {
  confirmedForm,
  hasBound,
  isCount,
  couldBeCount,
  contextOf,
  linkTo,
  EMPTY_FORM,
  FIELDS,
  formOf,
  isEmpty,
  queryOf,
  previewKey,
  previewQuery,
} from '../../../console/purge/form.js';
import { LAST_STEP, limitOf, stepOf } from '../../../console/purge/throttle.js';
import { text } from '../../../console/strings.js';

const target = fc.constantFrom('entities', 'temporal');
const value = fc.constantFrom('', ' ', 'a', 'b');
const forms = fc.record({
  target,
  tenant: value,
  link: value,
  fields: fc.dictionary(fc.constantFrom(...FIELDS), value, { noNullPrototype: true }),
  more: fc.constantFrom('', ' ', 'local=true', 'csf=x', 'maxAffected=7'),
});

it('the started purge is the previewed one, with the bound that was shown and nothing else', () => {
  fc.assert(
    fc.property(forms, fc.nat(), fc.boolean(), (form, matched, isBounded) => {
      const started = confirmedForm(form, matched, isBounded);
      const has = /(?:^|&)maxAffected=/.test(queryOf(form));
      const bound = new URLSearchParams(queryOf(started)).getAll('maxAffected');
      if (!has) assert.deepEqual(bound, isBounded ? [String(matched)] : []);
      const without = {
        ...started,
        fields: { ...started.fields, maxAffected: form.fields.maxAffected ?? '' },
      };
      assert.equal(previewKey(without), previewKey(form));
      assert.equal(queryOf(without), queryOf(form));
    }),
  );
});

it('a purge keeps its own bound; blanks and similar parameters do not count as a bound', () => {
  for (const [form, has] of [
    [formOf('entities', 'type=A&maxAffected=5'), true],
    [{ ...formOf('temporal', 'type=A'), more: 'local=true&maxAffected=5' }, true],
    [formOf('entities', 'type=A&q=xmaxAffected=5'), false],
    [{ ...formOf('entities', 'type=A'), fields: { type: 'A', maxAffected: ' ' } }, false],
    [formOf('entities', 'type=A'), false],
    [formOf('entities', 'type=A&csf=maxAffected=5'), false],
    [formOf('entities', 'type=A&xmaxAffected=5'), false],
    [formOf('entities', 'type=A&maxaffected=5'), false],
  ] as const) {
    assert.equal(hasBound(form), has, queryOf(form));
    const bounds = queryOf(confirmedForm(form, 30, true)).match(/(?<=&)maxAffected=\d+/g);
    assert.deepEqual(bounds, [has ? 'maxAffected=5' : 'maxAffected=30']);
  }
});

it('only the whole count confirms, with or without separators between its digits', () => {
  for (const typed of ['1234', '1,234', '1.234', ' 1 234 ']) assert.ok(isCount(typed, 1234), typed);
  for (const typed of ['', ' ', '123', '12345', '01234', '+1234', '1234x', '-1234', '1e3'])
    assert.ok(!isCount(typed, 1234), typed);
  assert.ok(!isCount('', 0) && isCount('0', 0));
  for (const typed of ['', '1', '1,2', '1234']) assert.ok(couldBeCount(typed, 1234), typed);
  for (const typed of ['2', '12345', '1235', 'x']) assert.ok(!couldBeCount(typed, 1234), typed);
});

it('forms need a new preview exactly if they may match other items', () => {
  const form = { ...formOf('entities', 'type=A&maxPerSecond=5&record=ids'), tenant: 't', link: 'l' };
  assert.equal(previewQuery(form), 'type=A&dryRun=true');
  const key = previewKey(form);
  for (const same of [
    { ...form, fields: { ...form.fields, maxPerSecond: '7', record: '', drop: ' ' } },
    { ...form, tenant: ' t ', link: ' l' },
  ])
    assert.equal(previewKey(same), key);
  for (const other of [
    { ...form, target: 'temporal' as const },
    { ...form, tenant: '' },
    { ...form, tenant: 'l', link: 't' },
    { ...form, link: 'm' },
    { ...form, more: 'local=true' },
    ...FIELDS.filter(
      (name) => !['maxPerSecond', 'archive', 'record', 'timerel', 'timeAt', 'endTimeAt'].includes(name),
    )
      .filter((name) => !['timeproperty', 'datasetId'].includes(name))
      .map((name) => ({ ...form, fields: { ...form.fields, [name]: 'z' } })),
  ])
    assert.notEqual(previewKey(other), key, JSON.stringify(other));
});

it('a preview is a dry run of the query of the purge, whatever the form contains', () => {
  fc.assert(
    fc.property(forms, (form) => {
      const asked = new URLSearchParams(previewQuery(form));
      assert.deepEqual(asked.getAll('dryRun'), ['true']);
      const purge = new URLSearchParams(queryOf(form));
      for (const name of ['maxPerSecond', 'archive', 'record']) purge.delete(name);
      asked.delete('dryRun');
      assert.deepEqual([...asked], [...purge]);
    }),
  );
});

it('bounds, rates and parts alone select nothing', () => {
  for (const name of ['maxAffected', 'maxPerSecond', 'archive', 'record', 'drop', 'keep'] as const)
    assert.ok(isEmpty({ ...EMPTY_FORM, fields: { [name]: '5' } }), name);
  for (const name of ['type', 'q', 'id', 'idPattern', 'attrs', 'scopeQ', 'georel'] as const)
    assert.ok(!isEmpty({ ...EMPTY_FORM, fields: { [name]: '5' } }), name);
  for (const more of ['', ' ', '?', '&&']) assert.ok(isEmpty({ ...EMPTY_FORM, more }), more);
});

it('the slider ranges from one per second to ten thousand, and then to no limit', () => {
  const limits = Array.from({ length: LAST_STEP + 1 }, (_, step) => limitOf(step));
  assert.deepEqual(limits, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, null]);
});

it('each limit of the slider is shown at the step where it was set', () => {
  for (let step = 0; step <= LAST_STEP; step += 1) assert.equal(stepOf(limitOf(step)), step);
});

it('a limit between two steps is shown at the step above, and a limit beyond them at the last limit', () => {
  for (const [limit, shown] of [
    [0.5, 1],
    [3, 5],
    [11, 20],
    [9999, 10_000],
    [10_001, 10_000],
    [1e9, 10_000],
  ] as const)
    assert.equal(limitOf(stepOf(limit)), shown, String(limit));
});

it('a URL is put into a Link header, and can be read from it again', () => {
  const link = linkTo(' https://c.test/x ');
  assert.equal(
    link,
    '<https://c.test/x>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"',
  );
  assert.equal(contextOf(link), 'https://c.test/x');
  assert.deepEqual(
    [linkTo(' '), contextOf(''), contextOf('other'), contextOf('<>; x')],
    ['', '', 'other', ''],
  );
});

const of = (status: number, members: object = {}) =>
  new ApiError({ title: 'Its title', status, ...members }, undefined);
const t = text.state;

it('the title of an error says what can be done about it', () => {
  for (const [error, title] of [
    [new UnreachableError('u', 'w', true, {}), t.offline],
    [new TypeError('x'), t.failed],
    ['x', t.failed],
    [of(401), t.signIn],
    [of(401, { type: 'urn:ngsi-ld-gateway:problem:unauthorized' }), t.unauthorized],
    [of(403), t.forbidden],
    [of(503), t.unavailable],
    [of(502), 'Its title'],
    [of(409), 'Its title'],
  ] as const)
    assert.equal(errorTitle(error), title);
});

it('only a request that may have arrived is described as such', () => {
  assert.equal(
    errorDetail(new UnreachableError('u', 'w', true, {})),
    `${t.mayHaveArrived} ${t.offlineDetail}`,
  );
  assert.equal(errorDetail(new UnreachableError('u', 'w', false, {})), t.offlineDetail);
  assert.equal(errorDetail(of(400, { detail: 'Why' })), 'Why');
  assert.equal(errorDetail('text'), 'text');
});

it('the message of the broker is that of the problem inside the problem', () => {
  assert.equal(brokerProblem({ title: 'A', broker: { title: 'B', detail: 'C' } }), 'B: C');
  assert.equal(brokerProblem({ a: null, b: [{ title: 'B' }], c: { d: 1 }, e: { detail: 'C' } }), 'C');
  assert.equal(brokerProblem({ title: 'A', detail: 'B', broker: { title: 7 } }), undefined);
});

it('a preview was refused by the broker if its message is present, and otherwise by the gateway', () => {
  const p = text.preview;
  assert.equal(previewTitle(of(400, { broker: { title: 'B' } })), p.brokerRefused);
  assert.equal(previewTitle(of(502, { broker: { title: 'B' } })), p.brokerRefused);
  for (const status of [400, 409]) assert.equal(previewTitle(of(status)), p.refused);
  for (const status of [401, 404, 501, 503]) assert.equal(previewTitle(of(status)), undefined);
  assert.equal(previewTitle(new Error('x')), undefined);
});
