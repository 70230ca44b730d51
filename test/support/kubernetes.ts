import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Gateway } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/Gateway';
import { HTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute';
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { Service } from 'kubernetes-models/v1/Service';
import { parseAllDocuments } from 'yaml';
import { ROOT } from './project.js';

/** An object of Kubernetes. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: unknown;
}

/** The kinds used here, each with a check generated from its schema. */
const MODELS = [
  ConfigMap,
  Deployment,
  Ingress,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Service,
  Gateway,
  HTTPRoute,
  PodMonitor,
];

/** Returns all objects in a text. */
export function manifestsIn(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS() as Manifest;
  });
}

/** Returns all objects in a file below deploy/kubernetes. */
export function manifestsOf(name: string): Manifest[] {
  return manifestsIn(readFileSync(join(ROOT, 'deploy', 'kubernetes', name), 'utf8'));
}

/**
 * Returns the faults of an object by the schema of its kind, including names that the schema does
 * not have.
 */
export function faultsOf(manifest: Manifest): readonly string[] {
  const model = MODELS.find(
    ({ apiVersion, kind }) => apiVersion === manifest.apiVersion && kind === manifest.kind,
  );
  if (model === undefined) return [`no schema of ${manifest.apiVersion} ${manifest.kind}`];
  const checked = Object.assign(Object.create(model.prototype) as { validate(): void }, manifest);
  const { proxy, unread } = watch(checked);
  try {
    proxy.validate();
  } catch (error) {
    return [String(error)];
  }
  // Schemas allow any name, and Kubernetes drops unknown ones. Checks read every member that they
  // know.
  return [...unread].map((path) => `${path} is not in the schema`);
}

/** Wraps an object so that members that were not read are recorded, on every level. */
function watch<Root extends object>(
  root: Root,
): { readonly proxy: Root; readonly unread: ReadonlySet<string> } {
  const unread = new Set<string>();
  const watched = new Map<object, object>();
  const watchBelow = <Value extends object>(value: Value, path: string): Value => {
    const known = watched.get(value) as Value | undefined;
    if (known !== undefined) return known;
    for (const name of Object.keys(value)) unread.add(`${path}/${name}`);
    const proxy = new Proxy(value, {
      get(target, name) {
        unread.delete(`${path}/${String(name)}`);
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'object' && member !== null
          ? watchBelow(member, `${path}/${String(name)}`)
          : member;
      },
    });
    watched.set(value, proxy);
    return proxy;
  };
  return { proxy: watchBelow(root, ''), unread };
}
