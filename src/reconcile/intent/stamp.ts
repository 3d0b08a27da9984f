import type { KubeObject } from '../../util/kube-object.ts';
import { appliedAnnotation } from '../names.ts';

/** A prepared intent with the annotation that carries its path hash: what is sent. Compared with `covers`, it also tells whether the live object was made by an intent of the same shape. */
export function stamped(intent: KubeObject, hash: string): KubeObject {
  const annotations = { ...intent.metadata.annotations, [appliedAnnotation]: hash };
  return { ...intent, metadata: { ...intent.metadata, annotations } };
}

/** The path hash that a live object carries. */
export function appliedHashOf(live: KubeObject): string | undefined {
  return live.metadata.annotations?.[appliedAnnotation];
}
