import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { configMap, configMaps, jsonPatch, merge, post } from './requests.ts';

const secrets = '/api/v1/namespaces/$(ns)/secrets';
const claims = '/api/v1/namespaces/$(ns)/persistentvolumeclaims';
const autoscalers = '/apis/autoscaling/v2/namespaces/$(ns)/horizontalpodautoscalers';

function claim(spec: JsonObject): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'x' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      ...spec,
    },
  };
}

function rejectedClaim(name: string, spec: JsonObject): ContractCase {
  return {
    name: `a claim with ${name} is rejected`,
    ranked: [42],
    steps: [post(claims, claim(spec), { status: 422 })],
  };
}

const storageClasses = '/apis/storage.k8s.io/v1/storageclasses';
const pods = '/api/v1/namespaces/$(ns)/pods';

function storageClass(name: string): JsonObject {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: `${name}-$(ns)` },
    provisioner: 'csi.example.org',
  };
}

function sized(size: string): JsonObject {
  return { spec: { resources: { requests: { storage: size } } } };
}

const shownChange = 'shows how the spec changed';
const bound = { status: { phase: 'Bound', capacity: { storage: '1Gi' } } };

function container(name: string): JsonObject {
  return { name, image: 'web' };
}

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'x' },
  spec: { containers: [container('c')] },
};

function storage(name: string, size: string): ContractCase {
  return rejectedClaim(name, { resources: { requests: { storage: size } } });
}

const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' };

function rejectedAutoscaler(name: string, spec: JsonObject): ContractCase {
  const body = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'x' },
    spec: { maxReplicas: 3, scaleTargetRef: target, ...spec },
  };
  return {
    name: `an autoscaler with ${name} is rejected`,
    ranked: [42],
    steps: [post(autoscalers, body, { status: 422 })],
  };
}

function secret(fields: JsonObject): JsonObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, ...fields };
}

/** Mistakes in what pods use and what scales them. */
export const dataMistakes: readonly ContractCase[] = [
  rejectedClaim('no modes', { accessModes: [] }),
  rejectedClaim('an unknown mode', { accessModes: ['Foo', 'ReadWriteOnce'] }),
  rejectedClaim('modes that do not go together', {
    accessModes: ['ReadWriteOncePod', 'ReadWriteMany'],
  }),
  rejectedClaim('no size', { resources: {} }),
  storage('a size below zero', '-1'),
  storage('no space', '0'),
  rejectedClaim('a class in capitals', { storageClassName: 'Fast_' }),
  rejectedClaim('an unknown mode of its volume', { volumeMode: 'Tape' }),
  rejectedClaim('a selector that is none', { selector: { matchLabels: { 'a b': 'c' } } }),
  rejectedClaim('a size that is none', {
    resources: { requests: { storage: '1Gi' } },
    accessModes: [],
  }),
  {
    name: 'a size that is no quantity cannot be read',
    steps: [post(claims, claim({ resources: { requests: { storage: 'much' } } }), { status: 400 })],
  },
  rejectedAutoscaler('a target without a group', {
    scaleTargetRef: { kind: 'Deployment', name: 'x' },
  }),
  rejectedAutoscaler('a target of a version that is none', {
    scaleTargetRef: { ...target, apiVersion: 'a/b/c' },
  }),
  rejectedAutoscaler('a target without a kind and a name', {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: '', name: '' },
  }),
  rejectedAutoscaler('a target that is no name', {
    scaleTargetRef: { ...target, kind: 'a/b', name: '%' },
  }),
  rejectedAutoscaler('no most', { maxReplicas: 0 }),
  rejectedAutoscaler('a most below zero', { maxReplicas: -1 }),
  rejectedAutoscaler('less than one', { minReplicas: 0 }),
  rejectedAutoscaler('more at least than at most', { minReplicas: 5 }),
  {
    name: 'keys of data that are none are rejected',
    ranked: [42],
    steps: [
      post(configMaps, configMap({ 'a b': '1' }), { status: 422 }),
      post(configMaps, configMap({ '..a': '1' }), { status: 422 }),
      post(
        configMaps,
        { ...configMap({ a: '1' }), binaryData: { a: 'YQ==', 'b/c': 'YQ==' } },
        { status: 422 },
      ),
      post(secrets, secret({ stringData: { 'a/b': '1' } }), { status: 422 }),
      post(secrets, secret({ data: { '..': 'YQ==' } }), { status: 422 }),
    ],
  },
  {
    name: 'what is immutable stays',
    ranked: [42],
    steps: [
      post(configMaps, { ...configMap({ a: '1' }), immutable: true }, { status: 201 }),
      merge(`${configMaps}/x`, { data: { a: '2' } }, { status: 422 }),
      merge(`${configMaps}/x`, { immutable: false }, { status: 422 }),
      merge(`${configMaps}/x`, { binaryData: { b: 'YQ==' }, immutable: null }, { status: 422 }),
      merge(`${configMaps}/x`, { metadata: { labels: { a: 'b' } } }, { status: 200 }),
      post(secrets, secret({ data: { a: 'YQ==' }, immutable: true }), { status: 201 }),
      merge(`${secrets}/x`, { stringData: { a: 'b' } }, { status: 422 }),
      merge(`${secrets}/x`, { type: 'other' }, { status: 422 }),
    ],
  },
  {
    name: 'a bound claim grows where its class allows it, and does not shrink',
    ranked: [42],
    steps: [
      post(storageClasses, storageClass('fixed'), { status: 201 }),
      post(
        storageClasses,
        { ...storageClass('grows'), allowVolumeExpansion: true },
        { status: 201 },
      ),
      post(claims, claim({ storageClassName: 'grows-$(ns)' }), { status: 201 }),
      merge(`${claims}/x`, sized('2Gi'), {
        status: 422,
        message: /is immutable after creation/,
        differs: { message: shownChange, 'details.causes': shownChange },
      }),
      merge(`${claims}/x/status`, bound, { status: 200 }),
      merge(`${claims}/x`, sized('512Mi'), {
        status: 422,
        message: /requests\.storage: Forbidden: field can not be less than status\.capacity$/,
      }),
      merge(`${claims}/x`, sized('2Gi'), { status: 200 }),
      merge(`${claims}/x`, sized('1.5Gi'), { status: 200 }),
      merge(`${claims}/x`, sized('1Gi'), { status: 422 }),
      post(
        claims,
        { ...claim({ storageClassName: 'fixed-$(ns)' }), metadata: { name: 'y' } },
        { status: 201 },
      ),
      merge(`${claims}/y/status`, bound, { status: 200 }),
      merge(`${claims}/y`, sized('2Gi'), { status: 403, message: /only dynamically provisioned/ }),
      merge(`${claims}/y`, sized('1024Mi'), { status: 200 }),
    ],
  },
  {
    name: 'the containers and tolerations of a pod stay',
    ranked: [42],
    steps: [
      post(pods, pod, { status: 201 }),
      merge(
        `${pods}/x`,
        { spec: { containers: [container('c'), container('d')] } },
        { status: 422, message: /may not add or remove containers/ },
      ),
      merge(`${pods}/x`, { spec: { tolerations: [] } }, { status: 200 }),
      jsonPatch(
        `${pods}/x`,
        [{ op: 'replace', path: '/spec/tolerations/0/operator', value: 'Equal' }],
        { status: 422 },
      ),
      merge(`${pods}/x`, { spec: { activeDeadlineSeconds: 60 } }, { status: 200 }),
      merge(`${pods}/x`, { spec: { activeDeadlineSeconds: 90 } }, { status: 422 }),
      merge(`${pods}/x`, { spec: { activeDeadlineSeconds: null } }, { status: 422 }),
    ],
  },
];
