import { canonicalJson } from '../../util/canonical-json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { sha256Hex } from '../../util/sha256.ts';
import { appliedAnnotation, intentAnnotation, managedByLabel } from '../names.ts';

/**
 * A hash of an intent with its values, which tells a change of intent from what somebody did to the object. Keyed with the UID of the owner,
 * so that equal values of two resources do not look alike. Never of a Secret: its values could be guessed from it.
 * @param intent Prepared.
 * @returns 16 lower-case hex digits.
 */
export function intentHash(intent: KubeObject, ownerUid: string): string {
  return sha256Hex(`${ownerUid}\n${canonicalJson(withoutBookkeeping(intent))}`).slice(0, 16);
}

/** What we add to an intent is ours to change: its place in a list, how it is to go. */
function withoutBookkeeping({ metadata, ...rest }: KubeObject): object {
  const { labels, annotations, ownerReferences: _, ...others } = metadata;
  return {
    ...rest,
    metadata: { ...others, labels: withoutOurs(labels), annotations: withoutOurs(annotations) },
  };
}

function withoutOurs(entries: Readonly<Record<string, string>> = {}): object {
  return Object.fromEntries(
    Object.entries(entries).filter(
      ([key]) => !key.startsWith('homeostat.dev/') && key !== managedByLabel,
    ),
  );
}

/** The intent hash that a live object carries. */
export function intentHashOf(live: KubeObject): string | undefined {
  return live.metadata.annotations?.[intentAnnotation];
}

/** An intent that says what it is. */
export function noted(intent: KubeObject, hash: string): KubeObject {
  const annotations = { ...intent.metadata.annotations, [intentAnnotation]: hash };
  return { ...intent, metadata: { ...intent.metadata, annotations } };
}

/** A prepared intent with the annotation that carries its path hash: what is sent. Compared with `covers`, it also tells whether the live object was made by an intent of the same shape. */
export function stamped(intent: KubeObject, hash: string): KubeObject {
  const annotations = { ...intent.metadata.annotations, [appliedAnnotation]: hash };
  return { ...intent, metadata: { ...intent.metadata, annotations } };
}

/** The path hash that a live object carries. */
export function appliedHashOf(live: KubeObject): string | undefined {
  return live.metadata.annotations?.[appliedAnnotation];
}
