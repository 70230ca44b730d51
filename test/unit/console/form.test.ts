import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import {
  EMPTY_FORM,
  FIELDS,
  formOf,
  hasField,
  isEmpty,
  hasInvalidHeader,
  queryOf,
  unitOf,
  type Target,
} from '../../../console/purge/form.js';
import { ENTITY_PARAMETERS, TEMPORAL_PARAMETERS } from '../../../sidecar/purge/index.js';
import { parseParameters } from '../../../sidecar/purge/query/index.js';
import { words } from '../../support/words.js';
import { unicodeText } from '../../support/unicode-text.js';

const ACCEPTED = { entities: ENTITY_PARAMETERS, temporal: TEMPORAL_PARAMETERS };

const target = fc.constantFrom<Target>('entities', 'temporal');
const value = unicodeText({ minLength: 1, maxLength: 20 }).filter((text) => {
  // Text that a person cannot type, or that is trimmed as blanks.
  return text.trim() !== '' && !/\p{Surrogate}/u.test(text) && !/[\u0000-\u001f\u007f-\u009f]/.test(text);
});

it('the gateway reads the query of the form of a purge as it was typed', () => {
  fc.assert(
    fc.property(target, fc.dictionary(fc.constantFrom(...FIELDS), value), (one, fields) => {
      const query = queryOf({ ...EMPTY_FORM, target: one, fields });
      const typed = Object.entries(fields).filter(([name]) => hasField(one, name as (typeof FIELDS)[number]));
      assert.deepEqual(
        new Map([...parseParameters(query, ACCEPTED[one])].sort()),
        new Map(typed.map(([name, text]): [string, string] => [name, text.trim()]).sort()),
      );
    }),
  );
});

it('the form of a purge that is made from a query makes the same query again', () => {
  for (const query of words(`
      type=Vehicle&q=speed%3E100 type=A,B&maxAffected=5&record=ids q=name==%22a%20b%22
      type=Vehicle&local=true&csf=a%3D1
    `))
    assert.equal(decodeURIComponent(queryOf(formOf('entities', query))), decodeURIComponent(query));
});

it('the form of a purge shows every parameter of a query, including unknown and repeated ones', () => {
  const form = formOf('entities', 'type=A&type=B&nonsense=1&timerel=before&q=%');
  assert.deepEqual(form.fields, { type: 'A' });
  assert.equal(form.more, 'type=B&nonsense=1&timerel=before&q=%');
});

it('a query written elsewhere is read in the same way as by the gateway', () => {
  const { fields } = formOf('entities', 'type=A+B%2BC&q=a%3D%3Db=c&id=');
  assert.deepEqual(fields, { type: 'A B+C', q: 'a==b=c', id: '' });
  assert.equal(queryOf({ ...EMPTY_FORM, fields }), 'type=A%20B%2BC&q=a%3D%3Db%3Dc');
});

it('other parameters follow those of the fields, without surrounding separators and encoded if necessary', () => {
  for (const [more, query] of [
    ['?local=true', 'type=A&local=true'],
    [' &&local=true&& ', 'type=A&local=true'],
    ['csf=a%20ü"#', 'type=A&csf=a%20%C3%BC%22%23'],
    ['&?&', 'type=A'],
  ] as const)
    assert.equal(queryOf({ ...EMPTY_FORM, fields: { type: 'A' }, more }), query);
});

it('each target has its own fields, and all common ones', () => {
  for (const field of FIELDS) {
    const isOfHistory = ['timerel', 'timeAt', 'endTimeAt', 'timeproperty', 'datasetId'].includes(field);
    assert.equal(hasField('entities', field), !isOfHistory, field);
    assert.equal(hasField('temporal', field), !['drop', 'keep'].includes(field), field);
  }
});

it('counts of a history are in the unit that the gateway states, or else in entities', () => {
  for (const [target, query, unit, shown] of [
    ['temporal', 'type=A', 'instances', 'instances'],
    ['temporal', 'attrs=a', undefined, 'entities'],
    ['entities', 'drop=a', 'entities', 'entities'],
    ['entities', 'keep=a', undefined, 'attributes'],
  ] as const)
    assert.equal(unitOf(formOf(target, query), unit), shown);
  const form = formOf('entities', 'type=A&drop=a');
  assert.equal(unitOf({ ...form, fields: { drop: ' ', keep: ' ' } }, undefined), 'entities');
  // The value is kept for switching back, and is not used here.
  assert.equal(unitOf({ ...form, target: 'temporal' }, undefined), 'entities');
});

it('a tenant and an @context are each checked before they are sent', () => {
  for (const [tenant, link, isWrong] of [
    ['ü', '', true],
    ['', 'ü', true],
    ['a', 'b', false],
  ] as const)
    assert.equal(hasInvalidHeader({ ...EMPTY_FORM, tenant, link }), isWrong);
});

it('the form of a purge leaves the dry run to the preview', () => {
  assert.equal(queryOf(formOf('entities', 'type=A&dryRun=true')), 'type=A');
});

it('the form of a purge never sends a filter of the other target, and keeps it for switching back', () => {
  const form = formOf('temporal', 'type=A&timerel=before&timeAt=2026-01-01T00:00:00Z');
  const changed = { ...form, target: 'entities' as const };
  assert.equal(queryOf(changed), 'type=A');
  assert.match(queryOf({ ...changed, target: 'temporal' }), /timerel=before/);
});

it('the form of a purge is empty until a field selects something', () => {
  assert.ok(isEmpty(formOf('entities', 'maxAffected=5&drop=speed')));
  assert.ok(!isEmpty(formOf('entities', 'local=true')));
});

it('the fields of the form are parameters that a purge accepts', () => {
  for (const name of FIELDS)
    assert.ok(ENTITY_PARAMETERS.names.has(name) || TEMPORAL_PARAMETERS.names.has(name), name);
  for (const one of ['entities', 'temporal'] as const)
    for (const name of FIELDS.filter((field) => hasField(one, field)))
      assert.ok(ACCEPTED[one].names.has(name), `${one}: ${name}`);
});
