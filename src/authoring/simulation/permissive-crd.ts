import { bundledPlural } from '#compile';
import type { Gvk } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { pluralOf } from './plural-of.ts';

/** A CustomResourceDefinition of a kind whose schema is not known: it accepts any content. For simulated clusters. */
export function permissiveCrd(
  gvk: Gvk,
  { isCluster }: { readonly isCluster: boolean },
): KubeObject {
  const singular = gvk.kind.toLowerCase();
  const plural = bundledPlural(gvk) ?? pluralOf(singular);
  const names = { kind: gvk.kind, listKind: `${gvk.kind}List`, plural, singular };
  // A server demands the annotation for groups of Kubernetes.
  const annotations = { 'api-approved.kubernetes.io': 'unapproved, for a simulation' };
  const isProtected = /\.k(?:8s|ubernetes)\.io$/.test(gvk.group);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${gvk.group}`, ...(isProtected && { annotations }) },
    spec: {
      group: gvk.group,
      names,
      scope: isCluster ? 'Cluster' : 'Namespaced',
      versions: [
        {
          name: gvk.version,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      ],
    },
  };
}
