import type { KubeObject } from '../util/kube-object.ts';
import { childLabel } from './names.ts';

/** The id of the child that an object is of, as it says itself; empty when it does not. */
export function childIdOf({ metadata }: Pick<KubeObject, 'metadata'>): string {
  return metadata.labels?.[childLabel] ?? '';
}
