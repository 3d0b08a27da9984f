import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { useHomeostat } from '../support/homeostat.ts';
import { reachFolder } from '../support/reach.ts';

// Claims are deleted with their namespace.
const shared = useControlPlane({ controllers: ['pvc-protection'] });
const startHomeostat = useHomeostat(shared);

const name = 'growing';
const requested = (claim: KubeObject | undefined) =>
  (claim?.spec as { resources?: { requests?: { storage?: string } } } | undefined)?.resources
    ?.requests?.storage;
const templateOf = ({ spec }: KubeObject) =>
  (spec as { volumeClaimTemplates: readonly KubeObject[] }).volumeClaimTemplates[0];

/** A server accepts a larger claim only when it is bound, and its class permits it: the sketch's own tests have neither. */
shared.describe('integration/volume-growth', () => {
  test('bound volumes of a RabbitMQ cluster grow, and no Pod is stopped', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const storageClassName = `class-of-${namespace}`;
    const volumeName = `volume-of-${namespace}`;
    await client.apply({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: storageClassName },
      provisioner: 'example.com/none',
      allowVolumeExpansion: true,
    });
    const definition = readFileSync(`${reachFolder('rabbitmq')}/rabbitmq.yaml`, 'utf8');
    const homeostat = await startHomeostat({ 'rabbitmq.yaml': definition });
    const cluster = (storage: string): KubeObject => ({
      apiVersion: 'rabbitmq.example.com/v1',
      kind: 'RabbitmqCluster',
      metadata: { name, namespace },
      spec: { persistence: { storage, storageClassName } },
    });
    await client.apply(cluster('1Gi'));

    const claimPath = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/persistence-${name}-server-0`;
    const claim = await client.untilObject(claimPath, (each) => each !== undefined);
    assert.equal(requested(claim), '1Gi');
    await bind(claim, { claimPath, volumeName, storageClassName });
    const setPath = `/apis/apps/v1/namespaces/${namespace}/statefulsets/${name}-server`;
    const podPath = `/api/v1/namespaces/${namespace}/pods/${name}-server-0`;
    const set = await client.untilObject(setPath, (each) => each !== undefined);
    const pod = await client.untilObject(podPath, (each) => each !== undefined);

    await client.apply(cluster('2Gi'));
    await client.untilObject(claimPath, (each) => requested(each) === '2Gi');
    const grown = await client.untilObject(
      setPath,
      (each) => each !== undefined && requested(templateOf(each)) === '2Gi',
    );
    assert.notEqual(grown?.metadata.uid, set?.metadata.uid);
    const adopted = await client.untilObject(
      podPath,
      (each) =>
        each?.metadata.ownerReferences?.some(({ uid }) => uid === grown?.metadata.uid) === true,
    );
    assert.equal(adopted?.metadata.uid, pod?.metadata.uid);
    assert.equal(adopted?.metadata.deletionTimestamp, undefined);
    await homeostat.stop();
  });

  /** What a provisioner and the binder do, for a claim that waits. */
  async function bind(
    claim: KubeObject | undefined,
    {
      claimPath,
      volumeName,
      storageClassName,
    }: {
      readonly claimPath: string;
      readonly volumeName: string;
      readonly storageClassName: string;
    },
  ): Promise<void> {
    const client = shared.client();
    const { name: claimName, namespace, uid } = claim?.metadata ?? {};
    await client.apply({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: volumeName },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        storageClassName,
        claimRef: {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          name: claimName,
          namespace,
          uid,
        },
        csi: { driver: 'example.com', volumeHandle: volumeName },
      },
    });
    await client.patch(claimPath, { spec: { volumeName } });
    const capacity = { storage: '1Gi' };
    await client.patch(`${claimPath}/status`, { status: { phase: 'Bound', capacity } });
  }
});
