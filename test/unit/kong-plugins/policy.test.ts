import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { parseConfig } from '../../../kong-plugins/ngsi-ld-purge/config-schema.js';
import { purgePolicy } from '../../../kong-plugins/ngsi-ld-purge/policy.js';
import { parsePurgePolicy } from '../../../sidecar/http/new-purge.js';

it("the sidecar reads the plugin's policy as exactly the configured limits", () => {
  const limit = fc.option(fc.integer({ min: 1, max: 256 }), { nil: undefined });
  const limits = fc.record({
    max: limit,
    page: limit,
    batch: limit,
    width: limit,
    temporal: limit,
    history: fc.boolean(),
    dry: fc.boolean(),
    archive: fc.constantFrom(undefined, 'best-effort', 'required'),
  });
  fc.assert(
    fc.property(limits, ({ max, page, batch, width, temporal, history, dry, archive }) => {
      const parsed = parseConfig({
        sidecar_host: 'sidecar',
        max_affected: max,
        page_size: page,
        batch_size: batch,
        concurrency: width,
        temporal_concurrency: temporal,
        allow_temporal: history,
        dry_run_only: dry,
        archive,
      });
      assert.ok(parsed.ok);
      const header = purgePolicy(parsed.config);
      const expected = {
        maxAffected: max,
        pageSize: page,
        batchSize: batch,
        concurrency: width,
        temporalConcurrency: temporal,
        allowTemporal: history ? undefined : false,
        dryRunOnly: dry ? true : undefined,
        archive,
      };
      const given = Object.fromEntries(Object.entries(expected).filter(([, value]) => value !== undefined));
      assert.deepEqual(parsePurgePolicy(header === '' ? undefined : header), given);
    }),
  );
});
