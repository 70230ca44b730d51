import { readEntity } from '../../../sidecar/embedded-broker/entity-input.js';
import { EntityStore } from '../../../sidecar/embedded-broker/store.js';
import type { StoredEntity } from '../../../sidecar/embedded-broker/model.js';

const CREATED_AT = Date.UTC(2026, 0, 1);

/** An entity in the form of the store, created at CREATED_AT. */
export function stored(input: object): StoredEntity {
  const content = readEntity({ id: 'urn:ngsi-ld:T:1', type: 'T', ...input }, CREATED_AT);
  const entity = new EntityStore().create(content, CREATED_AT);
  if (entity === undefined) throw new Error('an empty store refuses nothing');
  return entity;
}
