import { bundledSchemas } from '#compile';
import { builtinNames } from '#sandbox';
import { permissiveCrd } from '#simulation';
import { gvkKey, gvkOf } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** What a simulated cluster must have for objects to exist in it. */
export interface SimulatedCluster {
  /** CRDs of the kinds that it does not serve, and namespaces. */
  readonly given: readonly KubeObject[];
  /** Objects of kinds that it serves without their schema: any content is accepted. */
  readonly unchecked: readonly KubeObject[];
  /** Objects of kinds that it cannot serve: other versions of built-in kinds. */
  readonly unserved: readonly KubeObject[];
}

/**
 * Completes a simulated cluster: kinds that it does not serve accept any content, and all namespaces exist.
 * @param prerequisites CRDs and namespaces that the objects need; other objects are not used
 * @param namespaces that must exist, beside those of the objects
 */
export function clusterFor(
  objects: readonly KubeObject[],
  prerequisites: readonly KubeObject[],
  namespaces: readonly string[],
): SimulatedCluster {
  const own = prerequisites.filter(isUsableCrd);
  const crds = new Map(own.map((crd) => [crd.metadata.name, crd]));
  const unserved: KubeObject[] = [];
  const unchecked: KubeObject[] = [];
  for (const object of objects) {
    const gvk = gvkOf(object.apiVersion, object.kind);
    if (isServed(object) || own.some((crd) => definesKind(crd, object))) continue;
    if (gvk.group === '' || !gvk.group.includes('.')) unserved.push(object);
    else {
      const isCluster = bundledSchemas().isNamespaced(gvk) === false;
      const crd = permissiveCrd(gvk, { isCluster });
      crds.set(crd.metadata.name, crd);
      unchecked.push(object);
    }
  }
  const inputs = prerequisites.filter(({ kind }) => kind === 'Namespace');
  const created = objects.filter(({ kind }) => kind === 'Namespace');
  const known = new Set([
    ...existing,
    ...[...inputs, ...created].map(({ metadata }) => metadata.name),
  ]);
  const needed = new Set([
    ...namespaces,
    ...objects.flatMap(({ metadata }) => metadata.namespace ?? []),
  ]);
  const missing = [...needed].filter((name) => !known.has(name));
  return {
    given: [...crds.values(), ...inputs, ...missing.map(namespaceOf)],
    unchecked,
    unserved,
  };
}

/** The namespaces that every cluster has. */
const existing = ['default', 'kube-system', 'kube-public', 'kube-node-lease'] as const;

function namespaceOf(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

function isServed({ apiVersion, kind }: KubeObject): boolean {
  const key = gvkKey(gvkOf(apiVersion, kind));
  return builtinNames().some((each) => gvkKey(each) === key);
}

function isUsableCrd({ apiVersion, kind }: KubeObject): boolean {
  return kind === 'CustomResourceDefinition' && apiVersion === 'apiextensions.k8s.io/v1';
}

function definesKind(
  { spec }: KubeObject & { readonly spec?: unknown },
  object: KubeObject,
): boolean {
  if (!isJsonObject(spec) || !isJsonObject(spec.names)) return false;
  const { group, version } = gvkOf(object.apiVersion, object.kind);
  const versions = Array.isArray(spec.versions) ? spec.versions.filter(isJsonObject) : [];
  return (
    spec.group === group &&
    spec.names.kind === object.kind &&
    versions.some(({ name, served }) => name === version && served !== false)
  );
}
