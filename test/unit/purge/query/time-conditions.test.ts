import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseEntityPurgeQuery } from '../../../../sidecar/purge/index.js';
import { assertsAbout, queryOf } from '../refusals.js';
import { words } from '../../../support/words.js';

const { accepted, badData } = assertsAbout(parseEntityPurgeQuery);

for (const q of [
  ...words(`
    modifiedAt<90d modifiedAt<P90D modifiedAt<yesterday createdAt>0 modifiedAt<1767225600 modifiedAt<2026 modifiedAt<2026-1-1
    modifiedAt<01.01.2026 modifiedAt<2026-01-01T00:00 modifiedAt>12:00:00Z modifiedAt!=never createdAt==2026-01-01,now
    speed.observedAt<90d speed.modifiedAt<urn:a:1 expiresAt<"soon" speed.inner.observedAt<x
    https://uri.etsi.org/ngsi-ld/modifiedAt<90d speed>5;(heading|modifiedAt<90d)
  `),
  'modifiedAt < "90 d"',
]) {
  it(`a condition that compares a time with something that is no time is refused: ${q}`, () => {
    const { message } = badData(queryOf({ type: 'Car', q }), 'q');
    assert.match(message, /q compares \S+ with .*, which is not a date .* 2026-01-31T12:00:00Z/);
  });
}

for (const q of words(`
  modifiedAt<2026-01-01 modifiedAt<2026-01-01T00:00:00Z modifiedAt<"2026-01-01T00:00:00.5+02:00" createdAt==2026-01-01,2026-01-02
  createdAt==2026-01-01..2026-01-31T00:00:00Z speed.observedAt<2026-01-01T00:00:00Z !expiresAt modifiedAt~=2026-01
  observedAt<90 speed[observedAt]<90 opens<12:00:00Z
`)) {
  it(`a condition on a time, or on something else than a time, is accepted: ${q}`, () => {
    assert.equal(accepted(queryOf({ type: 'Car', q })).maxAffected, undefined);
  });
}
