import { bundledSchemas } from '#compile';
import type { KindSchema, ResourceType } from '#kube/roles.ts';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { settle } from '../fake-clock.ts';
import type { FakeServer } from './fake-server.ts';
import { RuntimeFakeCluster } from './runtime-fake-cluster.ts';

const plain = { namespaced: true, verbs: [] };
const namespace = 'default';

/** A cluster for the definition `shadow`: with Secrets and Services, and the schemas of the built-in kinds. */
export class ShadowCluster extends RuntimeFakeCluster {
  /** What it answers to the question for a schema. */
  answer: (gvk: Gvk) => Promise<KindSchema | undefined> = async (gvk) =>
    bundledSchemas().schemaFor(gvk);

  /** `more`: kinds besides. `server`: one that other clients use, too. */
  constructor(more: readonly ResourceType[] = [], server?: FakeServer) {
    super(
      [
        { gvk: gvkOf('v1', 'Secret'), plural: 'secrets', hasStatus: false, ...plain },
        { gvk: gvkOf('v1', 'Service'), plural: 'services', hasStatus: true, ...plain },
        ...more,
      ],
      server,
    );
  }

  override fetchKindSchema(gvk: Gvk): Promise<KindSchema | undefined> {
    return this.answer(gvk);
  }

  /** Lets all go on that needs no time. */
  async calm(): Promise<void> {
    for (let quiet = 0; quiet < 10; quiet++) {
      await settle();
      if (this.deliver()) quiet = 0;
    }
  }

  /** Somebody makes an object. */
  make(kind: string, name = 'one'): KubeObject {
    return this.server.put({ apiVersion: 'v1', kind, metadata: { name, namespace } }).object;
  }

  object(kind: string, name = 'one'): KubeObject | undefined {
    return this.server.get(gvkOf('v1', kind), namespace, name)?.object;
  }

  /** Somebody deletes an object. */
  remove(kind: string, name = 'one'): void {
    this.server.delete(gvkOf('v1', kind), { namespace, name });
  }

  /** What stands in the ConfigMap that the definition makes for an object. Undefined: there is none. */
  shadow(name = 'one'): string | undefined {
    const map = this.object('ConfigMap', `${name}-shadow`);
    return (map?.data as { readonly text?: string } | undefined)?.text;
  }

  /** Our finalizers on an object. */
  finalizers(kind: string, name = 'one'): readonly string[] {
    return this.object(kind, name)?.metadata.finalizers ?? [];
  }
}
