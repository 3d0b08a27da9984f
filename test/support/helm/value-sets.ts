/** Values that people set, each with what must be in the rendering. */
export interface ValueSet {
  readonly what: string;
  readonly values: object;
  /** Objects that must be there, as `Kind/name`. @default none */
  readonly has?: readonly string[];
  /** Objects that must not be there. @default none */
  readonly hasNot?: readonly string[];
}

/** Peers of a NetworkPolicy. */
export const scrapers: readonly object[] = [
  {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } },
    podSelector: { matchLabels: { 'app.kubernetes.io/name': 'prometheus' } },
  },
  { ipBlock: { cidr: '10.0.0.0/24' } },
];

/** A rule of a NetworkPolicy for outgoing connections. */
export const apiServers: object = {
  to: [{ ipBlock: { cidr: '10.0.0.0/24' } }],
  ports: [{ port: 6443, protocol: 'TCP' }],
};

export const valueSets: readonly ValueSet[] = [
  {
    what: 'the default values',
    values: {},
    hasNot: ['ConfigMap/homeostat-examples', 'Deployment/homeostat-conversion'],
  },
  {
    what: 'conversions between versions',
    values: {
      conversion: { enabled: true, port: 10_250 },
      networkPolicy: {
        enabled: true,
        from: scrapers,
        egress: { enabled: true, rules: [apiServers] },
      },
    },
    has: [
      ...['Deployment', 'Service', 'ServiceAccount', 'PodDisruptionBudget', 'NetworkPolicy'].map(
        (kind) => `${kind}/homeostat-conversion`,
      ),
      'ClusterRole/homeostat-conversion',
      'Role/homeostat-conversion',
    ],
  },
  {
    what: 'conversions with certificates of another program, by one Pod',
    values: { conversion: { enabled: true, replicas: 1, certificateSecret: 'webhook-tls' } },
    has: ['Deployment/homeostat-conversion'],
    hasNot: ['Role/homeostat-conversion', 'PodDisruptionBudget/homeostat-conversion'],
  },
  {
    what: 'the shipped operators',
    values: { examples: { enabled: true } },
    has: ['ConfigMap/homeostat-examples', 'ClusterRole/homeostat-examples'],
  },
  {
    what: 'the shipped operators, also those whose versions differ',
    values: { examples: { enabled: true }, conversion: { enabled: true } },
    has: ['ConfigMap/homeostat-examples', 'ClusterRole/homeostat-examples'],
  },
  {
    what: 'one replica, without leader election',
    values: { replicas: 1, leaderElection: { enabled: false } },
    has: ['Deployment/homeostat'],
    hasNot: ['PodDisruptionBudget/homeostat'],
  },
  {
    what: 'roles by another user',
    values: { rbac: { create: false }, serviceAccount: { create: false, name: 'given' } },
    hasNot: ['ClusterRole/homeostat', 'Role/homeostat', 'ServiceAccount/homeostat'],
  },
  {
    what: 'definitions and rights of their own',
    values: {
      definitions: {
        'mine.yaml': 'apiVersion: homeostat.dev/v1alpha1\nkind: OperatorDefinition\n',
      },
      rbac: {
        extraRules: [
          { apiGroups: [''], resources: ['secrets'], resourceNames: ['one'], verbs: ['get'] },
        ],
      },
    },
    has: ['ConfigMap/homeostat-definitions', 'ClusterRole/homeostat-definitions'],
  },
  {
    what: 'another name, an image by digest, everything that a Pod may get',
    values: {
      fullnameOverride: 'other',
      namespace: { create: true },
      image: { repository: 'registry.example.com/homeostat', digest: `sha256:${'a'.repeat(64)}` },
      imagePullSecrets: [{ name: 'registry' }],
      serviceAccount: { annotations: { a: 'b' } },
      sources: ['objects'],
      extraArgs: ['--definitions-namespace=elsewhere'],
      extraEnv: [{ name: 'HTTPS_PROXY', value: 'http://proxy.example.com' }],
      podAnnotations: { a: 'b' },
      podLabels: { c: 'd' },
      priorityClassName: 'system-cluster-critical',
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      tolerations: [{ key: 'a', operator: 'Exists' }],
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              topologyKey: 'kubernetes.io/hostname',
              labelSelector: { matchLabels: { 'app.kubernetes.io/name': 'homeostat' } },
            },
          ],
        },
      },
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'example.com/rack', whenUnsatisfiable: 'DoNotSchedule' },
      ],
      resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { memory: '2Gi' } },
      podDisruptionBudget: { maxUnavailable: '50%' },
    },
    has: ['Namespace/homeostat-system', 'Deployment/other', 'PodDisruptionBudget/other'],
    hasNot: ['Deployment/homeostat'],
  },
  {
    what: 'records of reconciles for the console',
    values: { console: { recordsSecret: 'homeostat-records' } },
    has: ['Deployment/homeostat'],
    hasNot: ['Secret/homeostat-records'],
  },
  {
    what: 'a ServiceMonitor',
    values: { serviceMonitor: { enabled: true, labels: { release: 'prometheus' } } },
    has: ['ServiceMonitor/homeostat', 'Service/homeostat-metrics'],
    hasNot: ['NetworkPolicy/homeostat'],
  },
  {
    what: 'a NetworkPolicy without peers',
    values: { networkPolicy: { enabled: true } },
    has: ['NetworkPolicy/homeostat'],
  },
  {
    what: 'a NetworkPolicy for Prometheus and a network',
    values: { networkPolicy: { enabled: true, from: scrapers } },
    has: ['NetworkPolicy/homeostat'],
    hasNot: ['NetworkPolicy/homeostat-egress'],
  },
  {
    what: 'a NetworkPolicy for outgoing connections',
    values: { networkPolicy: { egress: { enabled: true, rules: [apiServers] } } },
    has: ['NetworkPolicy/homeostat-egress'],
    hasNot: ['NetworkPolicy/homeostat'],
  },
  {
    what: 'member clusters, their Secrets by name, and their servers',
    values: {
      clusters: {
        enabled: true,
        secretNames: ['paris-1', 'rome-1'],
        servers: ['*.example.com', '10.0.0.0/8', 'fd00::/8'],
      },
    },
    has: ['CustomResourceDefinition/clusters.homeostat.dev', 'Role/homeostat-cluster-secrets'],
  },
];

/** Values that are rejected, and what helm says of them. */
export const rejectedValues: readonly (readonly [values: object, says: RegExp])[] = [
  [
    { replicas: 2, leaderElection: { enabled: false } },
    /More than one replica needs leaderElection/,
  ],
  [{ replica: 2 }, /replica/],
  [{ sources: ['directories'] }, /sources/],
  [{ terminationGracePeriodSeconds: 10 }, /terminationGracePeriodSeconds/],
  [
    { definitions: { 'mine.txt': '' } },
    /definitions: expected the name of a YAML or JSON file such as podset\.yaml, found "mine\.txt"/,
  ],
  [{ console: { recordsSecret: 'Foo_Bar' } }, /recordsSecret/],
  [{ serviceAccount: { create: false } }, /serviceAccount.name is needed/],
  [{ networkPolicy: { enabled: true, from: [{}] } }, /networkPolicy/],
  [{ networkPolicy: { egress: { enabled: true } } }, /rules/],
  [{ networkPolicy: { egress: { enabled: true, rules: [{ ports: [] }] } } }, /rules/],
  [{ clusters: { servers: ['https://a,b'] } }, /servers/],
  [{ clusters: { secretNames: ['Foo_Bar'] } }, /secretNames/],
  [{ service: { enabled: false }, serviceMonitor: { enabled: true } }, /needs service.enabled/],
];
