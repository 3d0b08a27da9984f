import type { OperatorPlan } from '#compile';
import type { ServedKind } from '#definition';
import type { Informer, InformerQuery, Watcher } from '#kube/roles.ts';
import { canonicalJson } from '#util/canonical-json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { formatSelector, matchesSelector } from '#util/label-selector.ts';
import { sha256Hex } from '#util/sha256.ts';
import { finalizerOf } from '#util/stored-names.ts';
import { isRecordKeys } from '../record-keys-secret.ts';
import { settled } from './informer-waits.ts';

/** Determines which objects of a kind are resources of a definition. */
export interface Membership {
  /** Query of the watch: these objects, and maybe others. */
  readonly query: InformerQuery;
  has(object: KubeObject): boolean;
  /** Digest of the selectors, to distinguish their change from a change of an object. Undefined: all objects match. */
  readonly digest?: string;
}

/**
 * A definition that sets finalizers, or whose finalizers remain, watches the whole kind: otherwise an object that stops matching while no
 * process runs would keep its finalizer. The server cannot select by annotations. Only the metadata of other objects is cached.
 */
export function membershipOf(
  plan: Pick<OperatorPlan, 'definition' | 'needsFinalizer'>,
  { hasRemainingFinalizers = false }: { readonly hasRemainingFinalizers?: boolean } = {},
): Membership {
  const { name, kind } = plan.definition;
  const { gvk } = kind;
  if (kind.source === 'crd' || !isSelective(kind))
    return { query: { gvk }, has: ({ metadata }) => !isRecordKeys(gvk, metadata.name) };
  const { selector, annotationSelector } = kind;
  const whole = wholeKindQuery(name, kind);
  return {
    query: isNarrowed(plan) && !hasRemainingFinalizers ? narrowed(whole, kind) : whole,
    has: ({ metadata: { name, labels, annotations } }) =>
      !isRecordKeys(gvk, name) &&
      (selector === undefined || matchesSelector(selector, labels)) &&
      (annotationSelector === undefined || matchesSelector(annotationSelector, annotations)),
    digest: sha256Hex(
      canonicalJson({ selector: selector ?? null, annotationSelector: annotationSelector ?? null }),
    ).slice(0, 10),
  };
}
/** Whether the watch of a definition contains only objects with the selected labels. */
export function isNarrowed({
  definition: { kind },
  needsFinalizer,
}: Pick<OperatorPlan, 'definition' | 'needsFinalizer'>): boolean {
  return kind.source === 'for' && kind.selector !== undefined && !needsFinalizer;
}

/** All objects of a kind. Only the metadata of objects that are neither resources nor have the finalizer. */
function wholeKindQuery(definition: string, kind: ServedKind): InformerQuery {
  const { gvk } = kind;
  if (kind.source === 'crd' || !isSelective(kind)) return { gvk };
  const { selector, annotationSelector } = kind;
  const fullObjects = {
    ...(selector && { labels: selector }),
    ...(annotationSelector && { annotations: annotationSelector }),
    finalizer: finalizerOf(definition),
  };
  return { gvk, fullObjects };
}

function narrowed(
  { gvk, fullObjects }: InformerQuery,
  { selector, annotationSelector }: SelectiveKind,
): InformerQuery {
  if (selector === undefined) return { gvk, ...(fullObjects && { fullObjects }) };
  const labelSelector = formatSelector(selector);
  // With a label selector alone, every watched object is a resource.
  return annotationSelector === undefined || fullObjects === undefined
    ? { gvk, labelSelector }
    : { gvk, labelSelector, fullObjects };
}

type SelectiveKind = Extract<ServedKind, { source: 'for' }>;

function isSelective(kind: SelectiveKind): boolean {
  return kind.selector !== undefined || kind.annotationSelector !== undefined;
}

/**
 * Returns whether any object of the kind has our finalizer from an earlier revision that needed one. A watch with a label selector would
 * not contain objects that no longer match. Lists the kind once. True if the list fails.
 */
export async function hasRemainingFinalizers(
  { name, kind }: OperatorPlan['definition'],
  watcher: Watcher,
  signal: AbortSignal,
): Promise<boolean> {
  const informer = watcher.acquire(wholeKindQuery(name, kind));
  try {
    await settled(informer, signal);
    return informer.state.kind !== 'synced' || holds(informer, finalizerOf(name));
  } finally {
    informer.release();
  }
}

function holds(informer: Informer, finalizer: string): boolean {
  return Iterator.from(informer.list()).some(
    ({ object }) => object.metadata.finalizers?.includes(finalizer) === true,
  );
}
