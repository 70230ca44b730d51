import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { exportSPKI, SignJWT, UnsecuredJWT } from 'jose';
import { ROUTE_RULES } from '../../sidecar/auth/index.js';
import { gatewayOf } from '../../sidecar/cli/settings.js';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { systemClock } from '../../sidecar/shared/clock.js';
import {
  type Answer,
  sendJson,
  startTestBroker,
  startTestGateway,
  stopAll,
  type TestGateway,
} from '../support/gateway-harness.js';
import { AUDIENCE, OpenIdProvider } from '../support/openid-provider.js';
import { Gate, startRecordingBroker } from '../support/recording-broker.js';
import { exchange } from './pass-through-wire.js';

after(stopAll);

const TOKEN = 'correct-horse-battery-staple';
const USERS = {
  vera: { preferred_username: 'vera', realm_access: { roles: ['viewer', 'offline_access'] }, tenants: ['a'] },
  paul: { preferred_username: 'paul', realm_access: { roles: ['purger'] }, tenants: ['a', ''] },
  maria: { preferred_username: 'maria', realm_access: { roles: ['modeller'] }, tenants: ['a'] },
  ada: { preferred_username: 'ada', realm_access: { roles: ['city-admins'] }, tenants: ['a', 'b', ''] },
} as const;
type User = keyof typeof USERS;

const TYPE = 'urn:ngsi-ld-gateway:problem:';

let provider: OpenIdProvider;
let broker: EmbeddedBroker;
let gateway: TestGateway;
let env: Readonly<Record<string, string>> & { readonly BROKER_URL: string };
const tokens = {} as Record<User, string>;
const as = (user: User, more: Readonly<Record<string, string>> = {}) => ({
  authorization: `Bearer ${tokens[user]}`,
  'user-agent': 'the test',
  ...more,
});

before(async () => {
  provider = await OpenIdProvider.start(USERS);
  broker = await startTestBroker();
  env = {
    BROKER_URL: broker.url,
    GATEWAY_TOKEN: TOKEN,
    AUTH_ISSUER: provider.issuer,
    AUTH_AUDIENCE: AUDIENCE,
    AUTH_ROLES_CLAIM: 'realm_access.roles',
    AUTH_TENANTS_CLAIM: 'tenants',
    AUTH_ROLE_MAP: 'city-admins=admin,interns=viewer',
    LOG_LEVEL: 'trace',
  };
  gateway = await startTestGateway(env);
  for (const user of Object.keys(USERS) as User[]) tokens[user] = await provider.tokenOf(user);
});

const car = (index: number) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' });
const problemOf = (answer: Answer) => answer.problem().type.replace(TYPE, '');
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('roles', () => {
  /** Fills in the path of a route with the names of things that do not exist. */
  const pathOf = (url: string) => url.replaceAll(/:\w+|\*/g, 'urn');

  for (const [route, rule] of Object.entries(ROUTE_RULES)) {
    const [method = '', url = ''] = route.split(' ');
    const roles = rule.roles === 'open' ? 'everybody' : rule.roles.join(' or ') || 'whoever has signed in';
    it(`${route} is for ${roles}`, async () => {
      const send = (headers: Readonly<Record<string, string>>) =>
        gateway.send(method, pathOf(url), { headers });
      const anonymous = await send({});
      if (rule.roles === 'open') {
        assert.ok(![401, 403].includes(anonymous.status), String(anonymous.status));
        return;
      }
      assert.deepEqual([anonymous.status, problemOf(anonymous)], [401, 'unauthorized']);
      assert.equal(anonymous.headers.get('www-authenticate'), 'Bearer, GatewayToken');
      for (const role of ['none', 'viewer', 'modeller', 'purger', 'admin'] as const) {
        const may =
          rule.roles.length === 0 ||
          role === 'admin' ||
          (role !== 'none' && rule.roles.some((one) => one === role || one === 'viewer'));
        const claims = { realm_access: { roles: [role] }, tenants: [''] };
        const answer = await send(bearer(await provider.sign(claims)));
        assert.equal(answer.status === 401, false);
        if (may) assert.notEqual(answer.status, 403, role);
        else assert.deepEqual([answer.status, problemOf(answer)], [403, 'role-missing'], role);
      }
    });
  }

  it('only reads tell those who have not signed in that a path does not exist', async () => {
    const send = async (method: string, headers: Readonly<Record<string, string>>) =>
      (await gateway.send(method, '/api/v2/nothing', { headers })).status;
    assert.equal(await send('GET', {}), 404);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      assert.deepEqual([await send(method, {}), await send(method, bearer(tokens.ada))], [401, 404], method);
  });

  it('a viewer who tries to purge is told the required role, nothing is deleted, and the refusal is recorded', async () => {
    broker.entities.seed(3, car, 'a');
    const refused = await gateway.purge('type=Car', as('vera', { 'ngsild-tenant': 'a' }));
    assert.equal(refused.status, 403);
    assert.match(refused.problem().detail ?? '', /the role purger, but vera has the role viewer/);
    assert.equal(refused.headers.get('www-authenticate'), 'Bearer error="insufficient_scope"');
    assert.equal(broker.entities.count('a'), 3);
    const path = `/api/v2/purges/${refused.headers.get('purge-id') ?? ''}`;
    const record = (await gateway.send('GET', path, { headers: as('vera') })).json() as object;
    const { state, caller, tenant, query } = record as Readonly<Record<string, unknown>>;
    assert.deepEqual([state, caller, tenant, query], ['refused', 'vera', 'a', 'type=Car']);
  });

  it('GET /me shows the caller with the effective roles and tenants', async () => {
    const me = async (headers: Readonly<Record<string, string>>) =>
      (await gateway.send('GET', '/api/v2/me', { headers })).json();
    assert.deepEqual(await me(as('paul')), {
      caller: 'paul',
      roles: ['viewer', 'purger'],
      tenants: ['a', ''],
    });
    const all = ['viewer', 'modeller', 'purger', 'admin'];
    assert.deepEqual(await me(as('ada')), { caller: 'ada', roles: all, tenants: ['a', 'b', ''] });
    const kong = { 'x-gateway-token': TOKEN, 'x-consumer-username': 'by kong' };
    assert.deepEqual(await me(kong), { caller: 'by kong', roles: all });
  });
});

it('the command line signs in with a token that begins with Bearer', async () => {
  const callerOf = async (token: string) => {
    const client = gatewayOf({ gateway: gateway.url }, { NGSILD_GATEWAY_TOKEN: token });
    return (await client?.json('get', '/me'))?.caller;
  };
  assert.equal(await callerOf(`Bearer ${tokens.vera}`), 'vera');
  assert.equal(await callerOf(TOKEN), 'anonymous');
  await assert.rejects(callerOf(tokens.vera), /401|gateway token/);
});

describe('the record of the user of each request', () => {
  it('records name the user, the address and the client program, and the broker never receives the token', async () => {
    broker.entities.seed(3, car, 'a');
    broker.requests.clear();
    const body = { target: 'entities', query: 'type=Car', tenant: 'a' };
    const started = await sendJson(gateway.url, 'POST', '/api/v2/purges', body, as('paul'));
    // This works without JOB_SECRET, since no token has to be kept.
    assert.equal(started.status, 202);
    const { id } = started.json() as { readonly id: string };
    const events = await gateway.send('GET', `/api/v2/purges/${id}/events`, { headers: as('vera') });
    assert.match(events.text, /"state":"succeeded"/);
    const read = await gateway.send('GET', `/api/v2/purges/${id}`, { headers: as('vera') });
    const { caller, clientAddress, userAgent } = read.json() as Readonly<Record<string, unknown>>;
    assert.deepEqual([caller, clientAddress, userAgent], ['paul', '127.0.0.1', 'the test']);
    assert.equal(broker.entities.count('a'), 0);
    assert.ok(broker.requests.total > 0);
    assert.doesNotMatch(JSON.stringify(broker.requests.entries), /bearer|authorization/i);
  });

  it('AUTH_FORWARD forwards the token to the broker, and a job then needs JOB_SECRET to store it', async () => {
    const forwarding = await startTestGateway({ ...env, AUTH_FORWARD: 'true' });
    broker.entities.seed(1, car);
    broker.requests.clear();
    assert.equal((await forwarding.purge('type=Car', as('paul'))).status, 204);
    const sent = JSON.stringify(broker.requests.entries);
    assert.ok(sent.includes(tokens.paul));
    const body = { target: 'entities', query: 'type=Car' };
    const refused = await sendJson(forwarding.url, 'POST', '/api/v2/purges', body, as('paul'));
    assert.deepEqual([refused.status, problemOf(refused)], [400, 'job-secret-missing']);
  });

  it('forwarded requests keep any Authorization header, and need no sign-in', async () => {
    broker.requests.clear();
    for (const authorization of [`Bearer ${tokens.vera}`, 'Bearer of-the-broker', 'Basic eDp5'])
      assert.equal(
        (await gateway.send('GET', '/ngsi-ld/v1/entities?type=Car', { headers: { authorization } })).status,
        200,
      );
    const sent = JSON.stringify(broker.requests.entries);
    for (const part of [tokens.vera, 'of-the-broker', 'eDp5']) assert.ok(sent.includes(part), part);
  });

  it('the log contains neither tokens nor their claims', () => {
    assert.ok(gateway.log.lines.length > 100);
    for (const token of Object.values(tokens)) {
      const [, payload = '', signature = ''] = token.split('.');
      for (const part of [payload, signature, TOKEN]) assert.ok(!gateway.log.text.includes(part));
    }
    assert.doesNotMatch(gateway.log.text, /offline_access|realm_access/);
  });

  const addressSeen = async (to: TestGateway, forwardedFor: string | undefined) => {
    const headers = as('paul', forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor });
    const counted = await to.purge('type=Car&dryRun=true', headers);
    const path = `/api/v2/purges/${counted.headers.get('purge-id') ?? ''}`;
    const record = (await to.send('GET', path, { headers: as('paul') })).json();
    return (record as { readonly clientAddress?: string }).clientAddress;
  };

  it('X-Forwarded-For is used only from TRUSTED_PROXIES, and only as far as each proxy is trusted', async () => {
    for (const claimed of ['203.0.113.9', 'nonsense', undefined])
      assert.equal(await addressSeen(gateway, claimed), '127.0.0.1');
    const behind = await startTestGateway({ ...env, TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8, fd00::/8' });
    for (const [given, seen] of [
      [undefined, '127.0.0.1'],
      ['203.0.113.9', '203.0.113.9'],
      ['198.51.100.1, 203.0.113.9', '203.0.113.9'],
      ['198.51.100.1, 203.0.113.9, 10.1.2.3, fd00::7', '203.0.113.9'],
      ['203.0.113.9, <script>', '127.0.0.1'],
      ['10.1.2.3', '10.1.2.3'],
      ['::ffff:203.0.113.9', '203.0.113.9'],
      ['2001:db8::1', '2001:db8::1'],
      ['203.0.113.9:1234', '203.0.113.9'],
      ['[2001:db8::1]:1234', '2001:db8::1'],
      ['[2001:db8::1]', '2001:db8::1'],
      ['203.0.113.9:x', '127.0.0.1'],
      ['198.51.100.1:9, 203.0.113.9:9, 10.1.2.3:443, [fd00::7]:443, ::ffff:10.9.9.9', '203.0.113.9'],
    ] as const)
      assert.equal(await addressSeen(behind, given), seen, given);
  });
});

describe('tenants', () => {
  interface Made {
    readonly purge: string;
    readonly scan: string;
    readonly retentionPolicy: string;
    readonly writePolicy: string;
  }

  const policyIn = (tenant: string) => ({
    target: 'entities',
    query: 'type=Car',
    tenant,
    olderThan: 'P1D',
    by: 'modifiedAt',
    schedule: '0 3 * * *',
  });

  /** Creates one resource of each kind in a tenant. */
  async function makeAll(tenant: string): Promise<Made> {
    const make = async (path: string, body: object) => {
      const made = await sendJson(gateway.url, 'POST', `/api/v2${path}`, body, as('ada'));
      assert.ok([201, 202].includes(made.status), made.text);
      return (made.json() as { readonly id: string }).id;
    };
    const purge = { target: 'entities', query: 'type=Car', tenant, dryRun: true, plan: true };
    const made = {
      purge: await make('/purges', purge),
      scan: await make('/scans', { query: 'type=Car', tenant }),
      retentionPolicy: `retention-${tenant}`,
      writePolicy: `writes-${tenant}`,
    };
    await make('/retention-policies', { name: made.retentionPolicy, ...policyIn(tenant) });
    await make('/write-policies', { name: made.writePolicy, mode: 'report', tenant });
    for (const [kind, id] of [
      ['purges', made.purge],
      ['scans', made.scan],
    ] as const)
      await gateway.send('GET', `/api/v2/${kind}/${id}/events`, { headers: as('ada') });
    return made;
  }

  let own: Made;
  let foreign: Made;
  /** The headers of an admin with only the tenant a. */
  let limited: Readonly<Record<string, string>>;
  before(async () => {
    broker.entities.seed(1, car, 'a');
    broker.entities.seed(1, car, 'b');
    own = await makeAll('a');
    foreign = await makeAll('b');
    limited = bearer(
      await provider.sign({ sub: 'limited', realm_access: { roles: ['admin'] }, tenants: 'a' }),
    );
  });

  const filled = (url: string, things: Made) =>
    url.replaceAll(/:(purge|scan|retentionPolicy|writePolicy)/g, (_, name: keyof Made) => things[name]);

  /** The bodies in which requests name a tenant. */
  const BODIES: Readonly<Record<string, (tenant: string) => object>> = {
    'POST /api/v2/purges': (tenant) => ({ target: 'entities', query: 'type=Car', tenant }),
    'POST /api/v2/scans': (tenant) => ({ query: 'type=Car', tenant }),
    'POST /api/v2/retention-policies': (tenant) => ({ name: `new-${tenant}`, ...policyIn(tenant) }),
    'POST /api/v2/retention-policies/preview': policyIn,
    'PUT /api/v2/retention-policies/:retentionPolicy': policyIn,
    'POST /api/v2/write-policies': (tenant) => ({ name: `new-${tenant}`, mode: 'report', tenant }),
    'PUT /api/v2/write-policies/:writePolicy': (tenant) => ({ mode: 'report', tenant }),
  };

  /** Lists that tests of their own check. */
  const OTHER_LISTS = ['GET /api/v2/retention-policies/:retentionPolicy/runs', 'GET /api/v2/write-checks'];

  for (const [route, { tenants: rules }] of Object.entries(ROUTE_RULES)) {
    const [method = '', url = ''] = route.split(' ');
    for (const rule of rules)
      if (rule === 'asked')
        it(`${route} is 403 if the request names a tenant that the token does not`, async () => {
          const send = (tenant: string) => {
            const body = BODIES[route];
            const path = filled(url, own);
            if (body !== undefined) return sendJson(gateway.url, method, path, body(tenant), limited);
            const headers = { ...limited, 'ngsild-tenant': tenant };
            return gateway.send(method, `${path}?type=Car&dryRun=true`, { headers });
          };
          const refused = await send('b');
          assert.deepEqual([refused.status, problemOf(refused)], [403, 'tenant-refused']);
          const allowed = await send('a');
          assert.ok(allowed.status < 300, allowed.text);
        });
      else if (rule === 'listed') {
        if (OTHER_LISTS.includes(route)) continue;
        it(`${route} shows only resources of the token's tenants`, async () => {
          const tenantsSeen = async (headers: typeof limited) => {
            const list = (await gateway.send(method, url, { headers })).json();
            return new Set((list as readonly { readonly tenant?: string }[]).map(({ tenant }) => tenant));
          };
          assert.ok((await tenantsSeen(as('ada'))).has('b'));
          assert.deepEqual(await tenantsSeen(limited), new Set(['a']));
        });
      } else
        it(`${route} is 403 for a ${rule} of another tenant`, async () => {
          const send = (things: Made) => {
            const body = BODIES[route]?.('a');
            const path = filled(url, things);
            return body === undefined
              ? gateway.send(method, path, { headers: limited })
              : sendJson(gateway.url, method, path, body, limited);
          };
          const refused = await send(foreign);
          assert.deepEqual([refused.status, problemOf(refused)], [403, 'tenant-refused']);
          assert.ok(!refused.text.includes('"b"'));
          if (method === 'GET') assert.notEqual((await send(own)).status, 403);
        });
  }

  it('totals of lists count only visible records, and a list of another tenant is 403', async () => {
    for (const kind of ['purges', 'scans']) {
      const answer = await gateway.send('GET', `/api/v2/${kind}?limit=1`, { headers: limited });
      const all = await gateway.send('GET', `/api/v2/${kind}?limit=1`, { headers: as('ada') });
      const total = ({ headers }: Answer) => Number(headers.get('x-total-count'));
      assert.ok(total(answer) > 0 && total(answer) < total(all));
      const refused = await gateway.send('GET', `/api/v2/${kind}?tenant=b`, { headers: limited });
      assert.equal(problemOf(refused), 'tenant-refused');
    }
  });

  it('a purger of one tenant cannot purge another, by any header, and the attempt is recorded', async () => {
    broker.entities.seed(3, car, 'b');
    const sent: readonly Readonly<Record<string, string>>[] = [
      { 'ngsild-tenant': 'b' },
      { 'fiware-service': 'b' },
      { 'ngsild-tenant': 'a', 'fiware-service': 'b' },
      { 'ngsild-tenant': 'b', 'fiware-service': 'a' },
    ];
    for (const headers of sent) {
      const refused = await gateway.purge('type=Car', as('paul', headers));
      assert.deepEqual([refused.status, problemOf(refused)], [403, 'tenant-refused']);
      assert.ok(refused.headers.has('purge-id'));
    }
    assert.equal(broker.entities.count('b'), 3);
  });

  it('purges and scans that named two tenants are shown only to users with both', async () => {
    const both = as('ada', { 'ngsild-tenant': 'a', 'fiware-service': 'b' });
    const purge = await gateway.purge('type=Car&dryRun=true', both);
    const scan = await sendJson(gateway.url, 'POST', '/api/v2/scans', { query: 'type=Car' }, both);
    const ids = { purges: purge.headers.get('purge-id'), scans: (scan.json() as { id: string }).id };
    for (const [kind, id] of Object.entries(ids)) {
      const shownTo = async (headers: Readonly<Record<string, string>>) => {
        const list = await gateway.send('GET', `/api/v2/${kind}?limit=1000`, { headers });
        const isListed = (list.json() as readonly { readonly id: string }[]).some((one) => one.id === id);
        const { status } = await gateway.send('GET', `/api/v2/${kind}/${String(id)}`, { headers });
        return [isListed, status];
      };
      assert.deepEqual(await shownTo(as('ada')), [true, 200], kind);
      assert.deepEqual(await shownTo(limited), [false, 403], kind);
    }
  });

  it('a plan of another tenant cannot be applied', async () => {
    const body = { plan: foreign.purge };
    const refused = await sendJson(gateway.url, 'POST', '/api/v2/purges', body, limited);
    assert.deepEqual([refused.status, problemOf(refused)], [403, 'tenant-refused']);
    assert.equal((await sendJson(gateway.url, 'POST', '/api/v2/purges', body, as('ada'))).status, 202);
  });

  for (const [method, action, body] of [
    ['PUT', '', JSON.stringify(policyIn('a'))],
    ['DELETE', '', ''],
    ['POST', '/run', ''],
  ] as const)
    it(`${method} of a policy${action} is 403 if another tenant creates the policy while the body arrives`, async () => {
      const path = `/api/v2/retention-policies/slow-${method}`;
      const slow = request(gateway.url + path + action, {
        method,
        headers: {
          ...limited,
          expect: '100-continue',
          'content-type': 'application/json',
          'transfer-encoding': 'chunked',
        },
      });
      slow.flushHeaders();
      await once(slow, 'continue');
      const made = await sendJson(gateway.url, 'PUT', path, policyIn('b'), as('ada'));
      assert.equal(made.status, 201);
      slow.end(body);
      const [answer] = (await once(slow, 'response')) as [IncomingMessage];
      answer.resume();
      assert.equal(answer.statusCode, 403);
      const kept = (await gateway.send('GET', path, { headers: as('ada') })).json() as {
        readonly tenant: string;
      };
      assert.equal(kept.tenant, 'b');
      const runs = await gateway.send('GET', `${path}/runs`, { headers: as('ada') });
      assert.deepEqual(runs.json(), []);
    });

  it('a policy that had another tenant shows its earlier runs, and the last one, only to users with that tenant', async () => {
    const path = '/api/v2/retention-policies';
    const policy = `${path}/moved`;
    const get = async <Items>(url: string, headers: Readonly<Record<string, string>>) =>
      (await gateway.send('GET', url, { headers })).json() as Items;
    const lastRun = async (headers: Readonly<Record<string, string>>) => {
      const policies = await get<readonly { readonly name: string; readonly lastRun?: unknown }[]>(
        path,
        headers,
      );
      return policies.find(({ name }) => name === 'moved')?.lastRun !== undefined;
    };
    const tenantsOfRuns = async (headers: Readonly<Record<string, string>>) => {
      const runs = await get<readonly { readonly tenant?: string }[]>(`${policy}/runs`, headers);
      return runs.map(({ tenant }) => tenant);
    };
    const runIn = async (tenant: string) => {
      await sendJson(gateway.url, 'PUT', policy, policyIn(tenant), as('ada'));
      const run = await gateway.send('POST', `${policy}/run`, { headers: as('ada') });
      assert.equal(run.status, 202, run.text);
      await gateway.send('GET', `/api/v2/purges/${run.headers.get('purge-id') ?? ''}/events`, {
        headers: as('ada'),
      });
    };
    await runIn('b');
    await sendJson(gateway.url, 'PUT', policy, policyIn('a'), as('ada'));
    assert.deepEqual([await lastRun(as('ada')), await lastRun(limited)], [true, false]);
    await runIn('a');
    assert.deepEqual(await tenantsOfRuns(as('ada')), ['a', 'b']);
    assert.deepEqual(await tenantsOfRuns(limited), ['a']);
  });

  it("the counts of checked writes are those of policies of the token's tenants", async () => {
    const checked = async (headers: Readonly<Record<string, string>>) =>
      (
        (await gateway.send('GET', '/api/v2/write-checks', { headers })).json() as {
          readonly checked: number;
        }
      ).checked;
    for (const [index, tenant] of ['a', 'b', 'b'].entries()) {
      const headers = { 'ngsild-tenant': tenant };
      const entity = { id: `urn:ngsi-ld:Bus:${index}`, type: 'Bus' };
      const written = await sendJson(gateway.url, 'POST', '/ngsi-ld/v1/entities', entity, headers);
      assert.equal(written.status, 201, written.text);
    }
    assert.deepEqual([await checked(as('ada')), await checked(limited)], [3, 1]);
  });

  it('a write policy for all tenants is shown to everybody, but users limited to some tenants cannot write it', async () => {
    const policy = { name: 'for-all', mode: 'report' };
    const made = await sendJson(gateway.url, 'POST', '/api/v2/write-policies', policy, limited);
    assert.equal(problemOf(made), 'tenant-refused');
    const kong = { 'x-gateway-token': TOKEN };
    assert.equal((await sendJson(gateway.url, 'POST', '/api/v2/write-policies', policy, kong)).status, 201);
    const path = '/api/v2/write-policies/for-all';
    assert.equal((await gateway.send('GET', path, { headers: limited })).status, 200);
    assert.equal((await gateway.send('DELETE', path, { headers: limited })).status, 403);
    const counts = await gateway.send('GET', '/api/v2/write-checks?policy=for-all', { headers: limited });
    assert.equal(problemOf(counts), 'tenant-refused');
  });

  it('a token without a tenants claim, or with an invalid one, gives no tenant', async () => {
    for (const tenants of [undefined, 7, {}, null, [['a']]]) {
      const headers = bearer(await provider.sign({ realm_access: { roles: ['admin'] }, tenants }));
      assert.deepEqual((await gateway.send('GET', '/api/v2/purges', { headers })).json(), []);
      assert.equal((await gateway.purge('type=Car', headers)).status, 403);
    }
  });
});

describe('bad tokens', () => {
  const asked = async (token: string, to = gateway) =>
    to.send('GET', '/api/v2/purges', { headers: bearer(token) });
  const good = { realm_access: { roles: ['viewer'] }, tenants: ['a'] };
  const now = () => Math.floor(Date.now() / 1000);

  const BAD: readonly (readonly [what: string, why: RegExp, token: () => Promise<string> | string])[] = [
    ['that has expired', /expired/, () => provider.sign({ ...good, exp: now() - 60 })],
    ['that never expires', /when it expires/, () => provider.sign({ ...good, exp: undefined })],
    ['with an expiry that is not a time', /expires/, () => provider.sign({ ...good, exp: 'tomorrow' })],
    ['that is not valid yet', /not valid yet/, () => provider.sign({ ...good, nbf: now() + 60 })],
    ['for another audience', /audience/, () => provider.sign({ ...good, aud: 'https://other.example' })],
    ['for no audience', /audience/, () => provider.sign({ ...good, aud: undefined })],
    ['of another issuer', /issuer/, () => provider.sign({ ...good, iss: `${provider.issuer}/` })],
    ['of no issuer', /issuer/, () => provider.sign({ ...good, iss: undefined })],
    ['without a subject', /names nobody/, () => provider.sign({ ...good, sub: undefined })],
    ['of another kind', /not an access token/, () => provider.sign(good, { typ: 'logout+jwt' })],
    ['that is an ID token', /not an access token/, () => provider.sign({ ...good, at_hash: 'x' })],
    ['that is a refresh token', /not an access token/, () => provider.sign({ ...good, typ: 'Refresh' })],
    ['by a key that does not exist', /no such key/, () => provider.sign(good, { kid: 'other' })],
    [
      'without a signature',
      /not signed/,
      () =>
        new UnsecuredJWT({ ...good, sub: 'x' })
          .setIssuer(provider.issuer)
          .setAudience(AUDIENCE)
          .setExpirationTime('5m')
          .encode(),
    ],
    [
      'that was signed with the public key as if it were a secret',
      /not signed/,
      async () => {
        const key = createPublicKey({ key: provider.publicJwk, format: 'jwk' });
        const secret = new TextEncoder().encode(await exportSPKI(key));
        return new SignJWT({ ...good, sub: 'x', iss: provider.issuer, aud: AUDIENCE, exp: now() + 300 })
          .setProtectedHeader({ alg: 'HS256', kid: 'first' })
          .sign(secret);
      },
    ],
    [
      'whose claims were changed',
      /signature/,
      async () => {
        const [head, , signature] = (await provider.sign(good)).split('.');
        const [, claims] = (await provider.sign({ ...good, realm_access: { roles: ['admin'] } })).split('.');
        return [head, claims, signature].join('.');
      },
    ],
    ['that is not a token', /not a signed/, () => 'of-the-broker'],
    ['of 60 kB', /not a signed/, () => 'x'.repeat(60_000)],
    ['with an encrypted form', /not a signed/, () => 'a.b.c.d.e'],
    [
      'with a header of deep JSON',
      /not a signed/,
      () => `${Buffer.from('['.repeat(9000)).toString('base64url')}.e30.x`,
    ],
  ];
  for (const [what, why, token] of BAD)
    it(`a token ${what} is 401 with that reason`, async () => {
      const refused = await asked(await token());
      assert.deepEqual([refused.status, problemOf(refused)], [401, 'token-refused'], refused.text);
      assert.match(refused.problem().detail ?? '', why);
      assert.match(
        refused.headers.get('www-authenticate') ?? '',
        /^Bearer error="invalid_token", error_description="/,
      );
    });

  it('tokens are accepted if clocks differ by less than half a minute', async () => {
    for (const claims of [{ exp: now() - 20 }, { nbf: now() + 20 }])
      assert.equal((await asked(await provider.sign({ ...good, ...claims }))).status, 200);
  });

  it('a stream of events ends when the token that opened it expires, and continues with a new token', async () => {
    const gate = new Gate();
    const slow = await startRecordingBroker(async () => {
      await gate.passed;
      return { status: 200, headers: { 'content-type': 'application/json' }, body: '[]' };
    });
    const now = Date.now();
    const other = await startTestGateway(
      { ...env, BROKER_URL: slow.url },
      { clock: { ...systemClock, now: () => now } },
    );
    const body = { target: 'entities', query: 'type=Car', dryRun: true };
    const started = await sendJson(other.url, 'POST', '/api/v2/purges', body, as('ada'));
    const path = `/api/v2/purges/${(started.json() as { readonly id: string }).id}/events`;
    const claims = { realm_access: { roles: ['viewer'] }, tenants: [''] };
    // The token is accepted for another half second.
    const exp = now / 1000 - 29.5;
    const ended = await other.send('GET', path, { headers: bearer(await provider.sign({ ...claims, exp })) });
    assert.match(ended.text, /"state":"(?:queued|running)"/);
    assert.doesNotMatch(ended.text, /"succeeded"/);
    gate.open();
    const whole = await other.send('GET', path, { headers: bearer(await provider.sign(claims)) });
    assert.match(whole.text, /"succeeded"/);
  });

  it('a token of 100 kB is 431, before it is parsed', async () => {
    assert.equal((await asked('x'.repeat(100_000))).status, 431);
  });

  it('a role claim that is a number, nested, missing or the name of a prototype member gives no role', async () => {
    for (const roles of [7, undefined, { viewer: true }, [['viewer']], 'constructor', ['__proto__']]) {
      const refused = await asked(await provider.sign({ ...good, realm_access: { roles } }));
      assert.equal(problemOf(refused), 'role-missing', JSON.stringify(roles));
    }
    assert.equal(
      (await asked(await provider.sign({ ...good, realm_access: { roles: 'x viewer' } }))).status,
      200,
    );
  });

  it('a token in another header, or with other words than Bearer, does not sign anybody in', async () => {
    const sent: readonly Readonly<Record<string, string>>[] = [
      { authorization: tokens.ada },
      { authorization: `Basic ${tokens.ada}` },
      { authorization: `Bearer ${tokens.ada} x` },
      { 'x-auth-token': tokens.ada },
      { 'x-consumer-username': 'ada' },
      { cookie: `token=${tokens.ada}` },
    ];
    for (const headers of sent)
      assert.equal((await gateway.send('GET', '/api/v2/purges', { headers })).status, 401);
  });

  it('thousands of tokens with unknown keys cause few requests to the provider', async () => {
    const before = provider.requests.length;
    const token = await provider.sign(good, { kid: 'x' });
    const [, claims = '', signature = ''] = token.split('.');
    const forged = (kid: string) => {
      const header = Buffer.from(JSON.stringify({ alg: 'RS256', kid })).toString('base64url');
      return [header, claims, signature].join('.');
    };
    const answers = await Promise.all(Array.from({ length: 300 }, (_, kid) => asked(forged(String(kid)))));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [401]);
    // Discovery and keys, and again each time ten seconds have passed.
    assert.ok(provider.requests.length - before <= 20, String(provider.requests.length - before));
  });
});

describe('the gateway token together with sign-in', () => {
  const vouched = { 'x-gateway-token': TOKEN, 'x-consumer-username': 'by kong' };
  const asked = (headers: Readonly<Record<string, string>>) => gateway.send('GET', '/api/v2/me', { headers });
  const nameOf = async (headers: Readonly<Record<string, string>>) =>
    ((await asked(headers)).json() as { readonly caller: string }).caller;

  it('a request with only the gateway token is accepted without sign-in, and its Authorization reaches the broker', async () => {
    assert.equal(await nameOf(vouched), 'by kong');
    broker.requests.clear();
    const headers = { ...vouched, authorization: 'Bearer of-the-broker' };
    assert.equal((await gateway.purge('type=Nothing', headers)).status, 204);
    assert.match(JSON.stringify(broker.requests.entries), /Bearer of-the-broker/);
  });

  it('users who sign in behind a gateway that adds the token have their own roles, and their invalid tokens are 401', async () => {
    assert.equal(await nameOf({ ...vouched, ...as('vera') }), 'vera');
    const refused = await gateway.purge('type=Car', { ...vouched, ...as('vera', { 'ngsild-tenant': 'a' }) });
    assert.equal(problemOf(refused), 'role-missing');
    const expired = await provider.sign({ exp: 1 });
    assert.equal(problemOf(await asked({ ...vouched, ...bearer(expired) })), 'token-refused');
  });

  it('a wrong gateway token is 401, even with a valid sign-in', async () => {
    const refused = await asked({ ...as('ada'), 'x-gateway-token': 'another-token' });
    assert.deepEqual([refused.status, problemOf(refused)], [401, 'unauthorized']);
  });
});

it("without GATEWAY_TOKEN, requests whose Host is not PUBLIC_URL's cannot change data", async () => {
  const { GATEWAY_TOKEN: _none, ...withoutToken } = env;
  const alone = await startTestGateway({ ...withoutToken, PUBLIC_URL: 'https://gateway.city.test' });
  const write = (host: string) =>
    exchange(
      Number(new URL(alone.url).port),
      `DELETE /ngsi-ld/v1/entities/urn:ngsi-ld:None:1 HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );
  assert.match(await write('evil.test'), /^HTTP\/1\.1 403 [^]*host-not-allowed/);
  // This is the broker's own answer.
  assert.match(await write('gateway.city.test'), /^HTTP\/1\.1 404 /);
});

describe('an unavailable provider', () => {
  const asked = async (to: TestGateway, token: string) =>
    to.send('GET', '/api/v2/me', { headers: bearer(token) });

  it('a new key is accepted at once, a withdrawn one is refused, and known keys still work while the provider is unavailable', async () => {
    const moving = await OpenIdProvider.start(USERS);
    const to = await startTestGateway({ ...env, AUTH_ISSUER: moving.issuer });
    assert.equal((await asked(to, await moving.tokenOf('vera'))).status, 200);
    const old = await moving.sign({});
    await moving.rotate('second');
    assert.equal((await asked(to, await moving.tokenOf('vera'))).status, 200);
    const refused = await asked(to, old);
    assert.deepEqual([refused.status, problemOf(refused)], [401, 'token-refused']);
    const known = await moving.sign({});
    await moving.rotate('third');
    const unknown = await moving.sign({});
    await moving.close();
    assert.equal((await asked(to, known)).status, 200);
    // The provider is not asked for a key again within ten seconds.
    assert.ok([401, 503].includes((await asked(to, unknown)).status));
  });

  it('a gateway starts without its provider, and accepts no sign-in until the provider is available', async () => {
    const late = await OpenIdProvider.start(USERS);
    const token = await late.sign({});
    late.answers.set('/.well-known/openid-configuration', (_req, res) => res.writeHead(500).end());
    const to = await startTestGateway({ ...env, AUTH_ISSUER: late.issuer });
    await to.log.until('the keys of the OpenID provider cannot be read');
    const refused = await asked(to, token);
    assert.deepEqual([refused.status, problemOf(refused)], [503, 'sign-in-unavailable']);
    assert.match(refused.headers.get('retry-after') ?? '', /^(?:10|[1-9])$/);
    assert.equal((await asked(to, 'no token')).status, 401);
    const kong = { 'x-gateway-token': TOKEN };
    assert.equal((await to.send('GET', '/api/v2/purges', { headers: kong })).status, 200);
    assert.equal((await to.send('GET', '/ngsi-ld/v1/entities?type=Car')).status, 200);
  });
});
