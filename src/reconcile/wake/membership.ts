import type { OperatorPlan } from '../../compile/index.ts';
import type { ServedKind } from '../../definition/index.ts';
import type { Informer, InformerQuery, Watcher } from '../../kube/roles.ts';
import { canonicalJson } from '../../util/canonical-json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { selectorText, selects } from '../../util/label-selector.ts';
import { sha256Hex } from '../../util/sha256.ts';
import { finalizerOf } from '../names.ts';
import { settled } from './settled.ts';

/** Which objects of its kind are a definition's resources. */
export interface Membership {
  /** What its watch holds: these objects, and maybe others. */
  readonly query: InformerQuery;
  has(object: KubeObject): boolean;
  /** Names the selectors, so that a change of them can be told from a change of an object. Undefined: all objects are meant. */
  readonly digest?: string;
}

/**
 * A definition that sets finalizers, or has left some, watches the whole kind: an object that stops matching while nobody looks would
 * never be let go. Annotations are for nobody but us to select by. Of what does not match only the metadata is held.
 */
export function membershipOf(
  plan: Pick<OperatorPlan, 'definition' | 'isFinalizing'>,
  { hasLeftFinalizers = false }: { readonly hasLeftFinalizers?: boolean } = {},
): Membership {
  const { name, kind } = plan.definition;
  const { gvk } = kind;
  if (kind.source === 'crd' || !isSelective(kind)) return { query: { gvk }, has: () => true };
  const { selector, annotationSelector } = kind;
  const whole = wholeKindQuery(name, kind);
  return {
    query: isNarrowed(plan) && !hasLeftFinalizers ? narrowed(whole, kind) : whole,
    has: ({ metadata: { labels, annotations } }) =>
      (selector === undefined || selects(selector, labels)) &&
      (annotationSelector === undefined || selects(annotationSelector, annotations)),
    digest: sha256Hex(
      canonicalJson({ selector: selector ?? null, annotationSelector: annotationSelector ?? null }),
    ).slice(0, 10),
  };
}
/** Does the watch of a definition show only objects with the labels that it selects by? */
export function isNarrowed({
  definition: { kind },
  isFinalizing,
}: Pick<OperatorPlan, 'definition' | 'isFinalizing'>): boolean {
  return kind.source === 'for' && kind.selector !== undefined && !isFinalizing;
}

/** All objects of a kind; of what is no resource of the definition, and has not its finalizer, only the metadata. */
function wholeKindQuery(definition: string, kind: ServedKind): InformerQuery {
  const { gvk } = kind;
  if (kind.source === 'crd' || !isSelective(kind)) return { gvk };
  const { selector, annotationSelector } = kind;
  const wholeIf = {
    ...(selector && { labels: selector }),
    ...(annotationSelector && { annotations: annotationSelector }),
    finalizer: finalizerOf(definition),
  };
  return { gvk, wholeIf };
}

function narrowed(
  { gvk, wholeIf }: InformerQuery,
  { selector, annotationSelector }: SelectiveKind,
): InformerQuery {
  if (selector === undefined) return { gvk, ...(wholeIf && { wholeIf }) };
  const labelSelector = selectorText(selector);
  // By labels alone there is nothing in the watch that is no resource.
  return annotationSelector === undefined || wholeIf === undefined
    ? { gvk, labelSelector }
    : { gvk, labelSelector, wholeIf };
}

type SelectiveKind = Extract<ServedKind, { source: 'for' }>;

function isSelective(kind: SelectiveKind): boolean {
  return kind.selector !== undefined || kind.annotationSelector !== undefined;
}

export interface LeftFinalizersOptions {
  /** The definition's name. */
  readonly name: string;
  readonly kind: ServedKind;
  readonly watcher: Watcher;
}

/**
 * Does any object of the kind have our finalizer, from a time when the definition needed one? A watch that is narrowed by labels would
 * not show those that match no more. Lists the kind once. True where nobody can tell.
 */
export async function hasLeftFinalizers(
  { name, kind, watcher }: LeftFinalizersOptions,
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

/** Resolves when no object of the kind has our finalizer any more, as far as the watch on it tells. Rejects when the signal aborts. */
export function whenNoFinalizersLeft(
  { name, kind, watcher }: LeftFinalizersOptions,
  signal: AbortSignal,
): Promise<void> {
  const informer = watcher.acquire(wholeKindQuery(name, kind));
  const finalizer = finalizerOf(name);
  return new Promise<void>((resolve, reject) => {
    const stops: (() => void)[] = [];
    const end = (finish: () => void) => {
      signal.removeEventListener('abort', onAbort);
      for (const stop of stops) stop();
      finish();
    };
    const onAbort = () => end(() => reject(signal.reason));
    const look = () => {
      if (informer.state.kind === 'synced' && !holds(informer, finalizer)) end(resolve);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    stops.push(informer.subscribe(look), informer.onState(look));
    // An answer that came while subscribing came before there was anything to stop.
    look();
  }).finally(() => informer.release());
}

function holds(informer: Informer, finalizer: string): boolean {
  return Iterator.from(informer.list()).some(
    ({ object }) => object.metadata.finalizers?.includes(finalizer) === true,
  );
}
