import { isJsonObject, type Json } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { withMetadata } from '../kinds/generation.ts';
import { billionthsOf } from '../kinds/resource-rules.ts';
import { stringsOf } from '../metadata/validate-metadata.ts';
import { type StoredObject, storeKey } from '../store/stored-object.ts';
import { type ControllerClient, partOf } from './controller-client.ts';
import { isTerminating, uidOf } from './owner-index.ts';
import { pods } from './pod-simulator.ts';

export const claims = '/persistentvolumeclaims';
export const volumes = '/persistentvolumes';

interface VolumeControllerOptions {
  /** Are there volumes? Without them, claims stay pending. */
  readonly provisions: boolean;
}

/** Binds every claim to a volume at once, and removes the finalizers of unused claims and volumes. */
export class VolumeController {
  readonly #client: ControllerClient;
  readonly #provisions: boolean;

  constructor(client: ControllerClient, { provisions }: VolumeControllerOptions) {
    this.#client = client;
    this.#provisions = provisions;
  }

  /** Binds a claim, or removes its finalizer. */
  reconcile(key: string): void {
    const place = { collection: claims, key };
    const claim = this.#client.find(place);
    if (claim !== undefined && isTerminating(claim)) {
      if (!this.#isUsed(claim)) this.#removeFinalizer(place, 'kubernetes.io/pvc-protection');
    } else if (!this.#provisions) return;
    else if (claim === undefined) this.#release(key);
    else if (partOf(claim, 'status').phase !== 'Bound') this.#bind(claim);
    else this.#grow(claim);
  }

  /** Resizes the volume of a claim that has grown. Without it, the claim could shrink to its first size. */
  #grow(claim: StoredObject): void {
    const storage = requestedStorage(claim);
    const capacity = objectField(partOf(claim, 'status'), 'capacity') ?? {};
    if (storage === undefined || billionthsOf(storage) <= billionthsOf(capacity.storage)) return;
    const name = stringField(partOf(claim, 'spec'), 'volumeName') ?? '';
    this.#client.update({ collection: volumes, key: storeKey('', name) }, (volume) => {
      const spec = objectField(volume, 'spec') ?? {};
      return {
        ...volume,
        spec: { ...spec, capacity: { ...objectField(spec, 'capacity'), storage } },
      };
    });
    this.#client.writeStatus(
      { collection: claims, key: claim.key },
      { ...partOf(claim, 'status'), capacity: { ...capacity, storage } },
    );
  }

  #bind(claim: StoredObject): void {
    const spec = partOf(claim, 'spec');
    const name = stringField(spec, 'volumeName') || `pvc-${uidOf(claim)}`;
    const capacity = { storage: requestedStorage(claim) ?? '0' };
    const { accessModes = [], storageClassName, volumeMode = 'Filesystem' } = spec;
    const place = { collection: volumes, key: storeKey('', name) };
    if (this.#client.find(place) === undefined)
      this.#client.create(volumes, '', {
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
    this.#client.writeStatus(place, { phase: 'Bound' });
    const claimPlace = { collection: claims, key: claim.key };
    this.#client.update(claimPlace, (object) => ({
      ...object,
      spec: { ...objectField(object, 'spec'), volumeName: name },
    }));
    this.#client.writeStatus(claimPlace, { phase: 'Bound', accessModes, capacity });
  }

  #isUsed(claim: StoredObject): boolean {
    return this.#client.list(pods).some(
      (pod) =>
        pod.namespace === claim.namespace &&
        listField(partOf(pod, 'spec'), 'volumes')
          .filter(isJsonObject)
          .some((volume) => objectField(volume, 'persistentVolumeClaim')?.claimName === claim.name),
    );
  }

  /** Deletes the volume of a deleted claim, or marks it as Released. */
  #release(key: string): void {
    const bound = this.#client.list(volumes).filter((volume) => claimKey(volume) === key);
    for (const volume of bound) {
      const place = { collection: volumes, key: volume.key };
      if (partOf(volume, 'spec').persistentVolumeReclaimPolicy !== 'Delete')
        this.#client.writeStatus(place, { phase: 'Released' });
      else {
        this.#client.delete(place);
        this.#removeFinalizer(place, 'kubernetes.io/pv-protection');
      }
    }
  }

  #removeFinalizer(
    place: { readonly collection: string; readonly key: string },
    finalizer: string,
  ): void {
    this.#client.update(place, (object) => {
      const finalizers = stringsOf(objectField(object, 'metadata') ?? {}, 'finalizers');
      const others = finalizers.filter((name) => name !== finalizer);
      return withMetadata(object, 'finalizers', others.length === 0 ? undefined : others);
    });
  }
}

function requestedStorage(claim: StoredObject): Json | undefined {
  const resources = objectField(partOf(claim, 'spec'), 'resources') ?? {};
  return objectField(resources, 'requests')?.storage;
}

function claimKey(volume: StoredObject): string {
  const claim = objectField(partOf(volume, 'spec'), 'claimRef') ?? {};
  return storeKey(stringField(claim, 'namespace') ?? '', stringField(claim, 'name') ?? '');
}
