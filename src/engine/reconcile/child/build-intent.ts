import type { ChildPlan } from '#compile';
import { apiVersionOf } from '#util/gvk.ts';
import type { KubeObject, OwnerReference } from '#util/kube-object.ts';
import {
  cascadeAnnotation,
  childLabel,
  definitionLabel,
  deleteWhenAnnotation,
  deletionPolicyAnnotation,
  holdsDataAnnotation,
  hubLabel,
  indexAnnotation,
  managedByLabel,
  managedByValue,
  ownerUidLabel,
  pruneAnnotation,
  selectedByAnnotation,
} from '#util/stored-names.ts';
import type { Problem } from '../failure.ts';
import { identityOfRef, kindAt, refTo } from '../identity.ts';
import type { Intent } from '../intent/intent.ts';
import { withoutLeft } from '../intent/left-fields.ts';
import { pathHash } from '../intent/path-hash.ts';
import { prepare } from '../intent/prepare.ts';
import { namespaceOf, type ObjectNamespace } from '../ownership/namespace-of.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import { isNamePublic } from '../secrecy.ts';
import { isElsewhere } from '../where.ts';

/** A rendered element. */
interface RenderedElement {
  readonly manifest: KubeObject;
  /** Undefined: in that of the resource. */
  readonly cluster: string | undefined;
  /** Index in the list. */
  readonly index: number;
}

/** Adds namespace, labels and controller reference to a rendered manifest, and prepares it for apply and comparison. */
export function buildIntent(
  pass: Pass,
  plan: ChildPlan,
  rendered: RenderedElement,
): Intent | Problem {
  const { manifest: object, cluster } = rendered;
  const found = namespaceOf(pass, plan, { object, cluster });
  if ('reason' in found) return found;
  const { namespace } = found;
  const { name } = object.metadata;
  const gvk = kindAt(plan.gvk, cluster);
  const hasStatus = pass.context.cluster.resourceFor(gvk)?.hasStatus ?? true;
  const manifest = prepare(withOwnership(pass, plan, { ...rendered, namespace }), plan.type, {
    hasStatus,
  });
  const ref = refTo(gvk, namespace, name);
  return withoutLeft(plan, {
    ref: isNamePublic(plan) ? ref : { ...ref, isPrivate: true },
    identity: identityOfRef(ref),
    manifest,
    pathHash: pathHash(manifest, plan.type),
  });
}

function withOwnership(
  pass: Pass,
  plan: ChildPlan,
  { manifest, index, namespace }: RenderedElement & ObjectNamespace,
): KubeObject {
  const annotations = annotationsFor(pass, plan, index);
  const { hubUid } = pass.others ?? {};
  return {
    ...manifest,
    metadata: {
      ...manifest.metadata,
      ...(namespace === undefined ? {} : { namespace }),
      labels: {
        ...manifest.metadata.labels,
        [managedByLabel]: managedByValue,
        [definitionLabel]: pass.context.plan.name,
        [childLabel]: plan.id,
        [ownerUidLabel]: pass.uid,
        ...(isElsewhere(plan) && hubUid !== undefined && { [hubLabel]: hubUid }),
      },
      ...(annotations && { annotations: { ...manifest.metadata.annotations, ...annotations } }),
      ...(!plan.isDetached && { ownerReferences: [controllerReference(pass)] }),
    },
  };
}

/** Annotations that a deletion needs when the definition has changed or is deleted. */
function annotationsFor(
  { context }: PassInput,
  { deletionPolicy, holdsData, prune, cascade, hasDeleteWhen, ordered, isList }: ChildPlan,
  index: number,
): Readonly<Record<string, string>> | undefined {
  const { digest } = context.watches.resources.membership;
  const annotations = {
    // They distinguish a change of the definition's selectors from a change of the object.
    ...(digest !== undefined && { [selectedByAnnotation]: digest }),
    ...(deletionPolicy === 'Orphan' && { [deletionPolicyAnnotation]: deletionPolicy }),
    ...(holdsData !== undefined && { [holdsDataAnnotation]: String(holdsData) }),
    ...(prune === 'AfterReady' && { [pruneAnnotation]: prune }),
    ...(cascade !== undefined && { [cascadeAnnotation]: cascade }),
    ...(hasDeleteWhen && { [deleteWhenAnnotation]: 'true' }),
    ...(ordered && isList && { [indexAnnotation]: String(index) }),
  };
  return Object.keys(annotations).length === 0 ? undefined : annotations;
}

function controllerReference({ context, resource, uid }: PassInput): OwnerReference {
  const { gvk } = context.plan.definition.kind;
  return {
    apiVersion: apiVersionOf(gvk),
    kind: gvk.kind,
    name: resource.metadata.name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
