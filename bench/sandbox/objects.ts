import type { Sandbox } from '#sandbox';

export const group = 'bench.example.com';

/** A CRD with a schema that has something to check, prune and default. */
export const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${group}` },
  spec: {
    group,
    names: { kind: 'Thing', plural: 'things' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 0 },
                  mode: { type: 'string', enum: ['fast', 'slow'], default: 'slow' },
                  tags: {
                    type: 'array',
                    items: { type: 'string' },
                    'x-kubernetes-list-type': 'set',
                  },
                },
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
};

export const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const thingsPath = `/apis/${group}/v1/namespaces/default/things`;
export const deploymentsPath = '/apis/apps/v1/namespaces/default/deployments';
export const configMapsPath = '/api/v1/namespaces/default/configmaps';

export function thing(name: string, size: number) {
  return {
    apiVersion: `${group}/v1`,
    kind: 'Thing',
    metadata: { name, labels: { app: name } },
    spec: { size, tags: ['a', 'b'] },
  };
}

/** As operators make them: labels, two containers' worth of fields, no defaults. */
export function deployment(name: string, replicas: number) {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels: { app: name, part: 'web' } },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          containers: [
            {
              name: 'main',
              image: 'busybox',
              command: ['sleep', '3600'],
              env: [{ name: 'MODE', value: 'fast' }],
              ports: [{ name: 'http', containerPort: 8080 }],
            },
          ],
        },
      },
    },
  };
}

export const applyHeaders = { 'content-type': 'application/apply-patch+yaml' };

/** Applies a manifest in this process. @throws Error when it is rejected. */
export function applyTo(sandbox: Sandbox, collection: string, manifest: Manifest): void {
  const path = `${collection}/${manifest.metadata.name}?fieldManager=bench&force=true`;
  const body = JSON.stringify(manifest);
  const answer = sandbox.handle({ method: 'PATCH', path, headers: applyHeaders, body });
  if (answer.status > 201) throw new Error(`${answer.status}: ${answer.body}`);
}

export interface Manifest {
  readonly metadata: { readonly name: string };
}
