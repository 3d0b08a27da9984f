import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { type ConversionOptions, convertManifests } from './convert-manifests.ts';
import { ownObjects } from './own-objects.ts';
import { type Parameter, parseParameter } from './parameter.ts';

function object(
  kind: string,
  name: string,
  rest: Readonly<Record<string, unknown>> = {},
): KubeObject {
  const { metadata, ...content } = rest as { readonly metadata?: object };
  return { apiVersion: 'v1', kind, metadata: { name, ...metadata }, ...content };
}

interface ConvertedSpec {
  readonly vars?: { readonly labels: unknown };
  readonly children: readonly {
    readonly id: string;
    readonly crossNamespace?: boolean;
    readonly template: KubeObject & Readonly<Record<string, unknown>>;
  }[];
  readonly crd: {
    readonly versions: readonly [
      {
        readonly schema: {
          readonly openAPIV3Schema: { readonly properties: { readonly spec: unknown } };
        };
      },
    ];
  };
}

function convert(objects: readonly KubeObject[], parameters: readonly string[] = []) {
  const options: ConversionOptions = {
    name: 'shop',
    kind: 'Shop',
    plural: 'shops',
    group: 'apps.example.com',
    objects,
    isNamespaced: ({ kind }) => !kind.startsWith('Cluster'),
    parameters: parameters.map((text) => parseParameter(text) as Parameter),
  };
  const { definition, ...rest } = convertManifests(options);
  const spec = definition.spec as unknown as ConvertedSpec;
  const templates = spec.children.map(({ template }) => template);
  return {
    ...rest,
    notes: rest.notes.map(({ message }) => message),
    spec,
    templates,
    schema: spec.crd.versions[0].schema.openAPIV3Schema.properties.spec,
  };
}

describe('simulation/convert: manifests to a definition', () => {
  test('an integer that a definition cannot hold as a literal becomes an expression with all of its digits', () => {
    const { templates } = convert([
      object('Ledger', 'web', { spec: { ids: [2n ** 53n + 1n, 5] } }),
    ]);
    assert.deepEqual(templates[0]?.spec, { ids: ['${ $parseJson("9007199254740993") }', 5] });
  });

  test('a parameter with such an integer has its value in the sample, not as a default', () => {
    const { schema, sample } = convert(
      [object('Ledger', 'web', { spec: { ids: [2n ** 53n + 1n, 5] } })],
      ['spec.ids=Ledger/web:spec.ids'],
    );
    const ids = { type: 'array', items: { type: 'integer', format: 'int64' } };
    assert.deepEqual(schema, { type: 'object', default: {}, properties: { ids } });
    assert.deepEqual(sample.spec, { ids: [2n ** 53n + 1n, 5] });
  });

  test('the common beginning of the names is the name of the resource, in references too', () => {
    const { sample, templates } = convert([
      object('ConfigMap', 'web-app-config'),
      object('Pod', 'web-app', {
        spec: {
          serviceAccountName: 'web-app',
          containers: [
            {
              name: 'web-app',
              image: 'web-app',
              args: ['web-app'],
              envFrom: [{ configMapRef: { name: 'web-app-config' } }],
            },
          ],
        },
      }),
    ]);
    assert.equal(sample.metadata.name, 'web-app');
    assert.deepEqual(
      templates.map(({ metadata }) => metadata.name),
      ['${ metadata.name }-config', '${ metadata.name }'],
    );
    assert.deepEqual(templates[1]?.spec, {
      serviceAccountName: '${ metadata.name }',
      containers: [
        {
          name: 'web-app',
          image: 'web-app',
          args: ['web-app'],
          envFrom: [{ configMapRef: { name: '${ metadata.name }-config' } }],
        },
      ],
    });
  });

  test('names without a common beginning stay, and a note says so', () => {
    const { sample, templates, notes } = convert([object('Pod', 'one'), object('Pod', 'two')]);
    assert.equal(sample.metadata.name, 'shop');
    assert.deepEqual(
      templates.map(({ metadata }) => metadata.name),
      ['one', 'two'],
    );
    assert.match(notes.join(), /no common beginning/);
  });

  test('what a server, a controller or a tool adds is left out', () => {
    const { objects } = convert([
      object('Service', 'web', {
        metadata: {
          uid: 'u',
          resourceVersion: '1',
          creationTimestamp: 'x',
          managedFields: [],
          namespace: 'prod',
          labels: { app: 'web', 'app.kubernetes.io/managed-by': 'Helm', 'helm.sh/chart': 'web-1' },
          annotations: { 'meta.helm.sh/release-name': 'web' },
        },
        spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ports: [{ port: 80 }] },
        status: { loadBalancer: {} },
      }),
      object('Service', 'web-pods', { spec: { clusterIP: 'None' } }),
    ]);
    assert.deepEqual(objects, [
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'web', labels: { app: 'web' } },
        spec: { ports: [{ port: 80 }] },
      },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'web-pods' },
        spec: { clusterIP: 'None' },
      },
    ]);
  });

  const token = { name: 'kube-api-access-x7k2p' };
  const data = { name: 'data' };
  const toleration = {
    key: 'node.kubernetes.io/not-ready',
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  };
  const bound = { 'pv.kubernetes.io/bind-completed': 'yes' };
  const boundByController = { ...bound, 'pv.kubernetes.io/bound-by-controller': 'yes' };
  type Fields = Readonly<Record<string, unknown>>;
  const storedObjects: readonly (readonly [string, Fields, Fields])[] = [
    [
      'Service',
      {
        spec: {
          type: 'LoadBalancer',
          clusterIP: '10.0.0.1',
          clusterIPs: ['10.0.0.1'],
          healthCheckNodePort: 31_000,
          ipFamilies: ['IPv4'],
          ipFamilyPolicy: 'SingleStack',
          internalTrafficPolicy: 'Cluster',
          sessionAffinity: 'None',
          ports: [{ port: 80, nodePort: 30_080 }],
        },
      },
      { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } },
    ],
    [
      'Service',
      {
        spec: {
          clusterIP: 'None',
          clusterIPs: ['None'],
          ipFamilies: ['IPv6', 'IPv4'],
          ipFamilyPolicy: 'PreferDualStack',
          internalTrafficPolicy: 'Local',
          sessionAffinity: 'ClientIP',
        },
      },
      {
        spec: {
          clusterIP: 'None',
          ipFamilies: ['IPv6', 'IPv4'],
          ipFamilyPolicy: 'PreferDualStack',
          internalTrafficPolicy: 'Local',
          sessionAffinity: 'ClientIP',
        },
      },
    ],
    [
      'PersistentVolumeClaim',
      {
        metadata: { annotations: boundByController, finalizers: ['kubernetes.io/pvc-protection'] },
        spec: { volumeName: 'pvc-1', volumeMode: 'Filesystem' },
      },
      { spec: {} },
    ],
    [
      'PersistentVolumeClaim',
      { metadata: { annotations: bound }, spec: { volumeName: 'nfs', volumeMode: 'Block' } },
      { spec: { volumeName: 'nfs', volumeMode: 'Block' } },
    ],
    [
      'PersistentVolume',
      { metadata: { annotations: boundByController }, spec: { claimRef: { name: 'a', uid: 'u' } } },
      { spec: {} },
    ],
    [
      'PersistentVolume',
      { metadata: { annotations: bound }, spec: { claimRef: { name: 'a', uid: 'u' } } },
      { spec: { claimRef: { name: 'a' } } },
    ],
    [
      'Pod',
      {
        spec: {
          nodeName: 'node-1',
          priority: 0,
          preemptionPolicy: 'PreemptLowerPriority',
          ephemeralContainers: [{ name: 'debug' }],
          tolerations: [toleration, { key: 'gpu' }],
          volumes: [data, token],
          containers: [{ name: 'a', volumeMounts: [data, token] }],
          initContainers: [{ name: 'b', volumeMounts: [token] }],
        },
      },
      {
        spec: {
          tolerations: [{ key: 'gpu' }],
          volumes: [data],
          containers: [{ name: 'a', volumeMounts: [data] }],
          initContainers: [{ name: 'b' }],
        },
      },
    ],
    [
      'Job',
      { spec: { selector: { matchLabels: { a: 'b' } }, manualSelector: false } },
      { spec: {} },
    ],
    [
      'Job',
      { spec: { selector: { matchLabels: { a: 'b' } }, manualSelector: true } },
      { spec: { selector: { matchLabels: { a: 'b' } }, manualSelector: true } },
    ],
    [
      'Namespace',
      {
        metadata: { labels: { 'kubernetes.io/metadata.name': 'web', team: 'a' } },
        spec: { finalizers: ['kubernetes'] },
      },
      { metadata: { labels: { team: 'a' } }, spec: {} },
    ],
    ['ServiceAccount', { secrets: [{ name: 'web-token-x7k2p' }] }, {}],
    [
      'Secret',
      {
        metadata: {
          annotations: {
            'kubernetes.io/service-account.name': 'web',
            'kubernetes.io/service-account.uid': 'u',
          },
        },
        type: 'kubernetes.io/service-account-token',
        data: { token: 'x' },
      },
      {
        metadata: { annotations: { 'kubernetes.io/service-account.name': 'web' } },
        type: 'kubernetes.io/service-account-token',
      },
    ],
    ['ClusterRole', { aggregationRule: {}, rules: [{ verbs: ['get'] }] }, { aggregationRule: {} }],
    ['ClusterRole', { rules: [{ verbs: ['get'] }] }, { rules: [{ verbs: ['get'] }] }],
    [
      'StatefulSet',
      { spec: { volumeClaimTemplates: [{ metadata: data, status: { phase: 'Pending' } }] } },
      { spec: { volumeClaimTemplates: [{ metadata: data }] } },
    ],
    [
      'Deployment',
      {
        spec: {
          template: {
            metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'x', port: '80' } },
          },
        },
      },
      { spec: { template: { metadata: { annotations: { port: '80' } } } } },
    ],
  ];
  for (const [kind, stored, expected] of storedObjects) {
    test(`a stored ${kind} keeps what its user chose: ${JSON.stringify(expected)}`, () => {
      const { metadata, ...content } = stored as { readonly metadata?: object };
      const { objects } = convert([
        object(kind, 'web', { metadata: { ...metadata, uid: 'u' }, ...content }),
      ]);
      assert.deepEqual(objects, [object(kind, 'web', expected)]);
    });
  }

  test('fields that only a user can have set in a manifest stay', () => {
    const manifests = [
      object('Service', 'web', { spec: { ports: [{ port: 80 }], loadBalancerIP: '10.1.2.3' } }),
      object('Pod', 'web-1', { spec: { nodeName: 'node-1' } }),
      object('ServiceAccount', 'web', { secrets: [{ name: 'web' }] }),
      object('PersistentVolumeClaim', 'web', { spec: { volumeName: 'nfs' } }),
      object('ConfigMap', 'web', { metadata: { finalizers: ['example.com/a'] } }),
    ];
    const { objects, notes } = convert(manifests);
    assert.deepEqual(objects, manifests);
    assert.deepEqual(notes, []);
  });

  for (const [origin, metadata] of [
    ['written', {}],
    ['stored', { uid: 'u' }],
  ] as const)
    test(`a note names each value of a ${origin} Service that the server assigns`, () => {
      const { notes, objects } = convert([
        object('Service', 'web', {
          metadata,
          spec: { ports: [{ port: 80, nodePort: 30_080 }], healthCheckNodePort: 31_000 },
        }),
      ]);
      const [first, second, ...others] = notes;
      assert.match(String(first), /^The "nodePort" of Service "web" is left out/);
      assert.match(String(second), /^The "healthCheckNodePort" of Service "web" is left out/);
      assert.deepEqual(others, []);
      assert.deepEqual(objects[0]?.spec, { ports: [{ port: 80 }] });
    });

  test('a parameter keeps a value that the server could assign: the sample has it, and it is no default', () => {
    const { notes, objects, sample, schema, templates } = convert(
      [object('Service', 'web', { spec: { ports: [{ name: 'http', nodePort: 30_080 }] } })],
      ['spec.nodePort=Service/web:spec.ports[name=http].nodePort'],
    );
    assert.deepEqual(notes, []);
    assert.deepEqual(objects[0]?.spec, { ports: [{ name: 'http', nodePort: 30_080 }] });
    assert.deepEqual(sample.spec, { nodePort: 30_080 });
    assert.deepEqual(schema, {
      type: 'object',
      default: {},
      properties: { nodePort: { type: 'integer' } },
    });
    assert.deepEqual(templates[0]?.spec, {
      ports: [{ name: 'http', nodePort: '${ spec.nodePort }' }],
    });
  });

  test('a subject in the namespace of the objects is in that of the resource', () => {
    const subjects = [
      { kind: 'ServiceAccount', name: 'web', namespace: 'prod' },
      { kind: 'ServiceAccount', name: 'other', namespace: 'prod' },
      { kind: 'ServiceAccount', name: 'web', namespace: 'elsewhere' },
    ];
    const { objects, templates } = convert([
      object('ServiceAccount', 'web', { metadata: { namespace: 'prod' } }),
      object('ClusterRoleBinding', 'web', { subjects }),
    ]);
    const [first, ...others] = subjects;
    assert.deepEqual(objects[1]?.subjects, subjects);
    assert.deepEqual(templates[1]?.subjects, [
      { ...first, name: '${ metadata.name }', namespace: '${ metadata.namespace }' },
      others[0],
      { ...others[1], name: '${ metadata.name }' },
    ]);
  });

  test('objects of controllers and Helm hooks that do not install are left out', () => {
    const owner = { apiVersion: 'v1', kind: 'ReplicaSet', name: 'web-1', uid: 'u' };
    const hook = (name: string) => ({ metadata: { annotations: { 'helm.sh/hook': name } } });
    const { objects, notes, prerequisites } = ownObjects([
      object('Pod', 'web-1-a', { metadata: { ownerReferences: [{ ...owner, controller: true }] } }),
      object('Pod', 'web-owned', { metadata: { ownerReferences: [owner] } }),
      object('Pod', 'web-test', hook('test')),
      object('Job', 'web-migrate', hook('pre-upgrade, pre-install')),
      object('ConfigMap', 'kube-root-ca.crt'),
      object('StatefulSet', 'web', {
        spec: { volumeClaimTemplates: [{ metadata: { name: 'd' } }] },
      }),
      object('PersistentVolumeClaim', 'd-web-0'),
      object('PersistentVolumeClaim', 'd-web-cache'),
      object('CustomResourceDefinition', 'shops.example.com'),
    ]);
    assert.deepEqual(
      objects.map(({ metadata }) => metadata.name),
      ['web-owned', 'web-migrate', 'web', 'd-web-cache'],
    );
    assert.deepEqual(
      prerequisites.map(({ metadata }) => metadata.name),
      ['shops.example.com'],
    );
    assert.deepEqual(
      notes.map(({ message }) => message),
      [
        'Pod "web-1-a" is left out: ReplicaSet "web-1" creates it',
        'Pod "web-test" is left out: Helm creates it for the hook "test"',
        'ConfigMap "kube-root-ca.crt" is left out: every cluster has it',
        'PersistentVolumeClaim "d-web-0" is left out: StatefulSet "web" creates it',
        'CustomResourceDefinition "shops.example.com" is left out: it belongs to the cluster, and its deletion with a resource would delete all objects of its kind',
      ],
    );
    assert.deepEqual(convert(objects).objects[1]?.metadata, { name: 'web-migrate' });
  });

  test('parameters are fields of the resource, with the type and the value as default', () => {
    const { templates, schema } = convert(
      [
        object('Deployment', 'web', {
          spec: {
            replicas: 2,
            paused: false,
            containers: [{ name: 'main', image: 'a:1', args: ['x'] }],
          },
        }),
      ],
      [
        'spec.replicas=Deployment/web:spec.replicas',
        'spec.image.name=Deployment/web:spec.containers[name=main].image',
        'spec.image.args=Deployment/web:spec.containers[0].args',
        'spec.paused=Deployment/web:spec.paused',
      ],
    );
    assert.deepEqual(templates[0]?.spec, {
      replicas: '${ spec.replicas }',
      paused: '${ spec.paused }',
      containers: [{ name: 'main', image: '${ spec.image.name }', args: '${ spec.image.args }' }],
    });
    assert.deepEqual(schema, {
      type: 'object',
      default: {},
      properties: {
        replicas: { type: 'integer', default: 2 },
        image: {
          type: 'object',
          default: {},
          properties: {
            name: { type: 'string', default: 'a:1' },
            args: { type: 'array', items: { type: 'string' }, default: ['x'] },
          },
        },
        paused: { type: 'boolean', default: false },
      },
    });
  });

  test('labels that occur several times are a variable', () => {
    const labels = { app: 'web', tier: 'front' };
    const { spec, templates } = convert([
      object('Service', 'web', { metadata: { labels }, spec: { selector: labels } }),
      object('ConfigMap', 'web-other', { metadata: { labels: { app: 'web' } } }),
    ]);
    assert.deepEqual(spec.vars, { labels: { app: '${ metadata.name }', tier: 'front' } });
    assert.equal(templates[0]?.metadata.labels, '${ vars.labels }');
    assert.deepEqual(templates[0]?.spec, { selector: '${ vars.labels }' });
    assert.deepEqual(templates[1]?.metadata.labels, { app: '${ metadata.name }' });
  });

  test('texts with marks of expressions are literals', () => {
    const { templates } = convert([
      object('ConfigMap', 'web', { data: { a: 'x ${HOST}', b: '{{ .Values }}', c: '$HOME' } }),
    ]);
    assert.deepEqual(templates[0]?.data, {
      a: { $literal: 'x ${HOST}' },
      b: { $literal: '{{ .Values }}' },
      c: '$HOME',
    });
  });

  test('ids are the kind, with the rest of the name where a kind occurs several times', () => {
    const { spec } = convert([
      object('Deployment', 'web'),
      object('Deployment', 'web-db'),
      object('HTTPRoute', 'web'),
      object('ConfigMap', 'web-9a'),
      object('ConfigMap', 'web-9-a'),
    ]);
    assert.deepEqual(
      spec.children.map(({ id }) => id),
      ['deployment', 'dbDeployment', 'httpRoute', 'aConfigMap', 'aConfigMap2'],
    );
  });

  test('cluster-scoped objects, and objects of several namespaces, may be elsewhere', () => {
    const { spec, notes } = convert([
      object('ClusterRole', 'web'),
      object('Pod', 'web-a', { metadata: { namespace: 'a' } }),
      object('Pod', 'web-b', { metadata: { namespace: 'b' } }),
    ]);
    assert.deepEqual(
      spec.children.map(({ crossNamespace }) => crossNamespace),
      [true, true, true],
    );
    assert.match(notes.join(), /several namespaces \(a, b\)/);
  });
});

describe('simulation/convert: parameters', () => {
  for (const text of [
    'replicas=Deployment/a:spec.x',
    'spec.a',
    'spec.a=Deployment:x',
    'spec.a=D/b:',
    'spec.a=D/b:[x',
  ])
    test(`"${text}" is none`, () => {
      assert.equal(parseParameter(text), undefined);
    });

  test('paths have fields, items by position or by a field, and quoted keys', () => {
    assert.deepEqual(parseParameter('spec.a.b=Deployment/web:spec.list[0].x[name=main]["a.b/c"]'), {
      field: ['spec', 'a', 'b'],
      kind: 'Deployment',
      name: 'web',
      path: ['spec', 'list', 0, 'x', { key: 'name', value: 'main' }, 'a.b/c'],
    });
  });
});
