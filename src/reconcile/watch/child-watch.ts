import type { ChildPlan, FieldPath, OperatorPlan } from '../../compile/index.ts';
import type { CacheEvent, Informer, StoredObject, Watcher } from '../../kube/roles.ts';
import { type Gvk, gvkKey } from '../../util/gvk.ts';
import { type KubeObject, keyOf, type OwnerReference } from '../../util/kube-object.ts';
import { statusPathsOfReadiness } from '../../util/readiness/rules.ts';
import { childIdOf, topicOf } from '../identity.ts';
import { definitionLabel, ownerUidLabel } from '../names.ts';
import { isControlledBy } from '../ownership-claims.ts';
import type { DependencyIndex } from './dependency-index.ts';
import { isChanged } from './object-change.ts';
import type { ResourceQueue } from './resource-queue.ts';
import type { ResourceWatch } from './resource-watch.ts';

interface ChildWatchOptions {
  readonly plan: OperatorPlan;
  readonly gvk: Gvk;
  /** The member cluster. @default undefined: the cluster of the resources */
  readonly cluster?: string;
  readonly watcher: Watcher;
  readonly queue: ResourceQueue;
  readonly resources: Pick<ResourceWatch, 'keyOfUid'>;
  /** Resources that desire an object that they do not own (yet), by {@link topicOf}. */
  readonly index: DependencyIndex;
  /**
   * Called when a child of this resource left the watch without a deletion (it may only have lost its label), or lost its owner reference.
   */
  readonly onLost: (key: string, stored: StoredObject) => void;
  /** The informer changed its state: enqueues the resources that depend on it. */
  readonly onState: () => void;
}

/** The shared watch on the children of one kind. */
export interface ChildWatch {
  readonly informer: Informer;
  readonly cluster: string | undefined;
  /** All objects with the label of this owner's UID, of any definition. */
  labelledWith(ownerUid: string): readonly StoredObject[];
  /** All objects of the definition whose controller is the object with this key, whatever its UID. */
  controlledBy(ownerKey: string): readonly StoredObject[];
  stop(): void;
}

/** Watches the children of one kind and enqueues their resources when a field that is read changes. */
export function watchChildren(options: ChildWatchOptions): ChildWatch {
  const { gvk, cluster, watcher, queue } = options;
  const informer = watcher.acquire({
    gvk,
    labelSelector: ownerUidLabel,
    ...(cluster === undefined ? {} : { cluster }),
  });
  const byOwner = informer.index('owner-uid', ownerUidsOf);
  // Other definitions may share the informer: the name contains everything that the function depends on.
  const byController = () =>
    informer.index(
      `controller of ${options.plan.name} ${gvkKey(options.plan.definition.kind.gvk)}`,
      (object) => [...controllersOf(object, options.plan)],
    );
  const pathsOf = readPathsOf(options);
  const unsubscribe = informer.subscribe((event) => {
    notifyLoss(event, options);
    if (!isChanged(event, pathsOf(event))) return;
    for (const key of dependentsOf(event, options)) queue.enqueueFor(key, event);
  });
  const unobserve = informer.onState(options.onState);
  return {
    informer,
    cluster,
    labelledWith: (ownerUid) => byOwner.get(ownerUid),
    controlledBy: (ownerKey) => byController().get(ownerKey),
    stop() {
      unsubscribe();
      unobserve();
      informer.release();
    },
  };
}

function notifyLoss({ old, current, pass }: CacheEvent, options: ChildWatchOptions): void {
  if (old === undefined || pass !== undefined) return;
  const { labels, deletionTimestamp } = old.object.metadata;
  if (deletionTimestamp !== undefined || labels?.[definitionLabel] !== options.plan.name) return;
  const uid = labels[ownerUidLabel] ?? '';
  if (current !== undefined && !hasLostOwner(old, current, uid)) return;
  const key = options.resources.keyOfUid(uid);
  if (key !== undefined) options.onLost(key, old);
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
function readPathsOf({
  plan,
  gvk,
}: ChildWatchOptions): (event: CacheEvent) => readonly FieldPath[] {
  const all = [...plan.children, ...(plan.onDelete?.children ?? [])];
  const children = all.filter((child) => gvkKey(child.gvk) === gvkKey(gvk));
  const byId = new Map(children.map((child) => [child.id, pathsReadOf(child)]));
  const anyOf = [...byId.values()].flat();
  return ({ old, current }) => {
    const object = (current ?? old)?.object;
    return (object && byId.get(childIdOf(object))) ?? anyOf;
  };
}

function pathsReadOf(child: ChildPlan): readonly FieldPath[] {
  // Readiness counts for the newest generation only, also with a `ready` expression.
  const byKind = child.hasReady
    ? [['status', 'observedGeneration']]
    : statusPathsOfReadiness(child.gvk);
  return [...child.pathsRead, ...byKind];
}

function dependentsOf(event: CacheEvent, options: ChildWatchOptions): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const stored of [event.old, event.current]) {
    if (stored === undefined) continue;
    for (const key of ownersOf(stored.object, options)) keys.add(key);
  }
  const topic = topicOf(options.gvk, event.namespace, event.name, options.cluster);
  for (const [key, dependency] of options.index.of(topic) ?? []) {
    if (dependency.kind === 'object' && dependency.isDesired) keys.add(key);
  }
  return keys;
}

/** The resource in the label of an object, and the one in its controller reference: the successor of a previous owner. */
function* ownersOf({ metadata }: KubeObject, options: ChildWatchOptions): Iterable<string> {
  const { labels } = metadata;
  const labelled = options.resources.keyOfUid(labels?.[ownerUidLabel] ?? '');
  if (labelled !== undefined) yield labelled;
  yield* controllersOf({ metadata }, options.plan);
}

/** The key of the resource that is named by the controller reference of a child of ours. */
export function* controllersOf(
  { metadata }: Pick<KubeObject, 'metadata'>,
  plan: OperatorPlan,
): Iterable<string> {
  const { labels, ownerReferences, namespace } = metadata;
  const { gvk } = plan.definition.kind;
  const owner = ownerReferences?.find((reference) => isControllerOf(reference, gvk));
  if (owner === undefined || labels?.[definitionLabel] !== plan.name) return;
  yield keyOf(plan.scope === 'Cluster' ? undefined : namespace, owner.name);
}

function isControllerOf({ controller, apiVersion, kind }: OwnerReference, gvk: Gvk): boolean {
  // Compare group and kind: the reference keeps the version in which it was written.
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return controller === true && kind === gvk.kind && group === gvk.group;
}
