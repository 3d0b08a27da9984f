import {
  KubeError,
  type ManagedFieldsEntry,
  type ResourceType,
  type StoredObject,
} from '#kube/roles.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { type GroupKind, type Gvk, gvkKey, gvkOf } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { type KubeObject, keyOf } from '#util/kube-object.ts';
import {
  changedLeaves,
  conflictsOf,
  fieldsOwnedBy,
  type LeafOwners,
  ownedLeaves,
  stillOwned,
} from './leaf-owners.ts';

/** One change as a watch tells it. */
export interface ServerEvent {
  readonly gvk: Gvk;
  readonly before?: StoredObject;
  /** With the version of the deletion when it is gone. */
  readonly after: StoredObject;
  readonly deleted: boolean;
}

interface Entry {
  readonly object: KubeObject;
  /** What each manager applied last, `/status` apart. */
  readonly intents: ReadonlyMap<string, KubeObject>;
  /** Who set each value last. */
  readonly owners: LeafOwners;
}

export interface ApplyInput {
  readonly manifest: KubeObject;
  readonly manager: string;
  readonly force: boolean;
  readonly status: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The objects of an API server, with uids, versions, generations, guards and an approximation of server-side apply:
 * maps are merged, lists replaced (ownerReferences and conditions are merged by key), what a manager stops applying is removed.
 */
export class FakeServer {
  readonly #entries = new Map<string, Entry>();
  readonly #types = new Map<string, ResourceType>();
  readonly #listeners = new Set<(event: ServerEvent) => void>();
  #version = 100;
  #uids = 0;

  constructor(types: readonly ResourceType[]) {
    for (const type of types) this.#types.set(gvkKey(type.gvk), type);
  }

  /** Returns the unsubscribe function. */
  subscribe(listener: (event: ServerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get version(): string {
    return String(this.#version);
  }

  /** Returns how to restore what is there now, without a word to any watch: etcd from a backup. */
  backUp(): () => void {
    const entries = new Map(this.#entries);
    const version = this.#version;
    return () => {
      this.#entries.clear();
      for (const [slot, entry] of entries) this.#entries.set(slot, entry);
      this.#version = version;
    };
  }

  typeOf(gvk: Gvk): ResourceType | undefined {
    return this.#types.get(gvkKey(gvk));
  }

  get(gvk: Gvk, namespace: string | undefined, name: string): StoredObject | undefined {
    const entry = this.#entries.get(slotOf(gvk, namespace, name));
    return entry && storedOf(entry);
  }

  /** A manager gives up all that it has; no value changes, and no watch tells. */
  disown(manager: string): void {
    for (const [slot, entry] of this.#entries) {
      const owners = new Map([...entry.owners].filter(([, owner]) => owner !== manager));
      this.#entries.set(slot, { ...entry, owners });
    }
  }

  /** As in `managedFields`, made of who set each value last, and of who applied the status. */
  fieldOwners(
    gvk: Gvk,
    namespace: string | undefined,
    name: string,
  ): readonly ManagedFieldsEntry[] {
    const entry = this.#entries.get(slotOf(gvk, namespace, name));
    return entry === undefined ? [] : [...fieldsOwnedBy(entry), ...statusManagers(entry)];
  }

  list(gvk: Gvk): readonly StoredObject[] {
    const prefix = `${gvkKey(gvk)}|`;
    return [...this.#entries]
      .filter(([slot]) => slot.startsWith(prefix))
      .map(([, entry]) => storedOf(entry));
  }

  apply({ manifest, manager, force, status }: ApplyInput): {
    stored: StoredObject;
    created: boolean;
  } {
    const slot = slotOfObject(manifest);
    const before = this.#entries.get(slot);
    if (before === undefined)
      return { stored: this.#create(manifest, { manager, status }), created: true };
    assertGuards(manifest, before.object);
    const scope = status ? `${manager}#status` : manager;
    const intent = status ? onlyStatus(manifest) : withoutGuards(manifest);
    const merged = mergeIntent(before.object, stillOwned(before, scope), intent);
    const causes = force ? [] : conflictsOf({ before, intent, manager: scope });
    if (causes.length > 0) {
      throw new KubeError('field-conflict', 'Apply failed with conflicts', { status: 409, causes });
    }
    const intents = new Map([...before.intents, [scope, intent]]);
    const next = status
      ? { ...before.object, status: merged.status }
      : withStatusOf(merged, before.object);
    const owners = changedLeaves(before, next, scope);
    return { stored: this.#write(slot, before, { object: next, intents, owners }), created: false };
  }

  typeOfKind({ group, kind }: GroupKind): ResourceType | undefined {
    return [...this.#types.values()].find(({ gvk }) => gvk.group === group && gvk.kind === kind);
  }

  /** As a GET shows it: with the entries of those who applied it. */
  getWithManagers(gvk: Gvk, namespace: string | undefined, name: string): KubeObject | undefined {
    const entry = this.#entries.get(slotOf(gvk, namespace, name));
    if (entry === undefined) return undefined;
    const managedFields = [...entry.intents.keys()].map((key) => {
      const [manager, subresource] = key.split('#');
      return { manager, operation: 'Apply', ...(subresource && { subresource }) };
    });
    const metadata = { ...entry.object.metadata, managedFields };
    return { ...entry.object, metadata };
  }

  /** A merge patch of the metadata; a list of managers without one of them takes its entry. */
  editMetadata(
    gvk: Gvk,
    {
      namespace,
      name,
      metadata,
    }: { namespace: string | undefined; name: string; metadata: Fields },
  ): StoredObject {
    const slot = slotOf(gvk, namespace, name);
    const before = this.#entries.get(slot);
    if (before === undefined) throw new KubeError('not-found', 'Not found', { status: 404 });
    const { uid, resourceVersion, managedFields, ...changes } = metadata;
    if (uid !== undefined && uid !== before.object.metadata.uid) {
      throw new KubeError('uid-mismatch', 'Precondition failed: uid', { status: 409 });
    }
    if (
      resourceVersion !== undefined &&
      resourceVersion !== before.object.metadata.resourceVersion
    ) {
      throw new KubeError('conflict', 'The object has been modified', { status: 409 });
    }
    const object = {
      ...before.object,
      metadata: mergePatched(before.object.metadata as unknown as Fields, changes),
    } as unknown as KubeObject;
    const kept = Array.isArray(managedFields)
      ? managedFields.map(({ manager, subresource }) =>
          subresource === undefined ? manager : `${manager}#${subresource}`,
        )
      : undefined;
    const intents = new Map([...before.intents].filter(([key]) => kept?.includes(key) ?? true));
    const owners = changedLeaves(before, object, 'editor');
    return this.#write(slot, before, { object, intents, owners });
  }

  /** A PUT of a state that has not changed since; keeps status, and metadata that is not named. */
  replace(manifest: KubeObject, manager: string): StoredObject {
    const before = this.#entries.get(slotOfObject(manifest));
    if (before === undefined) throw new KubeError('not-found', 'Not found', { status: 404 });
    assertGuards(manifest, before.object);
    const { labels, annotations } = manifest.metadata;
    const metadata = {
      ...before.object.metadata,
      labels: { ...before.object.metadata.labels, ...labels },
      annotations: { ...before.object.metadata.annotations, ...annotations },
    };
    const status = before.object.status === undefined ? {} : { status: before.object.status };
    return this.put({ ...manifest, metadata, ...status }, manager);
  }

  /** A POST or PUT by somebody else: the whole object, keeping what the server keeps. */
  put(object: KubeObject, manager = 'somebody'): StoredObject {
    const slot = slotOfObject(object);
    const before = this.#entries.get(slot);
    if (before === undefined) {
      const owners = ownedLeaves(object, manager);
      return this.#insert(slot, { object, intents: new Map(), owners });
    }
    const entry = { intents: before.intents, owners: changedLeaves(before, object, manager) };
    const { uid, creationTimestamp } = before.object.metadata;
    const metadata = {
      ...object.metadata,
      ...(uid && { uid }),
      ...(creationTimestamp && { creationTimestamp }),
    };
    return this.#write(slot, before, { ...entry, object: { ...object, metadata } });
  }

  /** @returns undefined when there is no such object. */
  delete(
    gvk: Gvk,
    { namespace, name, uid }: { namespace: string | undefined; name: string; uid?: string },
  ): 'deleted' | 'deleting' | undefined {
    const slot = slotOf(gvk, namespace, name);
    const entry = this.#entries.get(slot);
    if (entry === undefined) return undefined;
    if (uid !== undefined && uid !== entry.object.metadata.uid) {
      throw new KubeError('uid-mismatch', 'Precondition failed: uid', { status: 409 });
    }
    const { metadata } = entry.object;
    if ((metadata.finalizers ?? []).length === 0) {
      this.#remove(slot, entry);
      return 'deleted';
    }
    if (metadata.deletionTimestamp === undefined) {
      const leaving = { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
      this.#write(slot, entry, { ...entry, object: { ...entry.object, metadata: leaving } });
    }
    return 'deleting';
  }

  #create(
    manifest: KubeObject,
    { manager, status }: { manager: string; status: boolean },
  ): StoredObject {
    if (status) throw new KubeError('not-found', 'Not found', { status: 404 });
    if (manifest.metadata.uid !== undefined) {
      throw new KubeError('uid-mismatch', 'Precondition failed: uid', { status: 409 });
    }
    const object = withoutGuards(manifest);
    const owners = ownedLeaves(object, manager);
    const intents = new Map([[manager, object]]);
    return this.#insert(slotOfObject(manifest), { object, intents, owners });
  }

  #insert(slot: string, { object, intents, owners }: Entry): StoredObject {
    this.#uids += 1;
    const metadata = {
      ...object.metadata,
      uid: `uid-${this.#uids}`,
      generation: 1,
      // A test may say that an object is younger than others.
      creationTimestamp: object.metadata.creationTimestamp ?? '2026-01-01T00:00:00Z',
    };
    return this.#store(slot, undefined, { object: { ...object, metadata }, intents, owners });
  }

  #write(slot: string, before: Entry, next: Entry): StoredObject {
    const isSpecChanged = !deepEqual(contentOf(before.object), contentOf(next.object));
    const generation = (before.object.metadata.generation ?? 1) + (isSpecChanged ? 1 : 0);
    const { resourceVersion } = before.object.metadata;
    const metadata = {
      ...next.object.metadata,
      generation,
      ...(resourceVersion && { resourceVersion }),
    };
    const object = { ...next.object, metadata };
    if (deepEqual(object, before.object)) {
      this.#entries.set(slot, { ...next, object: before.object });
      return storedOf({ ...before, intents: next.intents });
    }
    const isGone =
      metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    const stored = this.#store(slot, before, { ...next, object });
    const entry = this.#entries.get(slot);
    if (isGone && entry !== undefined) this.#remove(slot, entry);
    return stored;
  }

  #store(slot: string, before: Entry | undefined, next: Entry): StoredObject {
    this.#version += 1;
    const metadata = { ...next.object.metadata, resourceVersion: this.version };
    const entry = { ...next, object: { ...next.object, metadata } };
    this.#entries.set(slot, entry);
    const after = storedOf(entry);
    this.#tell({ after, deleted: false, ...(before && { before: storedOf(before) }) });
    return after;
  }

  #remove(slot: string, entry: Entry): void {
    this.#entries.delete(slot);
    this.#version += 1;
    const { object } = entry;
    const metadata = { ...object.metadata, resourceVersion: this.version };
    const after = storedOf({ ...entry, object: { ...object, metadata } });
    this.#tell({ before: storedOf(entry), after, deleted: true });
  }

  #tell(event: Omit<ServerEvent, 'gvk'>): void {
    const { apiVersion, kind } = event.after.object;
    for (const listener of this.#listeners) listener({ ...event, gvk: gvkOf(apiVersion, kind) });
  }
}

function storedOf({ object, intents }: Entry): StoredObject {
  const managers = [...intents.keys()].filter((manager) => !manager.endsWith('#status'));
  return {
    object,
    cluster: undefined,
    appliedBy: managers.filter((manager) => manager.startsWith('homeostat/')),
  };
}

/** @throws KubeError if the object is not the one that the manifest names. */
export function assertGuards(manifest: KubeObject, live: KubeObject): void {
  const { uid, resourceVersion } = manifest.metadata;
  if (resourceVersion === '1') {
    throw new KubeError('already-exists', 'The object exists', { status: 409 });
  }
  if (uid !== undefined && uid !== live.metadata.uid) {
    throw new KubeError('uid-mismatch', 'metadata.uid: field is immutable', { status: 422 });
  }
  if (resourceVersion !== undefined && resourceVersion !== live.metadata.resourceVersion) {
    throw new KubeError('conflict', 'The object has been modified', { status: 409 });
  }
}

function withoutGuards({ metadata, ...rest }: KubeObject): KubeObject {
  const { uid: _uid, resourceVersion: _version, ...kept } = metadata;
  const { status: _status, ...content } = rest;
  return { ...content, metadata: kept } as KubeObject;
}

function onlyStatus({ apiVersion, kind, metadata, ...rest }: KubeObject): KubeObject {
  const { name, namespace } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace && { namespace }) },
    status: rest.status,
  };
}

function withStatusOf(object: KubeObject, live: KubeObject): KubeObject {
  const { status: _status, ...content } = object;
  return live.status === undefined
    ? (content as KubeObject)
    : ({ ...content, status: live.status } as KubeObject);
}

function contentOf({ metadata: _metadata, status: _status, ...content }: KubeObject): unknown {
  return content;
}

function mergeIntent(
  live: KubeObject,
  before: KubeObject | undefined,
  intent: KubeObject,
): KubeObject {
  const left = before === undefined ? live : without(live, before, intent);
  const merged = merge(left, intent) as KubeObject;
  // Its schema says that it is atomic.
  return intent.kind === 'OperatorDefinition' && intent.spec !== undefined
    ? { ...merged, spec: intent.spec }
    : merged;
}

/** Takes out what the intent had and does not have any more. */
function without(live: Fields, before: Fields, intent: Fields): Fields {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(live)) {
    const [had, has] = [before[key], intent[key]];
    if (had !== undefined && has === undefined) continue;
    kept[key] =
      isJsonObject(value) && isJsonObject(had) && isJsonObject(has)
        ? without(value, had, has)
        : value;
    const id = listKeys[key];
    if (id !== undefined && Array.isArray(value) && Array.isArray(had) && Array.isArray(has)) {
      const dropped = had.filter((item) => !has.some((each) => each[id] === item[id]));
      kept[key] = value.filter((item) => !dropped.some((each) => each[id] === item[id]));
    }
  }
  return kept;
}

/** Lists that are merged by a key. */
const listKeys: Readonly<Record<string, string>> = { ownerReferences: 'uid', conditions: 'type' };

function merge(live: Fields, intent: Fields): Fields {
  const merged: Record<string, unknown> = { ...live };
  for (const [key, value] of Object.entries(intent)) {
    const have = live[key];
    const id = listKeys[key];
    if (id !== undefined && Array.isArray(have) && Array.isArray(value)) {
      merged[key] = mergeList(have, value, id);
    } else if (isJsonObject(value) && isJsonObject(have)) {
      merged[key] = merge(have, value);
    } else if (value !== undefined) merged[key] = value;
  }
  return merged;
}

function mergeList(
  live: readonly JsonObject[],
  intent: readonly JsonObject[],
  id: string,
): readonly unknown[] {
  const others = live.filter((item) => !intent.some((each) => each[id] === item[id]));
  return [...intent, ...others];
}

function mergePatched(live: Fields, patch: Fields): Fields {
  const merged: Record<string, unknown> = { ...live };
  for (const [key, value] of Object.entries(patch)) {
    const have = live[key];
    if (value === null) delete merged[key];
    else if (isJsonObject(value)) merged[key] = mergePatched(isJsonObject(have) ? have : {}, value);
    else merged[key] = value;
  }
  return merged;
}

function slotOf(gvk: Gvk, namespace: string | undefined, name: string): string {
  return `${gvkKey(gvk)}|${keyOf(namespace, name)}`;
}

function slotOfObject({ apiVersion, kind, metadata }: KubeObject): string {
  return slotOf(gvkOf(apiVersion, kind), metadata.namespace, metadata.name);
}

function statusManagers({ intents }: Entry): readonly ManagedFieldsEntry[] {
  return [...intents].flatMap(([scope, { status }]) => {
    const [manager = '', subresource] = scope.split('#');
    return subresource === undefined || status === undefined
      ? []
      : [{ manager, operation: 'Apply' as const, subresource, fields: {} }];
  });
}
