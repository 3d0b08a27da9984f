import { isJsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { withMetadata } from '../kinds/index.ts';
import { textsOf } from '../metadata/index.ts';
import { type StoredObject, storeKey } from '../store/index.ts';
import { type ControllerWorld, partOf } from './controller-world.ts';
import { isTerminating, uidOf } from './owner-index.ts';
import { pods } from './pod-simulator.ts';

export const claims = '/persistentvolumeclaims';
export const volumes = '/persistentvolumes';

/** Gives every claim a volume at once, and lets both go when nobody uses them. */
export class VolumeController {
  readonly #world: ControllerWorld;

  constructor(world: ControllerWorld) {
    this.#world = world;
  }

  /** For a claim: binds it, or lets it go. */
  reconcile(key: string): void {
    const place = { collection: claims, key };
    const claim = this.#world.find(place);
    if (claim === undefined) this.#release(key);
    else if (isTerminating(claim)) {
      if (!this.#isUsed(claim)) this.#unprotect(place, 'kubernetes.io/pvc-protection');
    } else if (partOf(claim, 'status').phase !== 'Bound') this.#bind(claim);
  }

  #bind(claim: StoredObject): void {
    const spec = partOf(claim, 'spec');
    const name = stringField(spec, 'volumeName') || `pvc-${uidOf(claim)}`;
    const requests = objectField(objectField(spec, 'resources') ?? {}, 'requests') ?? {};
    const capacity = { storage: requests.storage ?? '0' };
    const { accessModes = [], storageClassName, volumeMode = 'Filesystem' } = spec;
    const place = { collection: volumes, key: storeKey('', name) };
    if (this.#world.find(place) === undefined)
      this.#world.create(volumes, '', {
        metadata: { name },
        spec: {
          capacity,
          accessModes,
          volumeMode,
          persistentVolumeReclaimPolicy: 'Delete',
          ...(storageClassName === undefined ? {} : { storageClassName }),
          claimRef: {
            apiVersion: 'v1',
            kind: 'PersistentVolumeClaim',
            namespace: claim.namespace,
            name: claim.name,
            uid: uidOf(claim),
          },
          hostPath: { path: `/sandbox/${name}` },
        },
      });
    this.#world.writeStatus(place, { phase: 'Bound' });
    const claimPlace = { collection: claims, key: claim.key };
    this.#world.change(claimPlace, (object) => ({
      ...object,
      spec: { ...objectField(object, 'spec'), volumeName: name },
    }));
    this.#world.writeStatus(claimPlace, { phase: 'Bound', accessModes, capacity });
  }

  #isUsed(claim: StoredObject): boolean {
    return this.#world.list(pods).some(
      (pod) =>
        pod.namespace === claim.namespace &&
        listField(partOf(pod, 'spec'), 'volumes')
          .filter(isJsonObject)
          .some((volume) => objectField(volume, 'persistentVolumeClaim')?.claimName === claim.name),
    );
  }

  /** The volume of a claim that is gone goes, or waits for somebody to look after it. */
  #release(key: string): void {
    const bound = this.#world.list(volumes).filter((volume) => claimKey(volume) === key);
    for (const volume of bound) {
      const place = { collection: volumes, key: volume.key };
      if (partOf(volume, 'spec').persistentVolumeReclaimPolicy !== 'Delete')
        this.#world.writeStatus(place, { phase: 'Released' });
      else {
        this.#world.delete(place);
        this.#unprotect(place, 'kubernetes.io/pv-protection');
      }
    }
  }

  #unprotect(
    place: { readonly collection: string; readonly key: string },
    finalizer: string,
  ): void {
    this.#world.change(place, (object) => {
      const finalizers = textsOf(objectField(object, 'metadata') ?? {}, 'finalizers');
      const others = finalizers.filter((name) => name !== finalizer);
      return withMetadata(object, 'finalizers', others.length === 0 ? undefined : others);
    });
  }
}

function claimKey(volume: StoredObject): string {
  const claim = objectField(partOf(volume, 'spec'), 'claimRef') ?? {};
  return storeKey(stringField(claim, 'namespace') ?? '', stringField(claim, 'name') ?? '');
}
