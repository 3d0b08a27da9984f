import type { KubeObject } from '#util/kube-object.ts';

interface CrdStatus {
  /** Null for a moment after the creation. */
  readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null;
}

/** Does the API server say of a CustomResourceDefinition that it serves it? It may write no more conditions then. */
export function isEstablished(crd: KubeObject | undefined): boolean {
  const { conditions } = (crd?.status ?? {}) as CrdStatus;
  return (
    conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false
  );
}
