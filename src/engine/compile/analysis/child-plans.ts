import type { ChildDefinition, OperatorDefinition, ReadDefinition } from '#definition';
import { type FieldSteps, parseFieldPath } from '#util/field-path.ts';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import type { PlanContext } from '../check-context.ts';
import { type CompiledChild, type CompiledRead, isSecret } from '../compiled-templates.ts';
import type {
  ChildPlan,
  FieldPath,
  HistoryPlan,
  OperatorPlan,
  ReadPlan,
} from '../operator-plan.ts';
import type { SchemaSource } from '../schema-source.ts';
import { fileOf, placeText } from '../template/render-error.ts';
import { type CompiledTemplate, mayHave, type SlotReference } from '../template/template.ts';
import { templatesFor } from '../template-uses.ts';
import { prunesAfterReady } from './prune-time.ts';
import { previousStatusPaths } from './reporting-plan.ts';
import { shapeOfSelector, watchSelectorOf } from './selector-shape.ts';

/** The analysis of all children and reads. */
export interface Plans {
  readonly children: readonly ChildPlan[];
  /** Children of `onDelete`. */
  readonly onDeleteChildren: readonly ChildPlan[];
  readonly reads: readonly ReadPlan[];
  readonly observed: readonly string[];
  readonly history?: HistoryPlan;
  readonly statusPathsRead: readonly FieldPath[];
  readonly externalStatusPathsRead: readonly FieldPath[];
}

/** Collects the paths that expressions read, by child, by read and of the status. */
export function createPlans({
  parts,
  templates,
  uses,
  secrets,
  definition,
  scope,
  schemas,
  diagnostics: { source },
}: PlanContext): Plans {
  const wanting = templatesFor(templates, [
    ...(['when', 'forEach', 'cluster', 'kind', 'template', 'gate', 'read', 'deleteAfter'] as const),
  ]);
  const judging = templatesFor(templates, ['ready', 'deleteWhen']);
  const all = templates.flatMap(({ role, template }) => (role === 'var' ? [] : [template]));
  const byOthers = uses.of(...wanting).references;
  const outsideStatus = uses.of(...wanting, ...judging).references;
  const { references: anywhere, observed, history: readsHistory } = uses.of(...all);

  function childPlan(child: CompiledChild, variants?: readonly ChildPlan[]): ChildPlan {
    const { pointer, type, when, forEach, cluster, kind, template, ready, gate, deleteWhen } =
      child;
    const { id } = child.definition;
    const used = uses.of(when, forEach, cluster, kind, template, gate);
    return {
      ...child.definition,
      ...(variants && { variants }),
      isList: forEach !== undefined,
      hasReady: ready !== undefined,
      childrenRead: used.children,
      readsUsed: used.reads,
      childrenObserved: used.observed,
      ...(gate && { hasGate: true }),
      hasDeleteWhen: deleteWhen !== undefined,
      ...(child.definition.leave && { left: leftFields(child.definition.leave) }),
      ...(mayRunOnce(child) && { mayRunOnce: true }),
      ...(prunesAfterReady(child, uses) && { prunesAfterReady: true }),
      isDetached: isDetached(child.definition, { definition, scope }),
      ...(isPlacedByItem(cluster) && { isPlacedByItem: true }),
      secrecy: secrets.child(id),
      type,
      pathsRead: shortest([
        ...pathsBelow(anywhere, 'children', id),
        ...pathsBelow(anywhere, 'observed', id),
        ...ownPaths(uses.of(ready, deleteWhen).references),
      ]),
      pathsReadByOthers: pathsBelow(byOthers, 'children', id),
      pathsObserved: pathsBelow(outsideStatus, 'observed', id),
      // Found when they are read: an edit of a comment moves them.
      get line() {
        return source.valueAt(pointer).line;
      },
      get place() {
        return placeText({ file: fileOf(source), ...source.valueAt(pointer) });
      },
    };
  }

  function readPlan(read: CompiledRead): ReadPlan {
    const { id, gvk, by, optional, history, placement } = read.definition;
    const paths = pathsBelow(anywhere, 'reads', id);
    const isOfClusters = isClusterKind(gvk);
    const pathsRead = isOfClusters ? paths.flatMap(pathsOfCluster) : paths;
    const where = {
      ...reachOf(read.definition),
      secrecy: secrets.read(id),
      ...(history && { history }),
      ...(placement && { placement }),
      ...(isOfClusters && { isOfClusters }),
    };
    if (by.kind === 'name') {
      const kind = read.isList ? 'names' : 'name';
      return {
        id,
        gvk,
        by: kind,
        ...literalRef(read, { definition, scope, schemas }),
        optional,
        pathsRead,
        ...where,
      };
    }
    const shape = shapeOfSelector(read.selector ?? {}, parts.vars);
    const watchSelector = watchSelectorOf(shape);
    const indexKey = [...(shape.labels ?? [])].find(([, value]) => value === undefined)?.[0];
    return {
      id,
      gvk,
      by: 'selector',
      optional,
      pathsRead,
      ...where,
      ...(watchSelector === undefined ? {} : { watchSelector }),
      ...(indexKey === undefined ? {} : { indexKey }),
    };
  }

  const history = createHistoryPlan({ definition, scope, schemas }, readsHistory);
  const childPlans = (stage: CompiledChild['stage']) => {
    const children = parts.children.filter((child) => child.stage === stage);
    return Object.freeze(
      children.map((child) => {
        const variants = child.variants?.map((each) => Object.freeze(childPlan(each)));
        return Object.freeze(childPlan(child, variants));
      }),
    );
  };
  return Object.freeze({
    children: childPlans('always'),
    onDeleteChildren: childPlans('onDelete'),
    reads: Object.freeze(parts.reads.map((read) => Object.freeze(readPlan(read)))),
    observed,
    ...(history && { history }),
    statusPathsRead: shortest([
      ...statusPaths(outsideStatus),
      ...previousStatusPaths(templates, uses),
    ]),
    externalStatusPathsRead: definition.kind.source === 'for' ? statusPaths(anywhere) : [],
  });
}

/** What the definition writes of the names and namespaces of a read by name. */
function literalRef(
  { name, namespace, definition: read }: CompiledRead,
  owner: Owner,
): Pick<ReadPlan, 'literalNames' | 'namespaces'> {
  const literalNames = literalTexts(name);
  const namespaces =
    read.from.kind === 'own' ? servedNamespaces(read, owner) : literalTexts(namespace);
  return {
    ...(literalNames !== undefined && { literalNames }),
    ...(namespaces !== undefined && { namespaces }),
  };
}

/** The namespaces of the resources, where the definition names them. */
function servedNamespaces(
  { gvk, placement }: ReadDefinition,
  { definition, scope, schemas }: Owner,
): readonly string[] | undefined {
  const { include, exclude = [] } = definition.controller.namespaces ?? {};
  const isNamespaced = scope === 'Namespaced' && schemas?.isNamespaced(gvk) === true;
  if (include === undefined || !isNamespaced || placement !== undefined) return undefined;
  if ([...include, ...exclude].some((glob) => /[*?]/.test(glob))) return undefined;
  return include.filter((namespace) => !exclude.includes(namespace)).sort();
}

/** Undefined: an expression decides one of them. */
function literalTexts(template: CompiledTemplate | undefined): readonly string[] | undefined {
  const root = template?.root;
  if (root?.kind !== 'constant') return undefined;
  const texts: readonly unknown[] = Array.isArray(root.value) ? root.value : [root.value];
  return texts.every((text) => typeof text === 'string') ? texts : undefined;
}

function reachOf({ from }: ReadDefinition): Pick<ReadPlan, 'reach' | 'selectsNamespaces'> {
  const selectsNamespaces = from.kind === 'selector';
  if (from.kind === 'own') return { reach: 'own', selectsNamespaces };
  const isWide = selectsNamespaces || (from.kind === 'list' && from.namespaces === '*');
  return { reach: isWide ? 'wide' : 'named', selectsNamespaces };
}

/** Paths of `$child` that `ready` and `deleteWhen` read. */
function ownPaths(references: readonly SlotReference[]): readonly FieldPath[] {
  return references.flatMap(({ reference }) =>
    reference.root === 'child' ? [reference.path] : [],
  );
}

/**
 * Paths below `root.id` among references: `children.db.status.ready` -> `['status', 'ready']`. `[[]]` is the whole
 * object.
 */
function pathsBelow(
  references: readonly SlotReference[],
  root: 'children' | 'observed' | 'reads',
  id: string,
): readonly FieldPath[] {
  return shortest(
    references.flatMap(({ reference }) => {
      if (reference.root !== root) return [];
      const [first, ...rest] = reference.path;
      return first === undefined || first === id ? [rest] : [];
    }),
  );
}

/** Status fields of the resource among references, from the root: `['status', 'phase']`. */
function statusPaths(references: readonly SlotReference[]): readonly FieldPath[] {
  return shortest(
    references.flatMap(({ reference: { root, path } }) => {
      if (root !== 'resource') return [];
      if (path.length === 0) return [['status']];
      return path[0] === 'status' ? [path] : [];
    }),
  );
}

/** Removes duplicates and paths below other paths. */
function shortest(paths: readonly FieldPath[]): readonly FieldPath[] {
  const kept: FieldPath[] = [];
  for (const path of paths.toSorted((a, b) => a.length - b.length)) {
    if (!kept.some((shorter) => shorter.every((step, index) => step === path[index]))) {
      kept.push(path);
    }
  }
  return kept;
}

/** Whether only the element of `forEach` decides the cluster. */
function isPlacedByItem(cluster: CompiledTemplate | undefined): boolean {
  const references = cluster?.references ?? [];
  return references.length > 0 && references.every(({ reference }) => reference.root === 'item');
}

/** Whether the objects represent member clusters. */
export function isClusterKind({ group, kind }: Gvk): boolean {
  return group === 'homeostat.dev' && kind === 'Cluster';
}

/** For an expression that uses a whole `Cluster`: its status changes often, and only these fields have a meaning for desired objects. */
function pathsOfCluster(path: FieldPath): readonly FieldPath[] {
  if (path.length > 1 || (path.length === 1 && path[0] !== 'metadata' && path[0] !== 'status'))
    return [path];
  return [
    ['metadata', 'labels'],
    ['metadata', 'annotations'],
    ['status', 'conditions'],
  ];
}

function leftFields(paths: readonly string[]): readonly FieldSteps[] {
  return paths.flatMap((path) => {
    const steps = parseFieldPath(path);
    return steps === undefined ? [] : [steps];
  });
}

/** Whether objects of the child may run once: it says so, or its template can give a Job a `ttlSecondsAfterFinished`. */
function mayRunOnce({ definition: { runs, gvk }, template }: CompiledChild): boolean {
  if (runs !== undefined) return runs === 'Once';
  const isJob = gvk.group === 'batch' && gvk.kind === 'Job';
  return isJob && mayHave(template.root, ['spec', 'ttlSecondsAfterFinished']);
}

/** The definition and scope of the owning resource. */
export interface Owner {
  readonly definition: OperatorDefinition;
  /** Knows the scopes of read kinds. @default undefined: unknown */
  readonly schemas?: SchemaSource | undefined;
  /** Scope of the kind; for a `for` kind it comes from the server. Undefined: unknown. */
  readonly scope: OperatorPlan['scope'];
}

/**
 * Whether a child has only Homeostat labels and no owner reference (docs/definition/deletion.md#children-without-an-owner-reference): if an owner reference
 * would be invalid, or if the garbage collector would not follow the definition.
 */
function isDetached(child: ChildDefinition, { definition, scope }: Owner): boolean {
  // A cluster-scoped owner is valid in every namespace.
  const isUnderstood = child.crossNamespace === false || scope === 'Cluster';
  return (
    child.placement !== undefined ||
    definition.onDelete !== undefined ||
    !isUnderstood ||
    child.deletionPolicy === 'Orphan' ||
    child.deleteWhen !== undefined ||
    // The garbage collector deletes dependents in the background.
    child.cascade !== undefined ||
    (child.ordered && child.forEach !== undefined) ||
    (child.adopt === 'IfUnowned' && child.adoptedPolicy === 'Orphan')
  );
}

/**
 * Whether resources need the Homeostat finalizer, so that detached children are deleted with them. Also works for a
 * definition that does not compile.
 */
export function needsFinalizer(owner: Owner): boolean {
  const { definition } = owner;
  return (
    definition.onDelete !== undefined ||
    hasDetachedHistory(owner) ||
    hasWithdrawnPatch(definition) ||
    definition.reporting?.patches.some(({ atDeletion }) => atDeletion === true) === true ||
    definition.children.some((child) => isDetached(child, owner))
  );
}

/** Whether fields of other objects, or of an object that stops matching, are removed with the resource. */
function hasWithdrawnPatch({ reporting, kind }: Owner['definition']): boolean {
  const mayStopMatching =
    kind.source === 'for' && (kind.selector !== undefined || kind.annotationSelector !== undefined);
  return (reporting?.patches ?? []).some(
    ({ owned, target }) => owned?.withdraws === true && (target !== undefined || mayStopMatching),
  );
}

/** How a definition keeps versions; undefined: it keeps none. */
export function createHistoryPlan(owner: Owner, isRead: boolean): HistoryPlan | undefined {
  const kept = owner.definition.reads.filter(({ history }) => history !== undefined);
  if (kept.length === 0) return undefined;
  return Object.freeze({
    isRead,
    recordKinds: Object.freeze([
      ...(kept.every(({ gvk }) => isSecret(gvk)) ? [] : [gvkOf('apps/v1', 'ControllerRevision')]),
      ...(kept.some(({ gvk }) => isSecret(gvk)) ? [gvkOf('v1', 'Secret')] : []),
    ]),
    isDetached: hasDetachedHistory(owner),
  });
}

/**
 * Whether versions may be in another namespace than the resource: they are in the namespace of their object. A
 * cluster-scoped resource is a valid owner everywhere.
 */
export function hasDetachedHistory({ definition, scope, schemas }: Owner): boolean {
  if (scope === 'Cluster') return false;
  return definition.reads.some(
    ({ history, from, gvk }) =>
      history !== undefined && (from.kind !== 'own' || schemas?.isNamespaced(gvk) !== true),
  );
}
