import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createCapabilities } from '../../../../sidecar/purge/broker/capabilities.js';
import { BrokerRefusedError, FilterIgnoredError } from '../../../../sidecar/purge/errors.js';
import type { PageQuery } from '../../../../sidecar/purge/listing/page.js';
import { proveTenant } from '../../../../sidecar/purge/proof/tenant-proof.js';
import { idsOf, listerOf, pageOf } from '../hand-made-lister.js';

const LISTED: PageQuery = { selection: [{ name: 'type', value: 'T' }], limit: 7, count: true };

/** A broker that looks at some headers: a tenant that it sees in one of them and does not know has nothing. */
function brokerThatLooksAt(...names: readonly string[]) {
  const made = listerOf(({ headers = {} }) =>
    pageOf(names.some((name) => headers[name] !== undefined) ? [] : idsOf(3)),
  );
  const capabilities = createCapabilities({ now: () => 0 });
  const prove = async (headers: Readonly<Record<string, string>>) =>
    proveTenant(LISTED, headers, made.lister, capabilities);
  return { ...made, prove };
}

const ignores = (header: string) => (error: unknown) =>
  error instanceof FilterIgnoredError && error.parameter === header;

describe('the proof of a tenant', () => {
  it('the proof of a tenant asks the query that listed something under a tenant that cannot exist, once', async () => {
    const { asked, prove } = brokerThatLooksAt('ngsild-tenant');
    await prove({ 'ngsild-tenant': 'a', link: '<x>' });
    await prove({ 'ngsild-tenant': 'b' });
    const [{ headers = {}, ...query } = LISTED, ...others] = asked;
    assert.deepEqual([query, others], [LISTED, []]);
    assert.deepEqual(Object.keys(headers), ['ngsild-tenant']);
    // Orion takes lower-case letters, digits and underscores, at most 50.
    assert.match(headers['ngsild-tenant'] ?? '', /^[a-z0-9_]{30,50}$/);
  });

  it('the proof of a tenant uses another impossible tenant each time, so that it cannot be created in advance', async () => {
    const names = await Promise.all(
      [1, 2].map(async () => {
        const { asked, prove } = brokerThatLooksAt('fiware-service');
        await prove({ 'fiware-service': 'a' });
        return asked[0]?.headers?.['fiware-service'];
      }),
    );
    assert.notEqual(names[0], names[1]);
  });

  it('the proof of a tenant asks nothing without a tenant', async () => {
    const { asked, prove } = brokerThatLooksAt();
    await prove({ link: '<x>' });
    assert.deepEqual(asked, []);
  });

  it('the proof of a tenant fails, by the name of the header, where the broker ignores it, each time', async () => {
    for (const [name, header] of [
      ['ngsild-tenant', 'NGSILD-Tenant'],
      ['fiware-service', 'Fiware-Service'],
    ] as const) {
      const { asked, prove } = brokerThatLooksAt();
      await assert.rejects(prove({ [name]: 'a' }), ignores(header));
      await assert.rejects(prove({ [name]: 'a' }), ignores(header));
      assert.equal(asked.length, 2);
    }
  });

  it('the proof of a tenant requires one of two headers to be honoured if they name the same tenant', async () => {
    const same = { 'ngsild-tenant': 'a', 'fiware-service': 'a' };
    for (const name of ['ngsild-tenant', 'fiware-service']) {
      const { asked, prove } = brokerThatLooksAt(name);
      await prove(same);
      assert.equal(asked.length, 1);
      const { headers = {} } = asked[0] ?? {};
      assert.equal(headers['ngsild-tenant'], headers['fiware-service']);
    }
    await assert.rejects(brokerThatLooksAt().prove(same), FilterIgnoredError);
  });

  it('the proof of a tenant requires each of two headers to be honoured if they differ', async () => {
    const different = { 'ngsild-tenant': 'a', 'fiware-service': 'b' };
    const both = brokerThatLooksAt('ngsild-tenant', 'fiware-service');
    await both.prove(different);
    assert.deepEqual(
      both.asked.map(({ headers = {} }) => Object.keys(headers)),
      [['ngsild-tenant'], ['fiware-service']],
    );
    const one = brokerThatLooksAt('ngsild-tenant');
    await assert.rejects(one.prove(different), ignores('Fiware-Service'));
    await assert.rejects(brokerThatLooksAt('fiware-service').prove(different), ignores('NGSILD-Tenant'));
  });

  it('the proof of a tenant holds for one way of sending the headers', async () => {
    const { asked, prove } = brokerThatLooksAt('ngsild-tenant', 'fiware-service');
    await prove({ 'ngsild-tenant': 'a' });
    await prove({ 'fiware-service': 'a' });
    await prove({ 'ngsild-tenant': 'a', 'fiware-service': 'a' });
    await prove({ 'ngsild-tenant': 'a', 'fiware-service': 'b' });
    assert.equal(asked.length, 5);
  });

  it('the proof of a tenant accepts only 400, 403 and 404 as the answer to a tenant that does not exist', async () => {
    for (const status of [400, 401, 403, 404, 405, 409, 422, 501]) {
      const { lister } = listerOf(() => {
        throw new BrokerRefusedError('list the matching entities', { status });
      });
      const proof = proveTenant(
        LISTED,
        { 'ngsild-tenant': 'a' },
        lister,
        createCapabilities({ now: () => 0 }),
      );
      if ([400, 403, 404].includes(status)) await proof;
      else await assert.rejects(proof, BrokerRefusedError);
    }
  });
});
