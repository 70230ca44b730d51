import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { callerHeaders } from '../../kong-plugins/ngsi-ld-purge/caller.js';
import { loadConfig } from '../../sidecar/shared/config/load.js';
import { settings } from '../../sidecar/shared/config/settings.js';
import { readKongFile } from '../support/kong-router.js';
import { faultsOf, manifestsIn, manifestsOf, type Manifest } from '../support/kubernetes.js';
import { ROOT } from '../support/project.js';
import { findProgram } from '../support/reverse-proxies.js';

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');

interface Container {
  readonly image: string;
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: object;
  readonly [probe: `${string}Probe`]: {
    readonly httpGet: { readonly path: string; readonly port: string };
    readonly periodSeconds?: number;
    readonly failureThreshold?: number;
  };
}
interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: object;
  readonly containers: readonly [Container];
  readonly volumes: readonly {
    readonly name: string;
    readonly emptyDir?: object;
    readonly persistentVolumeClaim?: object;
  }[];
}
interface DeploymentSpec {
  readonly replicas: number;
  readonly strategy: { readonly type: string };
  readonly template: { readonly spec: Pod };
}

const specOf = (manifests: readonly Manifest[], kind: string): unknown =>
  manifests.find((manifest) => manifest.kind === kind)?.spec ?? assert.fail(kind);

const base = specOf(manifestsOf('base/deployment.yaml'), 'Deployment') as DeploymentSpec;
const pod = base.template.spec;
const [container] = pod.containers;
/** Settings of the base that are no secrets. */
const env = Object.fromEntries(
  Array.from(
    read('deploy/kubernetes/base/settings.env').matchAll(/^([A-Z_]+)=(.*)$/gm),
    ([, name, value]) => [name, value],
  ),
) as Record<string, string>;

it('the manifests for Kubernetes have only fields in the schemas of Kubernetes, the Gateway API and Prometheus', () => {
  for (const name of [
    ...['deployment', 'service', 'volume', 'network-policy'].map((each) => `base/${each}.yaml`),
    'overlays/postgresql/disruption-budget.yaml',
    'components/pod-monitor/pod-monitor.yaml',
    'examples/gateway-api.yaml',
  ])
    for (const manifest of manifestsOf(name)) assert.deepEqual(faultsOf(manifest), [], name);
});

it('the check of manifests finds wrong types, wrong values and names that are not in the schema', () => {
  const [deployment] = manifestsOf('base/deployment.yaml');
  assert.ok(deployment !== undefined);
  const changed = (find: string, by: string) =>
    faultsOf(JSON.parse(JSON.stringify(deployment).replace(find, by)) as Manifest).join();
  assert.match(changed('"replicas":1', '"replicas":"1"'), /must be integer/);
  assert.match(changed('"Recreate"', '"recreate"'), /must be equal to one of/);
  assert.match(
    changed('readOnlyRootFilesystem', 'readOnlyRootFileSystem'),
    /readOnlyRootFileSystem is not in the schema/,
  );
});

/** The objects that each folder produces with Kustomize. */
const BUILT = {
  base: ['ConfigMap', 'Deployment', 'NetworkPolicy', 'PersistentVolumeClaim', 'Service'],
  'overlays/postgresql': ['ConfigMap', 'Deployment', 'NetworkPolicy', 'PodDisruptionBudget', 'Service'],
};
const kubectl = findProgram('kubectl');

for (const [folder, kinds] of Object.entries(BUILT))
  it(
    `kubectl builds deploy/kubernetes/${folder} into objects that Kubernetes accepts`,
    { skip: kubectl === undefined ? 'kubectl is not installed' : false },
    () => {
      const path = join(ROOT, 'deploy/kubernetes', folder);
      const manifests = manifestsIn(execFileSync(kubectl ?? '', ['kustomize', path], { encoding: 'utf8' }));
      assert.deepEqual(manifests.map(({ kind }) => kind).sort(), kinds);
      for (const manifest of manifests) assert.deepEqual(faultsOf(manifest), []);
      const { replicas, strategy, template } = specOf(manifests, 'Deployment') as DeploymentSpec;
      const data = template.spec.volumes.find(({ name }) => name === 'data');
      const names = template.spec.containers[0].env.map(({ name }) => name);
      // A SQLite file has one process, and a volume.
      const isShared = folder !== 'base';
      assert.deepEqual([replicas, strategy.type], isShared ? [3, 'RollingUpdate'] : [1, 'Recreate']);
      assert.equal(data?.persistentVolumeClaim === undefined, isShared);
      assert.equal(data?.emptyDir !== undefined, isShared);
      assert.equal(names.includes('DATABASE_URL'), isShared);
      for (const name of names) assert.ok(name in settings, name);
    },
  );

it('the manifests for Kubernetes set only existing settings, with valid values, and no secret', () => {
  const config = loadConfig({ HOST: '0.0.0.0', GATEWAY_TOKEN: 'token-of-a-test', ...env });
  assert.equal(config.METRICS_PORT, container.ports.find(({ name }) => name === 'metrics')?.containerPort);
  for (const { name, value, valueFrom } of container.env) {
    assert.ok(name in settings, name);
    assert.deepEqual([value, valueFrom === undefined], [undefined, false], name);
  }
  assert.doesNotMatch(Object.keys(env).join(), /TOKEN|SECRET|DATABASE_URL|KEY/);
});

it('a pod gets no new requests before SIGTERM, and afterwards has the time that the sidecar needs to stop', () => {
  const preStopMs = container.lifecycle.preStop.sleep.seconds * 1000;
  assert.ok(preStopMs >= 5000);
  const { SHUTDOWN_GRACE_MS } = loadConfig({ BROKER_URL: 'embedded', ...env });
  // Two more seconds for the last answers, and five for closing, see sidecar/graceful-shutdown.ts.
  assert.ok(pod.terminationGracePeriodSeconds * 1000 > preStopMs + SHUTDOWN_GRACE_MS + 7000);
});

it('the probes of a pod check only whether the process is alive, and do not depend on the broker and the database', () => {
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'] as const)
    assert.deepEqual(container[probe]?.httpGet, { path: '/health/live', port: 'http' }, probe);
});

it('a pod has ten minutes to migrate the tables before it listens', () => {
  const { periodSeconds = 10, failureThreshold = 3 } = container.startupProbe ?? {};
  assert.ok(periodSeconds * failureThreshold >= 600);
});

it('a pod runs as the user of the image, without privileges, and writes only to the folders of the image for it', () => {
  assert.deepEqual(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  // The images of Node.js have the user node as 1000.
  assert.match(read('sidecar/Dockerfile'), /^USER node$/m);
  assert.deepEqual(pod.securityContext, {
    runAsNonRoot: true,
    runAsUser: 1000,
    runAsGroup: 1000,
    fsGroup: 1000,
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
  });
  assert.match(read('sidecar/Dockerfile'), /DATABASE_PATH=\/data\//);
  assert.deepEqual(
    container.volumeMounts.map(({ mountPath }) => mountPath),
    ['/data', '/tmp'],
  );
  assert.ok(read('docker-compose.yml').includes(`image: ${container.image}\n`), container.image);
});

it('the route of the Gateway API adds no token, removes the fields that the sidecar trusts, and has no time limit', () => {
  const { rules } = specOf(manifestsOf('examples/gateway-api.yaml'), 'HTTPRoute') as {
    readonly rules: readonly Rule[];
  };
  interface Rule {
    readonly filters: readonly { readonly requestHeaderModifier: Readonly<Record<string, unknown>> }[];
    readonly timeouts: object;
  }
  assert.deepEqual(
    rules.map(({ filters, timeouts }) => [
      filters.map(({ requestHeaderModifier }) => requestHeaderModifier),
      timeouts,
    ]),
    [[[{ remove: callerHeaders }], { request: '0s', backendRequest: '0s' }]],
  );
});

it('the ingresses for Kong have the routes and plugins of kong-plugin-free.yml', () => {
  const manifests = manifestsOf('examples/kong-ingress-controller.yaml');
  const { services } = readKongFile(read('deploy/kong-plugin-free.yml'));
  const plugins = new Map(
    manifests
      .filter(({ kind }) => kind === 'KongPlugin')
      .map((manifest) => [manifest.metadata.name, manifest as unknown as { plugin: string; config: object }]),
  );
  const ingresses = manifests.filter(({ kind }) => kind === 'Ingress');
  for (const manifest of manifests.filter(({ kind }) => kind === 'Ingress' || kind === 'Service'))
    assert.deepEqual(faultsOf(manifest), []);
  const routes = services.flatMap(({ routes: own, plugins: shared = [] }) =>
    own.map((route) => ({ ...route, plugins: [...shared, ...(route.plugins ?? [])] })),
  );
  assert.deepEqual(
    ingresses.map(({ metadata }) => metadata.name).sort(),
    routes.map(({ name }) => name).sort(),
  );
  for (const { name, methods = [], paths = [], plugins: own } of routes) {
    const ingress = ingresses.find(({ metadata }) => metadata.name === name) ?? assert.fail(name);
    const { annotations = {} } = ingress.metadata;
    const { rules } = ingress.spec as {
      readonly rules: readonly [{ http: { paths: readonly { path: string }[] } }];
    };
    assert.equal(annotations['konghq.com/methods'], methods.join(), name);
    assert.deepEqual(
      rules[0].http.paths.map(({ path }) => path.replace(/^\/~/, '~')),
      paths,
    );
    assert.deepEqual(
      [annotations['konghq.com/strip-path'], annotations['konghq.com/preserve-host']],
      ['false', 'true'],
    );
    const used = (annotations['konghq.com/plugins'] ?? '').split(', ').map((each) => plugins.get(each));
    assert.deepEqual(
      used.map((plugin) => ({ name: plugin?.plugin, config: plugin?.config })),
      // The token comes from a Secret.
      own.map((plugin) => ({ name: plugin.name, config: without(plugin.config, 'add') })),
      name,
    );
  }
  const service = manifests.find(({ kind }) => kind === 'Service');
  assert.equal(service?.metadata.annotations?.['konghq.com/retries'], '0');
  assert.deepEqual(service.spec, specOf(manifestsOf('base/service.yaml'), 'Service'));
});

function without(config: Readonly<Record<string, unknown>>, name: string): object {
  return Object.fromEntries(Object.entries(config).filter(([key]) => key !== name));
}
