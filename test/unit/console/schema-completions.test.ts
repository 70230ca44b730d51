import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CompletionContext } from '@codemirror/autocomplete';
import { json } from '@codemirror/lang-json';
import { EditorState } from '@codemirror/state';
import { schemaCompletions } from '../../../console/editor/schema-completions.js';
import { words } from '../../support/words.js';

/** The completions at the `|` of a text. */
function offered(marked: string, explicit = true) {
  const pos = marked.indexOf('|');
  const state = EditorState.create({ doc: marked.replace('|', ''), extensions: json() });
  return schemaCompletions(new CompletionContext(state, pos, explicit));
}

const names = (marked: string) => offered(marked)?.options.map(({ displayLabel }) => displayLabel) ?? [];

it('keywords are suggested in place of a name, with the beginning of their value', () => {
  for (const text of ['{|}', '{"|"}', '{"type": "object", "pro|"}', '{"type": "object", pro|']) {
    const result = offered(text);
    const option = result?.options.find(({ displayLabel }) => displayLabel === 'properties');
    assert.equal(option?.apply, '"properties": {}', text);
  }
});

it('a name that has a value keeps it', () => {
  const result = offered('{"min|": 3}');
  assert.equal(result?.options.find(({ displayLabel }) => displayLabel === 'minimum')?.apply, '"minimum"');
  assert.equal(result.to, 6);
});

it('no keyword is suggested for names of attributes, definitions and examples', () => {
  for (const text of ['{"properties": {"|"}}', '{"$defs": {"|": {}}}', '{"examples": [{"|": 1}]}'])
    assert.deepEqual(names(text), [], text);
  assert.ok(names('{"properties": {"speed": {"|"}}}').includes('maximum'));
  assert.ok(names('{"properties": {"properties": {"|"}}}').includes('maximum'));
});

it('no keyword is suggested in a map of any kind, nor beside the kind of an attribute', () => {
  for (const map of ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'].concat(
    words(`
    dependentRequired examples default const enum x-ngsi
  `),
  ))
    assert.deepEqual(names(`{"${map}": {"|"}}`), [], map);
  for (const schema of ['items', 'not', 'if', 'then', 'else', 'contains', 'additionalProperties'])
    assert.ok(names(`{"${schema}": {"|"}}`).includes('type'), schema);
});

it('the values of a keyword are suggested, and none if any value is allowed', () => {
  assert.ok(names('{"type": "|"}').includes('integer'));
  assert.ok(names('{"format": |}').includes('date-time'));
  assert.ok(names('{"x-ngsi": {"type": "|"}}').includes('Relationship'));
  assert.deepEqual(names('{"title": "|"}'), []);
  assert.deepEqual(names('{"constructor": "|"}'), []);
});

it('nothing is suggested without typed text or a request', () => {
  assert.equal(offered('{"a": 1, |}', false), null);
});
