import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Dialect, DIALECT_URIS } from '../../../../sidecar/schemas/json-schema/keywords.js';
import { resolveReferences } from '../../../../sidecar/schemas/json-schema/linker.js';
import { modelTasks } from '../../../../sidecar/schemas/models/model-tasks.js';
import { validatorOf } from './validating.js';
import type { JsonValue } from '../../../../sidecar/shared/json/json.js';
import {
  entityOf,
  modelOf,
  SUITE_CASES,
  SUITE_DOCUMENTS,
  type SuiteCase,
  uriOf,
} from '../../../support/json-schema-suite/cases.js';

describe('the official suite of JSON Schema', () => {
  for (const dialect of Object.keys(DIALECT_URIS) as Dialect[]) {
    const files = new Map<string, SuiteCase[]>();
    for (const one of SUITE_CASES.filter((each) => each.dialect === dialect)) {
      const file = one.name.replace(/^[^/]*\/| .*$/g, '');
      files.set(file, [...(files.get(file) ?? []), one]);
    }
    for (const [file, cases] of files)
      it(`a model of ${dialect} has the verdicts of the official suite: ${file}`, () => {
        for (const one of cases) {
          const verdict = prepared(one);
          for (const [value, isValid] of one.values) {
            const { valid, pointers } = verdict(value);
            const shown = JSON.stringify({ name: one.name, schema: one.schema, value });
            assert.equal(valid, isValid, shown);
            // Each fault is within the value of the case.
            assert.ok(
              pointers.every((pointer) => pointer === '/value' || pointer.startsWith('/value/')),
              shown,
            );
          }
        }
      });
  }
});

interface Verdict {
  readonly valid: boolean;
  readonly pointers: readonly string[];
}

/** Makes a model of the case, as the service does with a posted model, and validates entities with it. */
function prepared(one: SuiteCase): (value: JsonValue) => Verdict {
  const schema = modelOf(one);
  const documents = new Map<string, string | undefined>();
  resolveReferences(schema, (uri) => {
    const document = uri === uriOf(one) ? one.schema : SUITE_DOCUMENTS.get(uri);
    documents.set(uri, document === undefined ? undefined : JSON.stringify(document));
    return document;
  });
  const accepted = modelTasks.acceptVersion({
    schema: JSON.stringify(schema),
    documents,
    model: 'Case',
    contextBase: 'https://terms.example/',
  });
  assert.ok('description' in accepted, `${one.name}: ${JSON.stringify(accepted)}`);
  const model = validatorOf('Case', accepted.description.bundled);
  return (value) => {
    const entity = entityOf('Case', value);
    const { valid, errors } = model.verdict(JSON.stringify(entity), { form: 'keyvalues', isStrict: false });
    return { valid, pointers: errors.map(({ pointer }) => pointer) };
  };
}
