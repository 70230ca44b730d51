import assert from 'node:assert/strict';
import type { JsonValue } from '../../../sidecar/shared/json/json.js';
import type { Answer } from '../gateway-harness.js';
import { entityOf, modelOf, SUITE_DOCUMENTS, type SuiteCase, uriOf } from './cases.js';

/** The part of an API client that running cases needs. */
interface Client {
  put(target: string, body: unknown): Promise<Answer>;
  post(target: string, body: unknown): Promise<Answer>;
}

/**
 * The number of models created so far: each case has its own, so that none is compared with
 * another.
 */
let made = 0;

/** Stores the documents that cases refer to. */
export async function prepareSuite(client: Client): Promise<void> {
  for (const [uri, document] of SUITE_DOCUMENTS) await store(client, uri, document);
}

/**
 * Stores the schema of a case, creates a model from it, and compares the service's verdict on each
 * value with the suite.
 */
export async function checkCase(client: Client, one: SuiteCase): Promise<void> {
  await store(client, uriOf(one), one.schema);
  made += 1;
  const name = `Case${made}`;
  const created = await client.post('/domains/suite/models', { name, schema: modelOf(one) });
  assert.equal(created.status, 201, `${one.dialect} ${one.name}: ${created.text}`);
  for (const [value, isValid] of one.values) {
    const said = await client.post(
      `/validate/suite/${name}?form=keyvalues&strict=false`,
      entityOf(name, value),
    );
    assert.equal(said.status, 200, said.text);
    const { valid } = said.json() as { readonly valid: boolean };
    assert.equal(
      valid,
      isValid,
      JSON.stringify({ name: one.name, schema: one.schema, value, said: said.text }),
    );
  }
}

async function store(client: Client, uri: string, document: JsonValue): Promise<void> {
  const stored = await client.put(`/references?uri=${encodeURIComponent(uri)}`, document);
  assert.ok([200, 201].includes(stored.status), `${uri}: ${stored.text}`);
}
