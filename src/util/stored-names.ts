import { sha256Hex } from './sha256.ts';

/** Labels, annotations, finalizers and field managers that are stored in clusters. None of them may ever change. */

/** Marks an object as managed by Homeostat. The value is {@link managedByValue}. */
export const managedByLabel = 'app.kubernetes.io/managed-by';
export const managedByValue = 'homeostat';
/** Name of the definition that the child belongs to. */
export const definitionLabel = 'homeostat.dev/definition';
/** Id of the child in its definition. */
export const childLabel = 'homeostat.dev/child';
/** UID of the resource that the child belongs to. */
export const ownerUidLabel = 'homeostat.dev/owner-uid';
/** On a child in a member cluster: UID of the hub (its namespace `kube-system`). An object of another hub is never taken. */
export const hubLabel = 'homeostat.dev/hub';
/** The path hash of the last applied intent. */
export const appliedAnnotation = 'homeostat.dev/applied';
/** On a child that may be recreated, or is updated in turn: a hash of the last applied intent, values included. Never on Secrets. */
export const intentAnnotation = 'homeostat.dev/intent';
/** On the children of a definition with selectors (`for`): a digest of the selectors under which they were created. */
export const selectedByAnnotation = 'homeostat.dev/selected-by';

/** On a child, `Orphan`: it is kept when it is dropped or its resource is deleted, and loses all metadata of Homeostat. */
export const deletionPolicyAnnotation = 'homeostat.dev/deletion-policy';
/** On a child with `holdsData`, `true` or `false`: whether a definition without the child may delete it only with approval. */
export const holdsDataAnnotation = 'homeostat.dev/holds-data';
/** On a child with `prune: AfterReady`, this value: it is deleted so also by a definition without the child. */
export const pruneAnnotation = 'homeostat.dev/prune';
/** On a child with `cascade`, `Foreground` or `Orphan`: so its dependents are treated by a definition without the child. */
export const cascadeAnnotation = 'homeostat.dev/cascade';
/** On a child with `deleteWhen`: only its definition can decide whether it may be deleted. */
export const deleteWhenAnnotation = 'homeostat.dev/delete-when';
/** On an element of an `ordered` child: its position, for a deletion without the definition. */
export const indexAnnotation = 'homeostat.dev/index';
/** All labels of a child, except {@link managedByLabel}. */
export const childLabels: readonly string[] = [
  definitionLabel,
  childLabel,
  ownerUidLabel,
  hubLabel,
];
/** All annotations that a child may have. */
export const childAnnotations: readonly string[] = [
  appliedAnnotation,
  intentAnnotation,
  selectedByAnnotation,
  deletionPolicyAnnotation,
  holdsDataAnnotation,
  pruneAnnotation,
  cascadeAnnotation,
  deleteWhenAnnotation,
  indexAnnotation,
];
/** On a resource, `true`: its deletion skips `onDelete`. */
export const skipOnDeleteAnnotation = 'homeostat.dev/skip-on-delete';

/** On a CustomResourceDefinition that existed before and was adopted (`crdPolicy.adopt`), `true`: it is never deleted. */
export const adoptedAnnotation = 'homeostat.dev/adopted';

/** On a resource with our finalizer: the inventory, or the kinds that may have objects to delete with it. */
export function inventoryAnnotationOf(definition: string): string {
  return `inventory.homeostat.dev/${definition}`;
}

/**
 * On a resource whose definition has `onDelete`: its deletion waits for the definition. `true`; `done` once `onDelete.children` have been
 * ready; or the start of the timeout, if no process tried the deletion before.
 */
export function onDeleteAnnotationOf(definition: string): string {
  return `on-delete.homeostat.dev/${definition}`;
}

/**
 * On a resource with our finalizer: versions of what it reads are in other namespaces, and are deleted with it. The value lists the kinds
 * in which they are stored.
 */
export function historyAnnotationOf(definition: string): string {
  return `history.homeostat.dev/${definition}`;
}

/** On a resource that is being deleted, its UID: the deletion orphans its dependents (`--cascade=orphan`). */
export function orphaningAnnotationOf(definition: string): string {
  return `orphan.homeostat.dev/${definition}`;
}

/**
 * On a resource with children in member clusters: these clusters, each with the start of its UID (`paris-1=7c6f1a2b`). Written before the
 * first object in a cluster: a deletion waits for these clusters.
 */
export function clustersAnnotationOf(definition: string): string {
  return `clusters.homeostat.dev/${definition}`;
}

/** The field manager of finalizer and inventory. It is separate, as a resource may be a child of its own definition. */
export function finalizerManagerOf(definition: string): string {
  return `homeostat/${definition}.finalizer`;
}

/** The finalizer of a definition's resources. */
export function finalizerOf(definition: string): string {
  return `homeostat.dev/${definition}`;
}

/** The field manager of a definition's children. */
export function fieldManagerOf(definition: string): string {
  return `homeostat/${definition}`;
}

/** On a resource, `"true"`: Homeostat does not change it or its children. */
export const pausedAnnotation = 'homeostat.dev/paused';
/** On a definition, a revision: the deletions of that revision are approved. */
export const approveDeletionsAnnotation = 'homeostat.dev/approve-deletions';

/** The field manager of a patch. `resourceKey`: for one resource only, if several resources may patch one object. */
export function patchManagerOf(definition: string, patchId: string, resourceKey?: string): string {
  const manager = `homeostat/${definition}/${patchId}`;
  return resourceKey === undefined ? manager : `${manager}/${sha256Hex(resourceKey).slice(0, 10)}`;
}

/** The API server accepts no longer name of a field manager. */
const maxManagerLength = 128;

/**
 * The field manager of a patch that can be withdrawn: of this patch of this resource only. A name that is too long is cut; the digest is that
 * of all parts.
 */
export function ownedPatchManagerOf(
  definition: string,
  patchId: string,
  resourceKey: string,
): string {
  const digest = sha256Hex([definition, patchId, resourceKey].join('\n')).slice(0, 16);
  const name = `homeostat/${definition}/${patchId}`;
  return `${name.slice(0, maxManagerLength - digest.length - 1)}/${digest}`;
}

/** On a resource: the objects in which its patches may own fields, each with a digest of the paths (docs/decisions/0034). */
export function patchedAnnotationOf(definition: string): string {
  return `patched.homeostat.dev/${definition}`;
}

/**
 * On a resource whose definition has patches with `at: Deletion`: its deletion waits for the definition. `true`; or which deletion they have
 * been sent for.
 */
export function deletionPatchesAnnotationOf(definition: string): string {
  return `deletion-patches.homeostat.dev/${definition}`;
}

/** The field manager of a definition's status writes. */
export function statusManagerOf(definition: string): string {
  return `homeostat/${definition}.status`;
}

/** On a resource: by patch with `once`, a digest of the last value for which it was sent. */
export function onceAnnotationOf(definition: string): string {
  return `once.homeostat.dev/${definition}`;
}

/** On a resource: its children that run once and have finished (docs/decisions/0025). */
export function finishedAnnotationOf(definition: string): string {
  return `finished.homeostat.dev/${definition}`;
}

/** What belongs to a definition itself: the objects of `install`, or the policies of `admission`. */
export type OwnPart = 'install' | 'admission';

/** The API server accepts no longer value of a label. */
const maxLabelLength = 63;

/**
 * In the label `homeostat.dev/definition`, in field managers and in metrics: the name under which a definition manages its own objects.
 * No definition has a name with a dot. A name that is too long for a label is cut and gets a digest.
 */
export function installNameOf(definition: string, part: OwnPart = 'install'): string {
  const suffix = `.${part}`;
  const name = `${definition}${suffix}`;
  if (name.length <= maxLabelLength) return name;
  const end = `.${sha256Hex(definition).slice(0, 10)}${suffix}`;
  return `${definition.slice(0, maxLabelLength - end.length).replace(/-+$/, '')}${end}`;
}

/** Whether a field manager is that of the objects of a definition itself. Definitions and patches have no such name: they have no dot. */
export function isInstallManager(manager: string): boolean {
  return /^homeostat\/[^./]+(?:\.[0-9a-f]{10})?\.(?:install|admission)$/.test(manager);
}

/** The name of the admission policy of a definition, and of its binding. */
export function admissionPolicyNameOf(definition: string): string {
  return `${definition}.homeostat.dev`;
}

/** The owner of these objects in {@link ownerUidLabel}: the same for every object of the definition, so that a recreated one finds them. */
export function installOwnerOf(definition: string, part: OwnPart = 'install'): string {
  return `${part}-${sha256Hex(definition).slice(0, 32)}`;
}

/** On a record (a stored version of an object that a resource reads): the definition, the UID of the resource, the id of the read. */
export const recordedByLabel = 'homeostat.dev/recorded-by';
export const recordOfLabel = 'homeostat.dev/record-of';
export const recordReadLabel = 'homeostat.dev/read';
/** On a record, for people: the object, its UID, and the time of the record. */
export const recordObjectAnnotation = 'homeostat.dev/object';
export const recordObjectUidAnnotation = 'homeostat.dev/object-uid';
export const recordedAtAnnotation = 'homeostat.dev/recorded-at';
/** On a record: namespace and name of the resource. */
export const recordOwnerAnnotation = 'homeostat.dev/record-owner';
/** On the newest record of a deleted object: when the deletion was found. */
export const deletedAtAnnotation = 'homeostat.dev/deleted-at';
/** On a record: that the runtime wrote it, and that it wrote {@link deletedAtAnnotation}. */
export const recordSignatureAnnotation = 'homeostat.dev/signature';
export const deletionSignatureAnnotation = 'homeostat.dev/deleted-signature';
/** The type of Secrets that are records of Secrets. */
export const recordSecretType = 'homeostat.dev/record';

/** The Secret with the keys that sign records, its type, and its field manager. Definitions may neither read nor write it. */
export const recordKeysName = 'homeostat-history-keys';
/** Where a reader that does not know the runtime looks for it: installations, members, `homeostat dev`. */
export const recordKeysNamespaces = ['homeostat-system', 'kube-system', 'default'] as const;
export const recordKeysType = 'homeostat.dev/history-keys';
export const recordKeysManager = 'homeostat.history-keys';

/** The Secret with the certificates of the conversion webhook, its type, and its field manager. Definitions may neither read nor write it. */
export const webhookSecretName = 'homeostat-conversion';
export const webhookSecretType = 'homeostat.dev/conversion-certificates';
export const webhookSecretManager = 'homeostat.conversion-certificates';

/** The field manager of a definition's records. */
export function recordManagerOf(definition: string): string {
  return `homeostat/${definition}.history`;
}

/** Label on a ConfigMap, `"true"`: its keys contain definitions. */
export const definitionsLabel = 'homeostat.dev/definitions';
/** Label on a published `OperatorDefinition`: `configmap` or `directory`. Without it, a user created the object. */
export const sourceLabel = 'homeostat.dev/source';
/** Annotation on a published object: the manifest's origin, `namespace/name/key` or a path. */
export const sourceRefAnnotation = 'homeostat.dev/source-ref';

/** Label on an object of a definition and on its CRD: the runtime that owns it. */
export const runtimeLabel = 'homeostat.dev/runtime';
/** Annotation on CRDs and Leases in a member: the UID of the hub that owns them. */
export const hubAnnotation = 'homeostat.dev/hub';
/** Annotation on a published object: errors of its newest manifest. */
export const rejectedAnnotation = 'homeostat.dev/rejected';
/** Annotation on a published object: when its manifest was removed. */
export const withdrawnAnnotation = 'homeostat.dev/withdrawn';
/** Annotation on an `OperatorDefinition` that is being deleted, `"true"`: orphan its resources. */
export const abandonAnnotation = 'homeostat.dev/abandon';
/** On a CRD whose versions differ: the rules between them, the current and the previous ones by digest. */
export const conversionsAnnotation = 'homeostat.dev/conversions';
/** On such a CRD: a hash of the webhook, and the versions between which conversions were tried. */
export const provenConversionsAnnotation = 'homeostat.dev/conversions-tried';
/** On such a CRD, while other rules or another webhook are tried: the last ones that worked. */
export const workingConversionsAnnotation = 'homeostat.dev/conversions-working';
/**
 * The start of annotations on a resource: each has one value that the object's version cannot express. One annotation for each value, so that
 * server-side apply can remove one without the others.
 */
export const preservedPrefix = 'preserved.homeostat.dev/';
/** On a resource, annotation or label, `incomplete`: such values did not fit into annotations. Written only on objects that are read. */
export const preservedAnnotation = 'homeostat.dev/preserved';
/** Finalizer on every `OperatorDefinition` that a runtime owns. */
export const definitionFinalizer = 'homeostat.dev/definition';

/** Annotation on the CRDs of our own kinds: the number of their schema. */
export const schemaAnnotation = 'homeostat.dev/schema';
/** Annotations on a published object: the controls of its manifest. */
export const pausedInTextAnnotation = 'homeostat.dev/paused-in-text';
export const approveDeletionsInTextAnnotation = 'homeostat.dev/approve-deletions-in-text';
/** Annotation on a resource: a change of it runs the resource, also one that a roll-out has not reached. */
export const reconcileAtAnnotation = 'homeostat.dev/reconcile-at';
/** Annotation on a resource: the console asked for a reconcile at this time. */
export const requestAnnotation = 'homeostat.dev/reconcile-requested-at';
/** Label on the namespaces of tests on a real cluster: the test. */
export const testLabel = 'homeostat.dev/test';
/** Annotation on a `Cluster` of `homeostat dev`, `true`: a user stopped its API server. */
export const stoppedAnnotation = 'homeostat.dev/dev-stopped';
/** Annotation on a Pod or its template: its simulated outcome. */
export const outcomeAnnotation = 'sandbox.homeostat.dev/outcome';
