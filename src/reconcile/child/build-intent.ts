import type { ChildPlan } from '../../compile/index.ts';
import type { ObjectRef } from '../../kube/roles.ts';
import { apiVersionOf } from '../../util/gvk.ts';
import type { KubeObject, OwnerReference } from '../../util/kube-object.ts';
import type { Problem } from '../failure.ts';
import { identityOf, topicOfRef } from '../identity.ts';
import type { Intent } from '../intent/intent.ts';
import { pathHash } from '../intent/path-hash.ts';
import { prepare } from '../intent/prepare.ts';
import {
  childLabel,
  definitionLabel,
  deleteWhenAnnotation,
  deletionPolicyAnnotation,
  indexAnnotation,
  managedByLabel,
  managedByValue,
  ownerUidLabel,
  selectedByAnnotation,
} from '../names.ts';
import { type Placement, placementOf } from '../ownership/placement.ts';
import type { Given, Pass } from '../pass/pass.ts';
import { isNameOpen } from '../secrecy.ts';

/** One element as its template gives it. */
export interface Rendering {
  readonly manifest: KubeObject;
  /** Its place in the list. */
  readonly index: number;
}

/** Makes a rendered manifest ours: namespace, labels, controller reference; prepared, so that it can be applied and compared. */
export function buildIntent(pass: Pass, plan: ChildPlan, wanted: Rendering): Intent | Problem {
  const placement = placementOf(pass, plan, wanted.manifest);
  if ('reason' in placement) return placement;
  const { namespace } = placement;
  const { name } = wanted.manifest.metadata;
  const hasStatus = pass.context.cluster.resourceFor(plan.gvk)?.hasStatus ?? true;
  const manifest = prepare(withBookkeeping(pass, plan, { ...wanted, namespace }), plan.type, {
    hasStatus,
  });
  const ref: ObjectRef = {
    gvk: plan.gvk,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(!isNameOpen(plan) && { isPrivate: true }),
  };
  return {
    ref,
    topic: topicOfRef(ref),
    identity: identityOf(plan.gvk, namespace, name),
    manifest,
    pathHash: pathHash(manifest, plan.type),
  };
}

function withBookkeeping(
  pass: Pass,
  plan: ChildPlan,
  { manifest: rendered, index, namespace }: Rendering & Placement,
): KubeObject {
  const annotations = bookkeptAnnotations(pass, plan, index);
  return {
    ...rendered,
    metadata: {
      ...rendered.metadata,
      ...(namespace === undefined ? {} : { namespace }),
      labels: {
        ...rendered.metadata.labels,
        [managedByLabel]: managedByValue,
        [definitionLabel]: pass.context.plan.name,
        [childLabel]: plan.id,
        [ownerUidLabel]: pass.uid,
      },
      ...(annotations && { annotations: { ...rendered.metadata.annotations, ...annotations } }),
      ...(!plan.isDetached && { ownerReferences: [controllerReference(pass)] }),
    },
  };
}

/** What a child must say for itself, for when its definition says something else, or nothing any more. */
function bookkeptAnnotations(
  { context }: Given,
  { deletionPolicy, hasDeleteWhen, ordered, isList }: ChildPlan,
  index: number,
): Readonly<Record<string, string>> | undefined {
  const { digest } = context.watches.resources.membership;
  const isPlain = deletionPolicy === 'Delete' && !hasDeleteWhen && !ordered;
  if (isPlain && digest === undefined) return undefined;
  return {
    // A change of the definition's selectors is told from a change of the object by what its children say.
    ...(digest !== undefined && { [selectedByAnnotation]: digest }),
    ...(deletionPolicy === 'Orphan' && { [deletionPolicyAnnotation]: deletionPolicy }),
    ...(hasDeleteWhen && { [deleteWhenAnnotation]: 'true' }),
    ...(ordered && isList && { [indexAnnotation]: String(index) }),
  };
}

function controllerReference({ context, resource, uid }: Given): OwnerReference {
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
