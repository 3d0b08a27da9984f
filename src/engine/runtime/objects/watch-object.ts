import type { InformerState, Watcher } from '#kube/roles.ts';
import type { Gvk } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** A watch on one object. */
export interface ObjectWatch {
  /** `namespace/name` of the object. */
  readonly key: string;
  readonly state: InformerState;
  /** Undefined: it does not exist, or is not known. */
  readonly object: KubeObject | undefined;
  stop(): void;
}

/** Watches one object. `onChange`: it or the state of the watch has changed. */
export function watchObject(
  watcher: Watcher,
  ref: { readonly gvk: Gvk; readonly namespace: string; readonly name: string },
  onChange: () => void,
): ObjectWatch {
  const { gvk, namespace, name } = ref;
  const informer = watcher.acquire({ gvk, namespace, fieldSelector: `metadata.name=${name}` });
  const stops = [informer.subscribe(onChange), informer.onState(onChange)];
  return {
    key: `${namespace}/${name}`,
    get state() {
      return informer.state;
    },
    get object() {
      return informer.get(namespace, name)?.object;
    },
    stop() {
      for (const stop of stops) stop();
      informer.release();
    },
  };
}
