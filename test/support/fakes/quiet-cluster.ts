import type { EventsDenied, KindSchema } from '#kube/roles.ts';
import type { RuntimeCluster } from '#runtime';
import type { Gvk } from '#util/gvk.ts';
import { FakeCluster } from './fake-cluster.ts';

/** A cluster for the runtime that is never away, and documents no kinds. */
export class QuietCluster extends FakeCluster implements RuntimeCluster {
  readonly unreachable = undefined;
  eventsDenied: EventsDenied | undefined;

  async fetchKindSchema(_gvk: Gvk): Promise<KindSchema | undefined> {
    return undefined;
  }

  onAuthenticated(): () => void {
    return () => {};
  }

  observe(): void {}

  kindCreated(): void {}
  kindChanged(): void {}
}
