import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { parse } from 'yaml';
import { callerHeaders } from '../../kong-plugins/ngsi-ld-purge/caller.js';
import { ROOT } from '../support/project.js';

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
/** The header fields, in lower case, that the sidecar trusts in a request with the token. */
const TRUSTED = ['X-Gateway-Token', 'X-Purge-Policy', ...callerHeaders]
  .map((name) => name.toLowerCase())
  .sort();
const lower = (names: readonly string[]) => names.map((name) => name.toLowerCase());

it('the configurations of other gateways send requests to the sidecar only, and contain no secret', () => {
  for (const name of ['nginx.conf', 'haproxy.cfg', 'Caddyfile', 'envoy.yaml', 'apisix.yaml']) {
    const text = read(`deploy/${name}`);
    const lines = text.split('\n').filter((line) => !/^\s*#/.test(line));
    const addresses = lines.join('\n').matchAll(/127\.0\.0\.1(?::|, port_value: )(\d+)/g);
    const ports = Array.from(addresses, ([, port]) => port);
    assert.deepEqual(
      [...new Set(ports)].filter((port) => port !== '8000'),
      ['8080'],
      name,
    );
    assert.doesNotMatch(lines.join('\n'), /(?:broker|orion|scorpio|stellio|1026)/i, name);
    const reference =
      /%\[env\(GATEWAY_TOKEN\)\]|\{env\.GATEWAY_TOKEN\}|%ENVIRONMENT\(GATEWAY_TOKEN\)%|\$\{\{GATEWAY_TOKEN\}\}|\.token;/;
    assert.match(lines.join('\n'), reference, name);
  }
});

it('envoy.yaml removes the fields that the sidecar trusts, retries nothing, sets no time limit, closes idle connections first and leaves paths unchanged', () => {
  const { static_resources: resources } = parse(read('deploy/envoy.yaml')) as {
    static_resources: {
      listeners: { filter_chains: { filters: { typed_config: Manager }[] }[] }[];
      clusters: {
        typed_extension_protocol_options: Readonly<
          Record<string, { readonly common_http_protocol_options: object }>
        >;
      }[];
    };
  };
  interface Manager {
    readonly normalize_path: boolean;
    readonly merge_slashes: boolean;
    readonly path_with_escaped_slashes_action: string;
    readonly common_http_protocol_options: { readonly headers_with_underscores_action: string };
    readonly early_header_mutation_extensions: {
      readonly typed_config: { readonly mutations: { readonly remove: string }[] };
    }[];
    readonly http_filters: { readonly name: string; readonly typed_config: { readonly rules?: object } }[];
    readonly route_config: { readonly virtual_hosts: { readonly routes: readonly object[] }[] };
  }
  const manager = resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config ?? assert.fail();
  const removed =
    manager.early_header_mutation_extensions[0]?.typed_config.mutations.map(({ remove }) => remove) ?? [];
  for (const name of TRUSTED) assert.ok(removed.includes(name), name);
  assert.ok(removed.includes('x-envoy-retry-on'), 'by which clients ask for retries');
  assert.equal(manager.common_http_protocol_options.headers_with_underscores_action, 'REJECT_REQUEST');
  assert.deepEqual(
    [manager.normalize_path, manager.merge_slashes, manager.path_with_escaped_slashes_action],
    [false, false, 'KEEP_UNCHANGED'],
  );
  assert.deepEqual(manager.route_config.virtual_hosts[0]?.routes, [
    {
      match: { prefix: '/' },
      route: { cluster: 'sidecar', timeout: '0s' },
      request_headers_to_remove: ['authorization'],
      request_headers_to_add: [
        {
          header: { key: 'x-gateway-token', value: '%ENVIRONMENT(GATEWAY_TOKEN)%' },
          append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
        },
      ],
    },
  ]);
  assert.doesNotMatch(read('deploy/envoy.yaml'), /retry_policy:/);
  const options = resources.clusters[0]?.typed_extension_protocol_options ?? {};
  assert.deepEqual(
    Object.values(options).map((one) => one.common_http_protocol_options),
    [{ idle_timeout: '60s' }],
    'it never sends into a connection that the sidecar closes',
  );
  const filters = manager.http_filters;
  assert.deepEqual(
    filters.map(({ name }) => name.replace('envoy.filters.http.', '')),
    ['basic_auth', 'rbac', 'router'],
  );
  // All callers may read; the callers who may do anything else are named.
  const is = (name: string, exact: string) => ({ header: { name, string_match: { exact } } });
  assert.deepEqual(filters[1]?.typed_config.rules, {
    action: 'ALLOW',
    policies: {
      readers: {
        permissions: ['GET', 'HEAD', 'OPTIONS'].map((method) => is(':method', method)),
        principals: [{ any: true }],
      },
      purgers: { permissions: [{ any: true }], principals: [is('x-consumer-username', 'alice')] },
    },
  });
});

it('apisix.yaml removes or replaces the fields that the sidecar trusts, retries nothing, waits for purges and leaves paths unchanged', () => {
  const { services, routes } = parse(read('deploy/apisix.yaml')) as {
    readonly routes: readonly object[];
    readonly services: readonly [
      {
        readonly upstream: { readonly retries: number; readonly timeout: { readonly read: number } };
        readonly plugins: {
          readonly 'basic-auth': { readonly hide_credentials: boolean };
          readonly 'proxy-control': object;
          readonly 'proxy-buffering'?: object;
          readonly 'attach-consumer-label': object;
          readonly 'proxy-rewrite': {
            readonly use_real_request_uri_unsafe: boolean;
            readonly headers: {
              readonly remove: readonly string[];
              readonly set: Readonly<Record<string, string>>;
            };
          };
        };
      },
    ];
  };
  const [{ upstream, plugins }] = services;
  const { headers, ...rewrite } = plugins['proxy-rewrite'];
  const byBasicAuth = ['x-consumer-username', 'x-consumer-custom-id', 'x-credential-identifier'];
  assert.deepEqual(
    [...lower(headers.remove), ...lower(Object.keys(headers.set)), ...byBasicAuth].sort(),
    TRUSTED,
  );
  assert.deepEqual([upstream.retries, upstream.timeout.read], [0, 3600]);
  assert.deepEqual(rewrite, { use_real_request_uri_unsafe: true });
  assert.equal(plugins['basic-auth'].hide_credentials, true);
  // With proxy-buffering, APISIX would forget the setting of proxy-control and store each body before it sends it on.
  assert.deepEqual(
    [plugins['proxy-control'], plugins['proxy-buffering']],
    [{ request_buffering: false }, undefined],
  );
  // The limits of a caller: APISIX would ignore a proxy-rewrite of a consumer.
  assert.deepEqual(plugins['attach-consumer-label'], { headers: { 'X-Purge-Policy': '$purge-policy' } });
  // All callers may read; the callers who may do anything else are named.
  const common = { uri: '/*', service_id: 'ngsi-ld-gateway' };
  assert.deepEqual(routes, [
    { id: 'ngsi-ld-gateway-read', methods: ['GET', 'HEAD', 'OPTIONS'], priority: 1, ...common },
    {
      id: 'ngsi-ld-gateway-change',
      ...common,
      plugins: { 'consumer-restriction': { whitelist: ['alice'] } },
    },
  ]);
});

it('apisix.yaml listens on loopback only, tells nobody the token, and leaves it to the sidecar to refuse headers with underscores', () => {
  const [, block = ''] =
    /^# In conf\/config\.yaml:\n((?:# {3}.*\n)+)/m.exec(read('deploy/apisix.yaml')) ?? [];
  assert.deepEqual(parse(block.replaceAll(/^# {3}/gm, '')), {
    // Without a password, the control API tells the token to every program on the machine.
    apisix: { node_listen: [{ ip: '127.0.0.1', port: 8000 }], enable_control: false },
    deployment: { role: 'data_plane', role_data_plane: { config_provider: 'yaml' } },
    nginx_config: {
      // After a reload, APISIX would cut off a purge after 4 minutes.
      worker_shutdown_timeout: '1h',
      // Without its NGSILD_Tenant, a purge would delete from the default tenant.
      http: { client_max_body_size: 0, underscores_in_headers: 'on' },
      http_server_configuration_snippet:
        'large_client_header_buffers 4 64k; proxy_buffer_size 64k; proxy_buffers 4 64k; proxy_buffering off;\n',
    },
  });
});

it('docs/operations/other-gateways.md names every file of deploy/ except those for Kubernetes', () => {
  const page = read('docs/operations/other-gateways.md');
  for (const name of readdirSync(join(ROOT, 'deploy')).filter((each) => each !== 'kubernetes'))
    assert.ok(page.includes(`deploy/${name}`), name);
});
