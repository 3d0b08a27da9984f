import type { OperatorPlan } from '../../compile/index.ts';
import { type GroupKind, gvkOf } from '../../util/gvk.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { keyOf } from '../../util/object-key.ts';
import { identityOf } from '../identity.ts';
import { inventoryAnnotationOf } from '../names.ts';
import { hasFinalizer } from '../owner.ts';
import { isForeign } from '../status-fields.ts';
import type { ResourceState } from './resource-state.ts';

/** So many objects on record are used, twice as many as a resource has children: the others may be on their way out. */
const usedAtMost = 4_000;

/** Of a resource, an object that is on record. */
export interface RecordedObject {
  readonly kind: GroupKind;
  readonly namespace: string | undefined;
  readonly name: string;
}

export interface InventoryOptions {
  readonly plan: OperatorPlan;
  /** Kinds that the definition has or had children of, as {@link kindText} writes them. Undefined: nobody can tell. */
  readonly kinds: ReadonlyMap<string, GroupKind> | undefined;
  readonly state: Pick<ResourceState, 'knowsBeginning' | 'made'>;
}

/**
 * What is on record of a resource's children: by name those that no owner reference ties to it (`status.childInventory`; in an annotation
 * where the status is not ours), and those that its last report has listed (`status.children`). Authors of resources usually may not
 * write a status, so what others label like a child does not get there.
 */
export class Inventory {
  /** Is there one? Before the first report there is none. */
  readonly isKept: boolean;
  /**
   * There is none, though there may be something that another process has made: it died before its first report, or is of an earlier
   * version. Then labels and an apply entry have to do.
   */
  readonly isOpen: boolean;
  /** So many entries are not used: no names, of kinds that the definition never had, or too many. */
  readonly ignored: number;
  readonly #recorded: Map<string, RecordedObject>;
  readonly #resource: KubeObject;
  readonly #plan: OperatorPlan;
  readonly #made: Set<string>;
  readonly #written = new Set<string>();
  #reported: ReadonlyMap<string, string> | undefined;

  constructor(resource: KubeObject, { plan, kinds, state }: InventoryOptions) {
    const written = entriesOf(resource, plan);
    const { made, knowsBeginning = false } = state;
    const isUsed = ({ kind }: RecordedObject) => kinds === undefined || kinds.has(kindText(kind));
    const found = (written ?? []).slice(0, usedAtMost).flatMap((entry) => parseEntry(entry) ?? []);
    this.#recorded = new Map(found.filter(isUsed).map((each) => [identityOfRecorded(each), each]));
    this.isKept = written !== undefined;
    const isNeeded = plan.isFinalizing || hasFinalizer(resource, plan.name);
    this.isOpen = !this.isKept && isNeeded && !knowsBeginning;
    if (!this.isKept) for (const identity of made) this.#recorded.set(identity, placeOf(identity));
    this.#made = made;
    this.ignored = (written?.length ?? 0) - this.#recorded.size;
    this.#resource = resource;
    this.#plan = plan;
  }

  /** Was the object on record as the pass began, or has the pass made it? */
  has(identity: string): boolean {
    return this.#recorded.has(identity);
  }

  /** All that is on record, by identity. */
  get recorded(): ReadonlyMap<string, RecordedObject> {
    return this.#recorded;
  }

  /** The pass has made the object, or taken it over. */
  noteMade(identity: string): void {
    this.#made.add(identity);
    if (!this.#recorded.has(identity)) this.#recorded.set(identity, placeOf(identity));
  }

  /** What the pass has put on record before it is made. */
  get written(): ReadonlySet<string> {
    return this.#written;
  }

  noteWritten(identities: Iterable<string>): void {
    for (const identity of identities) this.#written.add(identity);
  }

  /** By identity, the ids of the children that the last report has listed. */
  get reported(): ReadonlyMap<string, string> {
    this.#reported ??= reportedIn(this.#resource, this.#plan);
    return this.#reported;
  }
}

/** The text of a record: `Secret team-a/db`, `rbac.authorization.k8s.io/ClusterRole reader`; each once, sorted. */
export function entriesFor(identities: Iterable<string>): readonly string[] {
  return Array.from(new Set(identities), entryOf).sort();
}

function entryOf(identity: string): string {
  const { kind, namespace, name } = placeOf(identity);
  return `${kindText(kind)} ${namespace === undefined ? name : keyOf(namespace, name)}`;
}

function parseEntry(entry: unknown): RecordedObject | undefined {
  const [, kind = '', namespace, name = ''] =
    (typeof entry === 'string' && /^(\S+) (?:([^/]+)\/)?([^/]+)$/.exec(entry)) || [];
  return name === '' ? undefined : { kind: parseKind(kind), namespace, name };
}

function identityOfRecorded({ kind, namespace, name }: RecordedObject): string {
  return identityOf({ ...kind, version: '' }, namespace, name);
}

/** The reverse of {@link identityOf}. */
export function placeOf(identity: string): RecordedObject {
  const bar = identity.indexOf('|');
  const place = identity.slice(bar + 1);
  const slash = place.indexOf('/');
  const namespace = slash === 0 ? undefined : place.slice(0, slash);
  return { kind: parseKind(identity.slice(0, bar)), namespace, name: place.slice(slash + 1) };
}

/** What stands in the record; undefined: there is none, or one of kinds only (an earlier version's). */
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
    // Somebody has edited it: nothing of it can be relied on.
    return [];
  }
}

function reportedIn(resource: KubeObject, plan: OperatorPlan): ReadonlyMap<string, string> {
  const { children } = statusOf(resource);
  if (isForeign(plan) || !Array.isArray(children)) return new Map();
  return new Map(
    children.filter(isJsonObject).flatMap(({ id, apiVersion, kind, namespace, name, state }) => {
      // What is on its way out is on record without having been wanted.
      if (state === 'Deleting' || typeof name !== 'string' || name === '') return [];
      const gvk = gvkOf(String(apiVersion), String(kind));
      const place = typeof namespace === 'string' && namespace !== '' ? namespace : undefined;
      return [[identityOf(gvk, place, name), String(id)] as const];
    }),
  );
}

function statusOf({ status }: KubeObject): Readonly<Record<string, unknown>> {
  return isJsonObject(status) ? status : {};
}

/** The kinds in an annotation: `Secret,apps/Deployment`. What is no kind is left out: people edit annotations. */
export function parseKinds(text: string | undefined): readonly GroupKind[] {
  return (text ?? '')
    .split(',')
    .map((part) => parseKind(part.trim()))
    .filter(({ kind }) => kind !== '');
}

/** Kinds as an annotation holds them: each once, in an order that does not depend on theirs. */
export function kindsText(kinds: Iterable<GroupKind>): string {
  return [...new Set(Array.from(kinds, kindText))].sort().join(',');
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

/** Kinds by their text. */
export function kindMap(kinds: Iterable<GroupKind>): ReadonlyMap<string, GroupKind> {
  return new Map(
    Array.from(kinds, ({ group, kind }) => [kindText({ group, kind }), { group, kind }]),
  );
}
