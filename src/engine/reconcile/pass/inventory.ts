import type { OperatorPlan } from '#compile';
import { type GroupKind, gvkOf, isSameKind } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { inventoryAnnotationOf } from '#util/stored-names.ts';
import { identityOf, kindAt, kindText, type ObjectIdentity, parseIdentity } from '../identity.ts';
import { hasFinalizer } from '../ownership-claims.ts';
import { isForeign, statusOf } from '../status-fields.ts';
import type { OperatorContext } from './context.ts';
import type { ResourceState } from './resource-state.ts';

/** Maximum number of inventory entries in use, twice the maximum number of children: the others may be terminating. */
const maxRecordedObjects = 4_000;

/**
 * The recorded children of a resource. Children without an owner reference are in `status.childInventory`, or in an annotation for kinds
 * of `for`. `status.children` has the children of the last report. Authors of resources usually cannot write the status, so objects that
 * only carry the labels of a child do not get there.
 */
export class Inventory {
  /** Does the resource have an inventory? Before the first report it has none. */
  readonly exists: boolean;
  /**
   * There is no inventory, though another process may have created objects: it exited before its first report, or is of an earlier
   * version. Then labels and an apply entry identify children.
   */
  readonly isMissing: boolean;
  /** Number of unused entries: invalid, of kinds that the definition never had, or beyond the limit. */
  readonly ignoredCount: number;
  /** Objects that the pass added to the stored inventory before it created them. */
  readonly written = new Set<string>();
  readonly #recorded: Map<string, ObjectIdentity>;
  readonly #resource: KubeObject;
  readonly #plan: OperatorPlan;
  readonly #created: Set<string>;
  #reported: ReadonlyMap<string, string> | undefined;

  constructor(
    { plan, childKinds: kinds }: OperatorContext,
    resource: KubeObject,
    { created, hadNoFinalizer = false }: ResourceState,
  ) {
    const written = entriesOf(resource, plan);
    const isUsed = ({ kind }: ObjectIdentity) => kinds === undefined || kinds.has(kindText(kind));
    const found = (written ?? [])
      .slice(0, maxRecordedObjects)
      .flatMap((entry) => parseIdentity(entry) ?? []);
    this.#recorded = new Map(
      found.filter(isUsed).map((each) => [identityOf(each.kind, each.namespace, each.name), each]),
    );
    this.exists = written !== undefined;
    const isNeeded = plan.needsFinalizer || hasFinalizer(resource, plan.name);
    this.isMissing = !this.exists && isNeeded && !hadNoFinalizer;
    this.ignoredCount = (written?.length ?? 0) - this.#recorded.size;
    // Also beside an inventory: it may be that of an earlier report, whose response was lost.
    for (const identity of [...created]) {
      if (this.#recorded.has(identity)) created.delete(identity);
      else this.#record(identity);
    }
    this.#created = created;
    this.#resource = resource;
    this.#plan = plan;
  }

  /** Was the object recorded when the pass began, or did the pass create it? */
  has(identity: string): boolean {
    return this.#recorded.has(identity);
  }

  /** Are objects recorded in other clusters than that of the resource? */
  get isElsewhere(): boolean {
    return this.#recorded.values().some(({ kind }) => kind.cluster !== undefined);
  }

  /** All recorded objects, by identity. */
  get recorded(): ReadonlyMap<string, ObjectIdentity> {
    return this.#recorded;
  }

  /** The pass created or adopted the object. */
  addCreated(identity: string): void {
    this.#created.add(identity);
    if (!this.#recorded.has(identity)) this.#record(identity);
  }

  #record(identity: string): void {
    const object = parseIdentity(identity);
    if (object !== undefined) this.#recorded.set(identity, object);
  }

  /** By identity, the child ids in the last report. */
  get reported(): ReadonlyMap<string, string> {
    this.#reported ??= reportedIn(this.#resource, this.#plan);
    return this.#reported;
  }
}

/** Does the inventory of a resource have an object of this kind in another cluster? */
export function hasRecordElsewhere(
  resource: KubeObject,
  plan: OperatorPlan,
  gvk: GroupKind,
): boolean {
  const entries = entriesOf(resource, plan) ?? [];
  return entries.some((entry) => {
    const { kind } = parseIdentity(entry) ?? {};
    return kind?.cluster !== undefined && isSameKind(kind, gvk);
  });
}

/** Inventory entries: unique and sorted. */
export function entriesFor(identities: Iterable<string>): readonly string[] {
  return [...new Set(identities)].sort();
}

/** Whether children of the resource are recorded in it. */
export function hasRecordedChildren(resource: KubeObject, plan: OperatorPlan): boolean {
  return (entriesOf(resource, plan)?.length ?? 0) > 0;
}

/** The stored entries; undefined: there is no inventory, or one of kinds only (of an earlier version). */
function entriesOf(resource: KubeObject, plan: OperatorPlan): readonly unknown[] | undefined {
  const entries = isForeign(plan)
    ? parseList(resource.metadata.annotations?.[inventoryAnnotationOf(plan.name)])
    : statusOf(resource).childInventory;
  return Array.isArray(entries) ? entries : undefined;
}

function parseList(text: string | undefined): unknown {
  if (text?.startsWith('[') !== true) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Edited by another manager: no entry is reliable.
    return [];
  }
}

function reportedIn(resource: KubeObject, plan: OperatorPlan): ReadonlyMap<string, string> {
  const { children } = statusOf(resource);
  if (isForeign(plan) || !Array.isArray(children)) return new Map();
  return new Map(
    children.filter(isJsonObject).flatMap((child) => {
      const { id, apiVersion, kind, namespace, name, state, cluster } = child;
      // Terminating objects are recorded without having been desired.
      if (state === 'Deleting' || typeof name !== 'string' || name === '') return [];
      const place = typeof namespace === 'string' && namespace !== '' ? namespace : undefined;
      const where = typeof cluster === 'string' && cluster !== '' ? cluster : undefined;
      const gvk = kindAt(gvkOf(String(apiVersion), String(kind)), where);
      return [[identityOf(gvk, place, name), String(id)] as const];
    }),
  );
}
