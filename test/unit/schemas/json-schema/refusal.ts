import type { InputIssue } from '../../../../sidecar/shared/json/json.js';
import assert from 'node:assert/strict';
import { SchemaRefusedError } from '../../../../sidecar/schemas/json-schema/errors.js';

/** The refusal with which the work ends. */
export async function refusalOf(work: () => unknown): Promise<SchemaRefusedError> {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof SchemaRefusedError, String(error));
    return error;
  }
  assert.fail('nothing was refused');
}

/** The faults of the refusal with which the work ends, with its code. */
export async function faultsOfRefusal(work: () => unknown, kind: string): Promise<readonly InputIssue[]> {
  const refusal = await refusalOf(work);
  assert.equal('kind' in refusal && refusal.kind, kind);
  return refusal.errors;
}
