import { installGvk } from '#compile';
import {
  type CacheEvent,
  type Cluster,
  type Informer,
  KubeError,
  type ResourceType,
  type StoredObject,
} from '#kube/roles.ts';
import { apiVersionOf, type Gvk, gvkKey, gvkOf } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import { isHomeostatKey, type KubeObject } from '#util/kube-object.ts';
import {
  finalizerOf,
  installNameOf,
  installOwnerOf,
  type OwnPart,
  pausedAnnotation,
} from '#util/stored-names.ts';
import { definitionGvk } from '../objects/names.ts';
import { controlsOf } from '../publish/definition-controls.ts';

export interface DefinitionViewOptions {
  readonly cluster: Cluster;
  /** Name of the definition. */
  readonly name: string;
  /** Which of its own objects are the children. @default 'install' */
  readonly part?: OwnPart;
  /** The informer of the objects of definitions. @default that of the cluster */
  readonly acquireDefinitions?: () => Informer;
  /** Whether nothing is written to the object: in a plan. @default false */
  readonly isReadOnly?: boolean;
  /** Whether its objects are deleted with it: then the resource is being deleted, too. */
  readonly isRemoved: boolean;
  /** Called when the finalizer of the resource is removed: no object of it is left. */
  readonly onReleased: () => void;
}

const installType: ResourceType = {
  gvk: installGvk,
  plural: 'operatordefinitioninstalls',
  namespaced: false,
  hasStatus: true,
  verbs: ['get', 'list', 'watch', 'patch'],
};
const installKey = gvkKey(installGvk);

/**
 * A cluster in which the object of one definition looks like a resource of `installGvk`, so that its own objects are reconciled as its
 * children: `status.install` is its status (or `status.admission`), and its UID and finalizer are the same for every object of this name. Everything else is that
 * of the cluster.
 */
export function createDefinitionViewCluster(options: DefinitionViewOptions): Cluster {
  const { cluster, name, part = 'install', onReleased, isReadOnly = false } = options;
  const { acquireDefinitions = () => cluster.acquire({ gvk: definitionGvk }) } = options;
  const viewOf = createView(options);
  /** The object as it was shown last. */
  let shown: StoredObject | undefined;

  function view(stored: StoredObject): StoredObject {
    shown = stored;
    return viewOf(stored);
  }

  function current(): StoredObject {
    if (shown === undefined)
      throw new KubeError('not-found', `Definition "${name}" does not exist`, { status: 404 });
    return shown;
  }

  return {
    name: cluster.name,
    ...(cluster.labels && { labels: cluster.labels }),
    events: {
      record: (event) =>
        cluster.events.record(
          isView(event.regarding)
            ? { ...event, regarding: current().object, definition: name }
            : event,
        ),
    },
    acquire(query) {
      if (gvkKey(query.gvk) !== installKey) return cluster.acquire(query);
      const informer = acquireDefinitions();
      shown = informer.get(undefined, name) ?? shown;
      return viewInformer(informer, name, view);
    },
    resourceFor: (gvk) => (gvkKey(gvk) === installKey ? installType : cluster.resourceFor(gvk)),
    lookUp: async (gvk, signal) =>
      gvkKey(gvk) === installKey ? installType : cluster.lookUp(gvk, signal),
    findKind: (kind, signal) => cluster.findKind(kind, signal),
    onGranted: (right, listener) => cluster.onGranted(right, listener),
    async get(ref, write, signal) {
      if (gvkKey(ref.gvk) !== installKey) return cluster.get(ref, write, signal);
      const stored = await cluster.get({ gvk: definitionGvk, name }, write, signal);
      return stored && view(stored);
    },
    managedFields: (ref, write, signal) => cluster.managedFields(realRef(ref, name), write, signal),
    async apply(manifest, write, signal) {
      if (!isView(manifest)) return cluster.apply(manifest, write, signal);
      if (isReadOnly) return { stored: viewOf(current()), created: false };
      const { uid = '' } = current().object.metadata;
      const { annotations } = manifest.metadata;
      const sent = {
        apiVersion: apiVersionOf(definitionGvk),
        kind: definitionGvk.kind,
        metadata: { name, uid, ...(annotations && { annotations }) },
        ...(manifest.status === undefined ? {} : { status: { [part]: manifest.status } }),
      };
      const { stored, created } = await cluster.apply(sent, write, signal);
      return { stored: view(stored), created };
    },
    replace: (manifest, write, signal) => cluster.replace(manifest, write, signal),
    async editMetadata(ref, edit, signal) {
      if (gvkKey(ref.gvk) !== installKey) return cluster.editMetadata(ref, edit, signal);
      const { object } = current();
      const change = edit.change(viewOf(current()).object.metadata);
      const isReleased = isJsonObject(change) && Array.isArray(change.finalizers);
      if (isReleased) onReleased();
      const annotations = isJsonObject(change) ? change.annotations : undefined;
      if (annotations === undefined || isReadOnly) return view(current());
      const stored = await cluster.editMetadata(
        { gvk: definitionGvk, name },
        {
          ...edit,
          uid: object.metadata.uid ?? '',
          cached: object,
          change: () => ({ annotations }),
        },
        signal,
      );
      return stored && view(stored);
    },
    delete: (ref, write, signal) => cluster.delete(ref, write, signal),
  };
}

function isView({ apiVersion, kind }: KubeObject): boolean {
  return gvkKey(gvkOf(apiVersion, kind)) === installKey;
}

function realRef<Ref extends { readonly gvk: Gvk }>(ref: Ref, name: string): Ref {
  return gvkKey(ref.gvk) === installKey ? { ...ref, gvk: definitionGvk, name } : ref;
}

/** The same state of the object has the same view: the engine compares by identity. */
function createView({
  name,
  part = 'install',
  isRemoved,
}: DefinitionViewOptions): (stored: StoredObject) => StoredObject {
  const known = new WeakMap<StoredObject, StoredObject>();
  const finalizer = finalizerOf(installNameOf(name, part));

  function create({ object, cluster }: StoredObject): StoredObject {
    const { metadata, status } = object;
    const own = isJsonObject(status) ? status[part] : undefined;
    const { deletionTimestamp, finalizers: _, ownerReferences: __, ...kept } = metadata;
    const { [pausedAnnotation]: ___, ...annotations } = metadata.annotations ?? {};
    const { isPaused } = controlsOf(metadata);
    return {
      cluster,
      appliedBy: [],
      object: {
        apiVersion: apiVersionOf(installGvk),
        kind: installGvk.kind,
        metadata: {
          ...kept,
          uid: installOwnerOf(name, part),
          annotations: { ...annotations, ...(isPaused && { [pausedAnnotation]: 'true' }) },
          finalizers: [finalizer],
          ...(isRemoved && deletionTimestamp !== undefined && { deletionTimestamp }),
        },
        definition: {
          metadata: {
            name,
            labels: authored(metadata.labels),
            annotations: authored(metadata.annotations),
          },
        },
        status: isJsonObject(own) ? own : {},
      },
    };
  }

  return (stored) => {
    const found = known.get(stored) ?? create(stored);
    known.set(stored, found);
    return found;
  };
}

/** What users write. */
function authored(values: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !isHomeostatKey(key)));
}

/** The informer of definitions, with one of them. */
function viewInformer(
  informer: Informer,
  name: string,
  view: (stored: StoredObject) => StoredObject,
): Informer {
  const found = () => informer.get(undefined, name);
  const eventOf = ({ old, current, ...event }: CacheEvent): CacheEvent => ({
    ...event,
    // The older state first: the view remembers the last one.
    ...(old && { old: view(old) }),
    ...(current && { current: view(current) }),
  });
  return {
    query: { gvk: installGvk },
    get state() {
      return informer.state;
    },
    get(_namespace, wanted) {
      const stored = wanted === name ? found() : undefined;
      return stored && view(stored);
    },
    *list() {
      const stored = found();
      if (stored !== undefined) yield view(stored);
    },
    index: (_name, valuesOf) => ({
      get(value) {
        const stored = found();
        if (stored === undefined) return [];
        const shown = view(stored);
        return valuesOf(shown.object).includes(value) ? [shown] : [];
      },
    }),
    subscribe: (listener) =>
      informer.subscribe((event) => {
        if (event.name === name) listener(eventOf(event));
      }),
    onState: (listener) => informer.onState(listener),
    release: () => informer.release(),
  };
}
