import { canonicalJson } from '#util/canonical-json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { sha256Hex } from '#util/sha256.ts';
import { appliedAnnotation, intentAnnotation, managedByLabel } from '#util/stored-names.ts';

/**
 * A hash of an intent with its values. It distinguishes a change of the intent from a change of the object by another manager. It includes
 * the UID of the owner, so that equal values of two resources have different hashes. Never used for Secrets: values could be guessed from it.
 * @param intent Prepared.
 * @returns 16 lower-case hex digits.
 */
export function intentHash(intent: KubeObject, ownerUid: string): string {
  return sha256Hex(`${ownerUid}\n${canonicalJson(withoutBookkeeping(intent))}`).slice(0, 16);
}

/** Our own labels and annotations may change without a change of the intent. */
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

/** The intent hash in the annotation of a live object. */
export function intentHashOf(live: KubeObject): string | undefined {
  return live.metadata.annotations?.[intentAnnotation];
}

/** Adds the annotation with the intent hash. */
export function withIntentHash(intent: KubeObject, hash: string): KubeObject {
  return withAnnotation(intent, intentAnnotation, hash);
}

/**
 * Adds the annotation with the path hash: the manifest that is sent. Compared with `covers`, it also shows whether an intent with the same
 * fields was applied last.
 */
export function withPathHash(intent: KubeObject, hash: string): KubeObject {
  return withAnnotation(intent, appliedAnnotation, hash);
}

/** Adds an annotation to an intent. */
export function withAnnotation(intent: KubeObject, key: string, value: string): KubeObject {
  const annotations = { ...intent.metadata.annotations, [key]: value };
  return { ...intent, metadata: { ...intent.metadata, annotations } };
}

/** The path hash in the annotation of a live object. */
export function appliedHashOf(live: KubeObject): string | undefined {
  return live.metadata.annotations?.[appliedAnnotation];
}
