import type { CrdKind } from '../definition/index.ts';
import {
  childKindsAnnotation,
  definitionLabel,
  managedByLabel,
  managedByValue,
} from '../reconcile/index.ts';
import { crdGvk, storedKind } from './crd/index.ts';
import type { RuntimeCluster } from './runtime-cluster.ts';

/** A definition of which the cluster knows: its CRD carries its name and the kinds of its children. */
export interface RecordedDefinition {
  readonly name: string;
  readonly kind: CrdKind;
}

/** The CRDs that definitions have installed: one watch, whoever looks. */
export const crdsOnRecord = {
  gvk: crdGvk,
  labelSelector: `${managedByLabel}=${managedByValue},${definitionLabel}`,
} as const;

/** The definitions that have installed a CRD here and make children of it, whether somebody still has them or not. One list. */
export async function definitionsOnRecord(
  cluster: RuntimeCluster,
  signal: AbortSignal,
): Promise<readonly RecordedDefinition[]> {
  const crds = cluster.acquire(crdsOnRecord);
  try {
    await crds.whenSynced(signal);
    return Array.from(crds.list(), ({ object }) => object).flatMap((crd) => {
      const { labels = {}, annotations = {} } = crd.metadata;
      const name = labels[definitionLabel];
      const kind = storedKind(crd);
      const makesChildren = annotations[childKindsAnnotation] !== undefined;
      return name !== undefined && kind !== undefined && makesChildren ? [{ name, kind }] : [];
    });
  } finally {
    crds.release();
  }
}
