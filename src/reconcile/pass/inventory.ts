import type { OperatorPlan } from '../../compile/index.ts';
import { type GroupKind, gvkOf } from '../../util/gvk.ts';
import { isJsonObject } from '../../util/json.ts';
import { type KubeObject, keyOf } from '../../util/kube-object.ts';
import { identityOf } from '../identity.ts';
import { inventoryAnnotationOf } from '../names.ts';
import { hasFinalizer } from '../ownership-claims.ts';
import { isForeign } from '../status-fields.ts';
import type { ResourceState } from './resource-state.ts';

/** Maximum number of inventory entries in use, twice the maximum number of children: the others may be terminating. */
const maxRecordedObjects = 4_000;

/** An object in the inventory of a resource. */
interface RecordedObject {
  readonly kind: GroupKind;
  readonly namespace: string | undefined;
  readonly name: string;
  /** The member cluster. @default undefined: the cluster of the resource */
  readonly cluster?: string;
}

interface InventoryOptions {
  readonly plan: OperatorPlan;
  /** Kinds of which the definition has or had children, keyed by {@link kindText}. Undefined: unknown. */
  readonly childKinds: ReadonlyMap<string, GroupKind> | undefined;
  readonly state: Pick<ResourceState, 'hadNoFinalizer' | 'created'>;
}

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
  readonly #recorded: Map<string, RecordedObject>;
  readonly #resource: KubeObject;
  readonly #plan: OperatorPlan;
  readonly #created: Set<string>;
  readonly #written = new Set<string>();
  #reported: ReadonlyMap<string, string> | undefined;

  constructor(resource: KubeObject, { plan, childKinds: kinds, state }: InventoryOptions) {
    const written = entriesOf(resource, plan);
    const { created, hadNoFinalizer = false } = state;
    const isUsed = ({ kind }: RecordedObject) => kinds === undefined || kinds.has(kindText(kind));
    const found = (written ?? [])
      .slice(0, maxRecordedObjects)
      .flatMap((entry) => parseEntry(entry) ?? []);
    this.#recorded = new Map(found.filter(isUsed).map((each) => [identityOfRecorded(each), each]));
    this.exists = written !== undefined;
    const isNeeded = plan.needsFinalizer || hasFinalizer(resource, plan.name);
    this.isMissing = !this.exists && isNeeded && !hadNoFinalizer;
    this.ignoredCount = (written?.length ?? 0) - this.#recorded.size;
    // Also beside an inventory: it may be that of an earlier report, whose response was lost.
    for (const identity of [...created]) {
      if (this.#recorded.has(identity)) created.delete(identity);
      else this.#recorded.set(identity, parseIdentity(identity));
    }
    this.#created = created;
    this.#resource = resource;
    this.#plan = plan;
  }

  /** Was the object recorded when the pass began, or did the pass create it? */
  has(identity: string): boolean {
    return this.#recorded.has(identity);
  }

  /** All recorded objects, by identity. */
  get recorded(): ReadonlyMap<string, RecordedObject> {
    return this.#recorded;
  }

  /** The pass created or adopted the object. */
  addCreated(identity: string): void {
    this.#created.add(identity);
    if (!this.#recorded.has(identity)) this.#recorded.set(identity, parseIdentity(identity));
  }

  /** Objects that the pass added to the stored inventory before it created them. */
  get written(): ReadonlySet<string> {
    return this.#written;
  }

  addWritten(identities: Iterable<string>): void {
    for (const identity of identities) this.#written.add(identity);
  }

  /** By identity, the child ids in the last report. */
  get reported(): ReadonlyMap<string, string> {
    this.#reported ??= reportedIn(this.#resource, this.#plan);
    return this.#reported;
  }
}

/** Does the inventory of a resource have an object of this kind in a member cluster? */
export function hasRecordInMember(
  resource: KubeObject,
  plan: OperatorPlan,
  gvk: GroupKind,
): boolean {
  const entries = entriesOf(resource, plan) ?? [];
  return entries.some((entry) => {
    const { cluster, kind } = parseEntry(entry) ?? {};
    return cluster !== undefined && kind !== undefined && kindText(kind) === kindText(gvk);
  });
}

/** Inventory entries: `Secret team-a/db`, `rbac.authorization.k8s.io/ClusterRole reader`, `paris-1:Secret team-a/db`; unique and sorted. */
export function entriesFor(identities: Iterable<string>): readonly string[] {
  return Array.from(new Set(identities), entryOf).sort();
}

function entryOf(identity: string): string {
  const { kind, namespace, name, cluster } = parseIdentity(identity);
  const where = cluster === undefined ? '' : `${cluster}:`;
  return `${where}${kindText(kind)} ${namespace === undefined ? name : keyOf(namespace, name)}`;
}

function parseEntry(entry: unknown): RecordedObject | undefined {
  const [, cluster, kind = '', namespace, name = ''] =
    (typeof entry === 'string' && /^(?:([a-z0-9-]+):)?(\S+) (?:([^/]+)\/)?([^/]+)$/.exec(entry)) ||
    [];
  if (name === '') return undefined;
  return { kind: parseKind(kind), namespace, name, ...(cluster === undefined ? {} : { cluster }) };
}

function identityOfRecorded({ kind, namespace, name, cluster }: RecordedObject): string {
  return identityOf(kind, namespace, name, cluster);
}

/** The reverse of {@link identityOf}. */
export function parseIdentity(identity: string): RecordedObject {
  const bar = identity.indexOf('|');
  const colon = identity.slice(0, bar).indexOf(':');
  const place = identity.slice(bar + 1);
  const slash = place.indexOf('/');
  const namespace = slash === 0 ? undefined : place.slice(0, slash);
  return {
    kind: parseKind(identity.slice(colon + 1, bar)),
    namespace,
    name: place.slice(slash + 1),
    ...(colon < 0 ? {} : { cluster: identity.slice(0, colon) }),
  };
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
      const gvk = gvkOf(String(apiVersion), String(kind));
      const place = typeof namespace === 'string' && namespace !== '' ? namespace : undefined;
      const member = typeof cluster === 'string' && cluster !== '' ? cluster : undefined;
      return [[identityOf(gvk, place, name, member), String(id)] as const];
    }),
  );
}

function statusOf({ status }: KubeObject): Readonly<Record<string, unknown>> {
  return isJsonObject(status) ? status : {};
}

/** The kinds in an annotation: `Secret,apps/Deployment`. Invalid entries are skipped: people edit annotations. */
export function parseKinds(text: string | undefined): readonly GroupKind[] {
  return (text ?? '')
    .split(',')
    .map((part) => parseKind(part.trim()))
    .filter(({ kind }) => kind !== '');
}

/** `Secret`, `apps/Deployment`. */
export function kindText({ group, kind }: GroupKind): string {
  return group === '' ? kind : `${group}/${kind}`;
}

/** The reverse of {@link kindText}. */
function parseKind(text: string): GroupKind {
  const slash = text.lastIndexOf('/');
  const group = slash < 0 ? '' : text.slice(0, slash).trim();
  return { group, kind: text.slice(slash + 1).trim() };
}

/** Kinds by {@link kindText}. */
export function kindsByText(kinds: Iterable<GroupKind>): ReadonlyMap<string, GroupKind> {
  return new Map(
    Array.from(kinds, ({ group, kind }) => [kindText({ group, kind }), { group, kind }]),
  );
}
