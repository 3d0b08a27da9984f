import type { KubeObject } from '#util/kube-object.ts';

const apiVersion = 'homeostat.dev/v1alpha1';
export const namespace = 'default';
export const objectsPath = `/apis/${apiVersion}/namespaces/${namespace}/httpobjects`;

export function endpoint(name: string, url: string): KubeObject {
  const limits = { requestsPerSecond: 1_000, concurrent: 20 };
  const metadata = { name, namespace };
  return { apiVersion, kind: 'HttpEndpoint', metadata, spec: { url, limits } };
}

/** An object that its path names. @param every time between two observations */
export function httpObject(
  name: string,
  { of, value, every }: { readonly of: string; readonly value: string; readonly every: string },
): KubeObject {
  const path = '/things/{name}';
  return {
    ...{ apiVersion, kind: 'HttpObject', metadata: { name, namespace } },
    spec: {
      ...{ endpoint: { name: of }, params: { name }, desired: { value }, every },
      observe: { path },
      create: { method: 'PUT', path },
      update: { path },
      delete: { path },
    },
  };
}

/** The path of an object in the API. */
export function pathOf(name: string): string {
  return `/things/${name}`;
}

export function namesOf(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}
