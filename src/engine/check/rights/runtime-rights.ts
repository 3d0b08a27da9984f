import { webhookSecretName } from '#util/stored-names.ts';
import { type AccessRule, type MergedRule, mergeRules } from './access-rule.ts';
import { mergedHttpRules } from './http-rights.ts';
import { watchVerbs } from './required-right.ts';

/** Rights of the runtime itself, by feature. For definitions, see {@link definitionRights}. */
interface RuntimeRights {
  /** Cluster-wide, always needed. */
  readonly cluster: readonly MergedRule[];
  /** In the runtime's namespace, with `--leader-elect`. */
  readonly leaderElection: readonly MergedRule[];
  /** In the namespace of `--definitions-namespace`, with the source `configmaps`. */
  readonly configMaps: readonly MergedRule[];
  /** Cluster-wide, with the kind `Cluster`. */
  readonly clusters: readonly MergedRule[];
  /** In the namespaces of `--cluster-secrets`, with the kind `Cluster`. */
  readonly clusterSecrets: readonly MergedRule[];
  /** Cluster-wide, with the kinds `HttpEndpoint` and `HttpObject`. */
  readonly http: readonly MergedRule[];
  /** In each namespace whose Secrets these objects use. */
  readonly httpValues: readonly MergedRule[];
  /** There, for endpoints that log in with tokens of service accounts. */
  readonly httpLogins: readonly MergedRule[];
  /** Of `homeostat convert`, cluster-wide. */
  readonly conversion: readonly MergedRule[];
  /** Of `homeostat convert`, in its namespace, without `--webhook-cert-dir`. */
  readonly conversionSecret: readonly MergedRule[];
  /** Of the runtime, in the namespace of `homeostat convert`, with `--webhook-service`. */
  readonly conversionBundle: readonly MergedRule[];
  /** In every member. */
  readonly member: readonly MergedRule[];
  /** In a member where definitions run, beside those of the definitions. */
  readonly memberDefinitions: readonly MergedRule[];
}

interface RuntimeRightsOptions {
  /** Name of the Lease. */
  readonly leaseName: string;
}

const homeostatGroup = 'homeostat.dev';

export function runtimeRights({ leaseName }: RuntimeRightsOptions): RuntimeRights {
  return {
    cluster: mergeRules(clusterRules),
    leaderElection: mergeRules([
      {
        apiGroup: 'coordination.k8s.io',
        resource: 'leases',
        names: [leaseName],
        verbs: ['get', 'list', 'watch', 'update'],
        purpose: 'lease',
        reason: 'leader election',
      },
      {
        apiGroup: 'coordination.k8s.io',
        resource: 'leases',
        verbs: ['create'],
        purpose: 'lease-new',
        reason: 'creates the Lease; RBAC cannot limit this by name',
      },
    ]),
    configMaps: mergeRules([
      {
        apiGroup: '',
        resource: 'configmaps',
        verbs: ['list', 'watch'],
        purpose: 'configmaps',
        reason: 'definitions in ConfigMaps',
      },
    ]),
    clusters: mergeRules(clustersRules),
    clusterSecrets: mergeRules([
      {
        apiGroup: '',
        resource: 'secrets',
        verbs: ['list', 'watch'],
        purpose: 'cluster-secrets',
        reason: 'kubeconfigs of member clusters',
      },
    ]),
    ...mergedHttpRules(),
    conversion: mergeRules([
      {
        apiGroup: 'apiextensions.k8s.io',
        resource: 'customresourcedefinitions',
        verbs: ['get', 'list', 'watch'],
        purpose: 'conversion',
        reason: 'conversion rules and schemas',
      },
    ]),
    conversionSecret: mergeRules([
      {
        apiGroup: '',
        resource: 'secrets',
        names: [webhookSecretName],
        // A create by apply can be limited by name.
        verbs: ['get', 'list', 'watch', 'create', 'patch', 'update'],
        purpose: 'conversion',
        reason: 'certificates of the conversion webhook',
      },
    ]),
    conversionBundle: mergeRules([
      {
        apiGroup: '',
        resource: 'secrets',
        names: [webhookSecretName],
        verbs: watchVerbs,
        purpose: 'conversion-bundle',
        reason:
          'certificates of the conversion webhook, which are written into CustomResourceDefinitions',
      },
    ]),
    member: mergeRules([identityRule]),
    memberDefinitions: mergeRules(memberDefinitionRules),
  };
}

const identityRule: AccessRule = {
  apiGroup: '',
  resource: 'namespaces',
  names: ['kube-system'],
  verbs: ['get', 'list', 'watch'],
  purpose: 'member',
  reason: 'its UID identifies a cluster',
};

const clustersRules: readonly AccessRule[] = [
  {
    apiGroup: 'apiextensions.k8s.io',
    resource: 'customresourcedefinitions',
    names: [`clusters.${homeostatGroup}`],
    verbs: ['create', 'patch'],
    purpose: 'clusters',
    reason: 'installs and updates the kind Cluster',
  },
  {
    apiGroup: homeostatGroup,
    resource: 'clusters',
    verbs: ['get', 'list', 'watch', 'patch'],
    purpose: 'clusters',
    reason: 'member clusters',
  },
  {
    apiGroup: homeostatGroup,
    resource: 'clusters/status',
    verbs: ['patch'],
    purpose: 'clusters',
    reason: 'conditions and identity of member clusters',
  },
  { ...identityRule, verbs: ['get'] },
];

const memberDefinitionRules: readonly AccessRule[] = [
  {
    apiGroup: 'coordination.k8s.io',
    resource: 'leases',
    verbs: ['list', 'watch', 'create', 'patch', 'delete'],
    namespaces: ['kube-system'],
    purpose: 'member',
    reason: 'one Lease for each definition, so that only one hub serves it',
  },
  {
    apiGroup: 'apiextensions.k8s.io',
    resource: 'customresourcedefinitions',
    verbs: ['get', 'list', 'watch'],
    purpose: 'member',
    reason: 'CustomResourceDefinitions of definitions',
  },
  {
    apiGroup: 'events.k8s.io',
    resource: 'events',
    verbs: ['create', 'patch'],
    purpose: 'member',
    reason: 'Events on resources',
  },
];

const clusterRules: readonly AccessRule[] = [
  {
    apiGroup: 'apiextensions.k8s.io',
    resource: 'customresourcedefinitions',
    verbs: ['get', 'list', 'watch'],
    purpose: 'crds',
    reason: 'CustomResourceDefinitions of definitions, also while they only finalize resources',
  },
  {
    apiGroup: 'apiextensions.k8s.io',
    resource: 'customresourcedefinitions',
    names: [`operatordefinitions.${homeostatGroup}`],
    verbs: ['create', 'patch'],
    purpose: 'definition-crd',
    reason: 'installs and updates the kind OperatorDefinition',
  },
  {
    apiGroup: homeostatGroup,
    resource: 'operatordefinitions',
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    purpose: 'definitions',
    reason: 'definitions, including published ones',
  },
  {
    apiGroup: homeostatGroup,
    resource: 'operatordefinitions/status',
    verbs: ['patch'],
    purpose: 'definition-status',
    reason: 'conditions and accepted revisions of definitions',
  },
  {
    apiGroup: 'events.k8s.io',
    resource: 'events',
    verbs: ['create', 'patch'],
    purpose: 'events',
    reason: 'Events on resources and on sources of definitions',
  },
];
