import type { OperatorPlan } from '../../compile/index.ts';
import type { ServedKind } from '../../definition/index.ts';
import type { InformerQuery } from '../../kube/roles.ts';
import { canonicalJson } from '../../util/canonical-json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { selectorText, selects } from '../../util/label-selector.ts';
import { sha256Hex } from '../../util/sha256.ts';
import { finalizerOf } from '../names.ts';

/** Which objects of its kind are a definition's resources. */
export interface Membership {
  /** What its watch holds: these objects, and maybe others. */
  readonly query: InformerQuery;
  has(object: KubeObject): boolean;
  /** Names the selectors, so that a change of them can be told from a change of an object. Undefined: all objects are meant. */
  readonly digest?: string;
}

/**
 * A definition that sets finalizers watches the whole kind: an object that stops matching while nobody looks would never be let go.
 * Annotations are for nobody but us to select by. Of what does not match only the metadata is held.
 */
export function membershipOf({
  definition: { name, kind },
  isFinalizing,
}: Pick<OperatorPlan, 'definition' | 'isFinalizing'>): Membership {
  const { gvk } = kind;
  if (kind.source === 'crd' || !isSelective(kind)) return { query: { gvk }, has: () => true };
  const { selector, annotationSelector } = kind;
  const watched = isFinalizing || selector === undefined ? undefined : selectorText(selector);
  const isNarrow = watched !== undefined && annotationSelector === undefined;
  const wholeIf = {
    ...(selector && { labels: selector }),
    ...(annotationSelector && { annotations: annotationSelector }),
    finalizer: finalizerOf(name),
  };
  return {
    query: {
      gvk,
      ...(watched === undefined ? {} : { labelSelector: watched }),
      ...(isNarrow ? {} : { wholeIf }),
    },
    has: ({ metadata: { labels, annotations } }) =>
      (selector === undefined || selects(selector, labels)) &&
      (annotationSelector === undefined || selects(annotationSelector, annotations)),
    digest: sha256Hex(
      canonicalJson({ selector: selector ?? null, annotationSelector: annotationSelector ?? null }),
    ).slice(0, 10),
  };
}

function isSelective(kind: Extract<ServedKind, { source: 'for' }>): boolean {
  return kind.selector !== undefined || kind.annotationSelector !== undefined;
}
