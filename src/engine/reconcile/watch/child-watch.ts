import type { ChildPlan, FieldPath, OperatorPlan } from '#compile';
import type { CacheEvent, Informer, KindAt, StoredObject } from '#kube/roles.ts';
import { type Gvk, gvkKey } from '#util/gvk.ts';
import { type KubeObject, keyOf, type OwnerReference } from '#util/kube-object.ts';
import { statusPathsOfReadiness } from '#util/readiness/rules.ts';
import { definitionLabel, ownerUidLabel } from '#util/stored-names.ts';
import { variantsOf } from '../child-variants.ts';
import { childIdOf, topicOf } from '../identity.ts';
import { isControlledBy } from '../ownership-claims.ts';
import { endPathsOf } from '../run-once.ts';
import { isChanged } from './object-change.ts';
import type { Watches } from './watches.ts';

const none: readonly string[] = [];

/** The shared watch on the children of one kind. */
export interface ChildWatch {
  readonly informer: Informer;
  /** Of the children, in their cluster. */
  readonly gvk: KindAt;
  /** All objects with the label of this owner's UID, of any definition. */
  labelledWith(ownerUid: string): readonly StoredObject[];
  /** All objects of the definition whose controller is the object with this key, whatever its UID. */
  controlledBy(ownerKey: string): readonly StoredObject[];
  stop(): void;
}

/** Watches the children of one kind in one cluster, and enqueues their resources when a field that is read changes. */
export function watchChildren(watches: Watches, gvk: KindAt): ChildWatch {
  const { plan, queue } = watches;
  const informer = watches.cluster.acquire({ gvk, labelSelector: ownerUidLabel });
  const byOwner = informer.index('owner-uid', ownerUidsOf);
  // Other definitions may share the informer: the name contains everything that the function depends on.
  const byController = () =>
    informer.index(`controller of ${plan.name} ${gvkKey(plan.definition.kind.gvk)}`, (object) => {
      const key = controllerKeyOf(object, plan);
      return key === undefined ? none : [key];
    });
  const pathsOf = readPathsOf(plan, gvk);
  const unsubscribe = informer.subscribe((event) => {
    notifyLoss(watches, event);
    // Not compared before: with many definitions, most events of a shared informer concern no resource of this one.
    const topic = topicOf(gvk, event.namespace, event.name);
    if (!concerns(watches, event, topic) || !isChanged(event, pathsOf(event))) return;
    for (const key of dependentsOf(watches, event, topic)) queue.enqueueFor(key, event);
  });
  const unobserve = informer.onState(() => watches.onState(gvk.cluster));
  return {
    informer,
    gvk,
    labelledWith: (ownerUid) => byOwner.get(ownerUid),
    controlledBy: (ownerKey) => byController().get(ownerKey),
    stop() {
      unsubscribe();
      unobserve();
      informer.release();
    },
  };
}

function notifyLoss(watches: Watches, { old, current, pass }: CacheEvent): void {
  if (old === undefined || pass !== undefined) return;
  const { labels, deletionTimestamp } = old.object.metadata;
  if (labels?.[definitionLabel] !== watches.plan.name) return;
  const uid = labels[ownerUidLabel] ?? '';
  if (current !== undefined && !hasLostOwner(old, current, uid)) return;
  const key = watches.resources.keyOfUid(uid);
  if (key === undefined) return;
  if (current === undefined) watches.onRemoved(key, old);
  if (deletionTimestamp === undefined) watches.onLost(key, old);
}

/** Whether the owner reference to the resource was removed. */
function hasLostOwner(old: StoredObject, current: StoredObject, uid: string): boolean {
  return isControlledBy(old.object, uid) && !isControlledBy(current.object, uid);
}

function ownerUidsOf(object: KubeObject): readonly string[] {
  const uid = object.metadata.labels?.[ownerUidLabel];
  return uid === undefined ? [] : [uid];
}

/** The status paths that are read, by child id; all paths of the kind for an unknown id. */
function readPathsOf(plan: OperatorPlan, gvk: Gvk): (event: CacheEvent) => readonly FieldPath[] {
  const all = [...plan.children, ...(plan.onDelete?.children ?? [])].flatMap(variantsOf);
  const kind = gvkKey(gvk);
  const children = all.filter((child) => gvkKey(child.gvk) === kind);
  // Then the state of their Pods counts, also with a `ready` expression.
  const isPruningLater = all.some(({ prunesAfterReady }) => prunesAfterReady === true);
  const byId = new Map(children.map((child) => [child.id, pathsReadOf(child, isPruningLater)]));
  const anyOf = [...byId.values()].flat();
  return ({ old, current }) => {
    const object = (current ?? old)?.object;
    return (object && byId.get(childIdOf(object))) ?? anyOf;
  };
}

function pathsReadOf(child: ChildPlan, isPruningLater: boolean): readonly FieldPath[] {
  // Readiness counts for the newest generation only, also with a `ready` expression.
  const byKind =
    child.hasReady && !isPruningLater
      ? [['status', 'observedGeneration']]
      : statusPathsOfReadiness(child.gvk);
  return [...child.pathsRead, ...byKind, ...endPathsOf(child)];
}

/** Whether {@link dependentsOf} may find a resource. Allocates nothing. */
function concerns(watches: Watches, { old, current }: CacheEvent, topic: string): boolean {
  return (
    isOfResource(watches, old) ||
    isOfResource(watches, current) ||
    watches.index.of(topic) !== undefined
  );
}

/** Whether the object is a child of the definition, or of one of its resources. */
function isOfResource({ plan, resources }: Watches, stored: StoredObject | undefined): boolean {
  const labels = stored?.object.metadata.labels;
  if (labels === undefined) return false;
  if (labels[definitionLabel] === plan.name) return true;
  return resources.keyOfUid(labels[ownerUidLabel] ?? '') !== undefined;
}

function dependentsOf(
  { index, resources, plan }: Watches,
  { old, current }: CacheEvent,
  topic: string,
): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const stored of [old, current]) {
    if (stored === undefined) continue;
    // The resource in the label, and the one in the controller reference: the successor of a previous owner.
    const { labels } = stored.object.metadata;
    const labelled = resources.keyOfUid(labels?.[ownerUidLabel] ?? '');
    if (labelled !== undefined) keys.add(labelled);
    const controller = controllerKeyOf(stored.object, plan);
    if (controller !== undefined) keys.add(controller);
  }
  for (const [key, dependency] of index.of(topic) ?? []) {
    if (dependency.kind === 'object' && dependency.isDesired) keys.add(key);
  }
  return keys;
}

/** The key of the resource that is named by the controller reference of a child of ours. Undefined: there is none. */
export function controllerKeyOf(
  { metadata }: Pick<KubeObject, 'metadata'>,
  plan: OperatorPlan,
): string | undefined {
  if (metadata.labels?.[definitionLabel] !== plan.name) return undefined;
  const { gvk } = plan.definition.kind;
  const owner = metadata.ownerReferences?.find((reference) => isControllerOf(reference, gvk));
  if (owner === undefined) return undefined;
  return keyOf(plan.scope === 'Cluster' ? undefined : metadata.namespace, owner.name);
}

function isControllerOf({ controller, apiVersion, kind }: OwnerReference, gvk: Gvk): boolean {
  // Compare group and kind: the reference keeps the version in which it was written.
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return controller === true && kind === gvk.kind && group === gvk.group;
}
