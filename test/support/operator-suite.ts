import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { userManager } from '#plan/planned-changes.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  InstantKubelet,
  InstantVolumes,
  type PlaneClient,
  type SharedControlPlane,
} from './control-plane/index.ts';
import { conditionOf, shippedText } from './definitions.ts';
import { createRuntimeNamespace, useRuntimes, webhookFlags } from './homeostat.ts';
import type { HomeostatRuntime } from './homeostat-runtime.ts';
import { useKubeCluster } from './kube-cluster.ts';
import { PlannedWrites } from './planned-writes.ts';

/** A shipped operator, and what must be seen of it on a real control plane. */
export interface OperatorCase {
  /** File in `operators`, without its ending. */
  readonly name: string;
  /** A resource of its kind; its namespace is that of each test. */
  readonly resource: KubeObject;
  /** @default false */
  readonly isClusterScoped?: boolean;
  /** Whether its kind has versions that differ: the runtime serves the conversion webhook. @default false */
  readonly converts?: boolean;
  /** What else its spec has, where that depends on the test. @default nothing */
  readonly complete?: (place: Place) => object;
  /** Makes what the resource needs besides itself. @default nothing */
  readonly prepare?: (client: PlaneClient, namespace: string) => Promise<void>;
  /** What it must have made: paths, of {@link Place}s. */
  readonly children: readonly PathOf[];
  /** Edits of the resource and what they must come to. */
  readonly edits: readonly Edit[];
  /** Meddling with children, which must be put back. */
  readonly drifts: readonly Drift[];
  /** Children that come back when somebody deletes them. @default all */
  readonly returning?: readonly PathOf[];
}

/** Where a test works. */
export interface Place {
  readonly namespace: string;
  /** Name of the resource. */
  readonly name: string;
}

export type PathOf = (place: Place) => string;

export interface Edit {
  readonly what: string;
  /** Merged into the resource. */
  readonly change: object;
  readonly path: PathOf;
  /** Gets undefined while the object is not there. */
  readonly isDone: (object: KubeObject | undefined) => boolean;
}

export interface Drift {
  readonly what: string;
  readonly path: PathOf;
  /** Merged into the child. */
  readonly change: object;
  readonly isBack: (object: KubeObject | undefined) => boolean;
}

/** The path of an object in the namespace of the test; by default named like the resource. */
export function at(root: string, plural: string, suffix = ''): PathOf {
  return ({ namespace, name }) => `${root}/namespaces/${namespace}/${plural}/${name}${suffix}`;
}

/** The resource of a test, which is ready. */
export interface Stage extends Place {
  readonly client: PlaneClient;
  readonly path: string;
  readonly resource: KubeObject;
  /** Runs the Pods of its namespace. */
  readonly kubelet: InstantKubelet;
}

export interface OperatorSuite {
  /** Applies the resource in a namespace of its own, merged with `change`, and waits until it is ready. */
  stage(change?: { readonly spec?: object }): Promise<Stage>;
  /** Runs `during` while no runtime runs; it was killed, and is started again. */
  whileDown(during: () => Promise<void>): Promise<void>;
}

/**
 * What must be seen of every shipped operator: creation, edits, drift, deletion with nothing left behind, a restart in the middle,
 * and no request at rest. Called within a `describe`; the control plane needs `audit: true`.
 */
export function operatorSuite(shared: SharedControlPlane, operator: OperatorCase): OperatorSuite {
  const launch = useRuntimes(shared);
  const kube = useKubeCluster(shared);
  const text = shippedText(`${operator.name}.yaml`);
  const definitions = { [`${operator.name}.yaml`]: text };
  const kubelets = new Map<string, InstantKubelet>();
  const volumes: InstantVolumes[] = [];
  let homeostat: HomeostatRuntime | undefined;
  let flags: readonly string[] = [];

  const startHomeostat = async (): Promise<HomeostatRuntime> => {
    const runtime = launch({ definitions, flags });
    await runtime.whenReady();
    return runtime;
  };

  before(async () => {
    if (operator.converts === true) {
      await createRuntimeNamespace(shared);
      flags = await webhookFlags();
    }
    homeostat = await startHomeostat();
    // The garbage collector looks for new kinds every 30 s only.
    await shared.plane.restartControllerManager();
  });
  after(() => Promise.all([...kubelets.values(), ...volumes].map((each) => each.stop())));

  const place = async (): Promise<Place> => {
    const namespace = await shared.namespace();
    const { name } = operator.resource.metadata;
    // What has no namespace needs a name of its own for each test.
    return { namespace, name: operator.isClusterScoped ? `${name}-${namespace}` : name };
  };

  const manifestOf = (where: Place, change: { readonly spec?: object } = {}): KubeObject => {
    const { namespace, name } = where;
    const { spec } = operator.resource;
    return {
      ...operator.resource,
      metadata: operator.isClusterScoped ? { name } : { name, namespace },
      spec: { ...(spec as object), ...operator.complete?.(where), ...change.spec },
    };
  };

  const prepare = async ({ namespace }: Place): Promise<void> => {
    const client = shared.client();
    const kubelet = new InstantKubelet(client);
    kubelet.start({ namespace });
    kubelets.set(namespace, kubelet);
    const storage = new InstantVolumes(client);
    storage.start(namespace);
    volumes.push(storage);
    await operator.prepare?.(client, namespace);
  };

  const apply = async (where: Place, change: { readonly spec?: object } = {}) => {
    await prepare(where);
    return shared.client().apply(manifestOf(where, change));
  };

  const whenReady = async (where: Place): Promise<Stage> => {
    const client = shared.client();
    const { namespace, name } = where;
    const metadata = operator.isClusterScoped ? { name } : { name, namespace };
    const path = await client.pathOf({ ...operator.resource, metadata });
    const resource = await client.untilObject(path, isReady);
    const kubelet = kubelets.get(namespace);
    assert.ok(resource && kubelet);
    return { ...where, client, path, resource, kubelet };
  };

  const stage = async (change?: { readonly spec?: object }): Promise<Stage> => {
    const where = await place();
    await apply(where, change);
    return whenReady(where);
  };

  const whileDown = async (during: () => Promise<void>): Promise<void> => {
    assert.ok(homeostat, 'It runs');
    await homeostat.stop('SIGKILL');
    await during();
    homeostat = await startHomeostat();
  };

  describe('what every operator must do', () => {
    test('a resource becomes ready, has its children, and then nothing is sent', async () => {
      const where = await stage();
      for (const path of operator.children)
        assert.ok(await where.client.get(path(where)), `${path(where)} is not there`);
      await shared.audit.quiet(1_000);
      const mark = shared.audit.mark();
      await shared.audit.quiet(2_000);
      assert.deepEqual(shared.audit.atRest({ since: mark }), []);
    });

    for (const { what, change, path, isDone } of operator.edits) {
      test(`edit: ${what}`, async () => {
        const where = await stage();
        await where.client.patch(where.path, change);
        await where.client.untilObject(path(where), isDone);
        const { generation = 0 } = (await where.client.get(where.path))?.metadata ?? {};
        await where.client.untilObject(
          where.path,
          (object) => isReady(object) && (object?.metadata.generation ?? 0) >= generation,
        );
      });
    }

    test('what is planned is what is then done: a creation, and each edit', async () => {
      const where = await place();
      await prepare(where);
      const created = manifestOf(where);
      const plural = (await shared.client().pathOf(created)).split('/').at(-2) ?? '';
      const writes = new PlannedWrites({ shared, kube, kind: created.kind, plural });
      // Fields that an apply of another manager has set would stay.
      const apply = (manifest: KubeObject) => () =>
        shared.client().apply(manifest, { fieldManager: userManager });
      await writes.compare(text, [created], apply(created));
      await whenReady(where);
      for (const { change } of operator.edits) {
        const edited = manifestOf(where, change);
        await writes.compare(text, [edited], apply(edited));
      }
    });

    for (const { what, path, change, isBack } of operator.drifts) {
      test(`drift: ${what}`, async () => {
        const where = await stage();
        await where.client.patch(path(where), change);
        await where.client.untilObject(path(where), isBack);
      });
    }

    if (operator.children.length > 0) {
      test('children that a user deletes are made again', async () => {
        const where = await stage();
        for (const path of operator.returning ?? operator.children) {
          const old = (await where.client.get(path(where)))?.metadata.uid;
          assert.ok(old, `${path(where)} is not there`);
          await where.client.delete(path(where));
          await where.client.untilObject(
            path(where),
            (object) => object !== undefined && object.metadata.uid !== old,
          );
        }
      });

      test('a deletion leaves nothing behind', async () => {
        const where = await stage();
        const uid = where.resource.metadata.uid ?? '';
        await where.client.delete(where.path);
        await where.client.untilGone(where.path);
        for (const path of operator.children) {
          const list = `${collectionOf(path(where))}?labelSelector=homeostat.dev/owner-uid=${uid}`;
          await where.client.untilList(list, (left) => left.length === 0);
        }
      });
    }

    test('killed in the middle of a creation, it continues after a restart', async () => {
      const where = await place();
      const applied = await apply(where);
      const [first] = operator.children;
      if (first !== undefined)
        await shared.client().untilObject(first(where), (object) => object !== undefined);
      await whileDown(async () => {});
      const { client } = await whenReady(where);
      for (const path of operator.children) {
        const child = await client.get(path(where));
        const owner = child?.metadata.labels?.['homeostat.dev/owner-uid'];
        assert.equal(owner, applied.metadata.uid, path(where));
      }
    });
  });

  return { stage, whileDown };
}

/** Ready, for the newest generation. */
export function isReady(object: KubeObject | undefined): boolean {
  const status = object?.status as { readonly observedGeneration?: number } | undefined;
  return (
    status?.observedGeneration === object?.metadata.generation &&
    conditionOf(object)?.status === 'True'
  );
}

/** The collection of an object, in all namespaces. */
function collectionOf(path: string): string {
  const inAll = path.replace(/\/namespaces\/[^/]+\/(?=[^/]+\/[^/]+$)/, '/');
  return inAll.slice(0, inAll.lastIndexOf('/'));
}
