import type { ChildPlan } from '../../compile/index.ts';
import type { ObjectRef } from '../../kube/roles.ts';
import { apiVersionOf } from '../../util/gvk.ts';
import type { KubeObject, OwnerReference } from '../../util/kube-object.ts';
import { isNamespaced } from '../context.ts';
import type { Problem } from '../failure.ts';
import { pathHash } from '../intent/path-hash.ts';
import { prepare } from '../intent/prepare.ts';
import {
  childLabel,
  definitionLabel,
  managedByLabel,
  managedByValue,
  ownerUidLabel,
} from '../names.ts';
import { identityOf } from '../wake/child-watch.ts';
import { topicOfRef } from '../wake/named-objects.ts';
import type { Pass } from './pass.ts';

/** What an element is to be. */
export interface Intent {
  readonly ref: ObjectRef;
  /** For all that is remembered of the object. */
  readonly topic: string;
  /** Without the version: an object has one element that wants it. */
  readonly identity: string;
  /** Prepared, with our bookkeeping but for the annotation that holds {@link pathHash}; what is compared. */
  readonly manifest: KubeObject;
  readonly pathHash: string;
}

/** Makes a rendered manifest ours: namespace, labels, controller reference; prepared, so that it can be applied and compared. */
export function buildIntent(pass: Pass, plan: ChildPlan, rendered: KubeObject): Intent | Problem {
  const wrong = misplaced(pass, plan, rendered);
  if (wrong !== undefined) return wrong;
  const namespace = childNamespace(pass, plan);
  const { name } = rendered.metadata;
  const hasStatus = pass.context.cluster.resourceFor(plan.gvk)?.hasStatus ?? true;
  const manifest = prepare(withBookkeeping(pass, plan, rendered, namespace), plan.type, {
    hasStatus,
  });
  const ref = { gvk: plan.gvk, name, ...(namespace === undefined ? {} : { namespace }) };
  return {
    ref,
    topic: topicOfRef(ref),
    identity: identityOf(plan.gvk, namespace, name),
    manifest,
    pathHash: pathHash(manifest, plan.type),
  };
}

/** The namespace that a child of this kind lives in; undefined for cluster-scoped kinds. */
export function childNamespace(pass: Pass, plan: ChildPlan): string | undefined {
  return livesInNamespace(pass, plan) ? pass.namespace : undefined;
}

/** A kind that nobody knows yet is taken for namespaced: its apply will tell. */
function livesInNamespace({ context }: Pass, { gvk }: ChildPlan): boolean {
  return isNamespaced(context, gvk) ?? true;
}

/** Why a child may not be where it would be: an owner reference is only understood in the owner's own scope. */
function misplaced(pass: Pass, plan: ChildPlan, rendered: KubeObject): Problem | undefined {
  const own = childNamespace(pass, plan);
  const asked = rendered.metadata.namespace;
  if (asked !== undefined && asked !== own) {
    return invalid(`metadata.namespace: Expected the resource's own namespace, found "${asked}"`);
  }
  if (livesInNamespace(pass, plan) !== (pass.namespace !== undefined)) {
    const scope = pass.namespace === undefined ? 'cluster-scoped' : 'namespaced';
    return invalid(`kind: Expected a ${scope} kind, found "${rendered.kind}"`);
  }
  return undefined;
}

function invalid(message: string): Problem {
  return { reason: 'RenderFailed', message, code: 'invalid-manifest', kind: 'permanent' };
}

function withBookkeeping(
  pass: Pass,
  plan: ChildPlan,
  rendered: KubeObject,
  namespace: string | undefined,
): KubeObject {
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
      ownerReferences: [controllerReference(pass)],
    },
  };
}

function controllerReference({ context, resource, uid }: Pass): OwnerReference {
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
