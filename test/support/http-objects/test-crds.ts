import { httpEndpointSchema, httpObjectSchema } from '#http-objects';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** The CustomResourceDefinitions of both kinds. */
export const httpCrds: readonly KubeObject[] = [
  crdOf('HttpEndpoint', httpEndpointSchema),
  crdOf('HttpObject', httpObjectSchema),
];

function crdOf(kind: string, schema: JsonObject): KubeObject {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.homeostat.dev` },
    spec: {
      group: 'homeostat.dev',
      names: { kind, plural, singular, listKind: `${kind}List` },
      scope: 'Namespaced',
      versions: [
        {
          ...{ name: 'v1alpha1', served: true, storage: true },
          subresources: { status: {} },
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  };
}
