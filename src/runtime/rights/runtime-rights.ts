import { type AccessRule, type MergedRule, mergeRules } from './access-rule.ts';

/** What the runtime needs for itself, by what of it is in use. Without definitions: these are {@link definitionRights}. */
export interface RuntimeRights {
  /** In the whole cluster, always. */
  readonly cluster: readonly MergedRule[];
  /** In its own namespace, always. */
  readonly namespace: readonly MergedRule[];
  /** In its own namespace, with `--leader-elect`. */
  readonly leaderElection: readonly MergedRule[];
  /** In the namespace of `--definitions-namespace`, with the source `configmaps`. */
  readonly configMaps: readonly MergedRule[];
}

export interface RuntimeRightsOptions {
  /** Name of the Lease. */
  readonly leaseName: string;
}

const homeostatGroup = 'homeostat.dev';

export function runtimeRights({ leaseName }: RuntimeRightsOptions): RuntimeRights {
  return {
    cluster: mergeRules(clusterRules),
    namespace: mergeRules([
      {
        apiGroup: 'apps',
        resource: 'controllerrevisions',
        verbs: ['list', 'watch', 'create', 'patch', 'delete'],
        purpose: 'revisions',
        why: 'the last accepted revisions of definitions, for a restart with a broken source',
      },
    ]),
    leaderElection: mergeRules([
      {
        apiGroup: 'coordination.k8s.io',
        resource: 'leases',
        names: [leaseName],
        verbs: ['get', 'list', 'watch', 'update'],
        purpose: 'lease',
        why: 'who of several replicas works',
      },
      {
        apiGroup: 'coordination.k8s.io',
        resource: 'leases',
        verbs: ['create'],
        purpose: 'lease-new',
        why: 'the Lease when there is none yet; RBAC cannot limit this by name',
      },
    ]),
    configMaps: mergeRules([
      {
        apiGroup: '',
        resource: 'configmaps',
        verbs: ['list', 'watch'],
        purpose: 'configmaps',
        why: 'definitions in ConfigMaps',
      },
    ]),
  };
}

const clusterRules: readonly AccessRule[] = [
  {
    apiGroup: 'apiextensions.k8s.io',
    resource: 'customresourcedefinitions',
    verbs: ['list', 'watch'],
    purpose: 'crds',
    why: 'the kinds of definitions, also of those that have gone and have deletions to finish',
  },
  {
    apiGroup: 'apiextensions.k8s.io',
    resource: 'customresourcedefinitions',
    names: [`operatordefinitions.${homeostatGroup}`],
    verbs: ['get', 'create', 'patch'],
    purpose: 'definition-crd',
    why: 'the kind OperatorDefinition is installed and kept up to date',
  },
  {
    apiGroup: homeostatGroup,
    resource: 'operatordefinitions',
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    purpose: 'definitions',
    why: 'definitions as objects, and mirrors of those that stand elsewhere',
  },
  {
    apiGroup: homeostatGroup,
    resource: 'operatordefinitions/status',
    verbs: ['patch'],
    purpose: 'definition-status',
    why: 'conditions of definitions',
  },
  {
    apiGroup: 'events.k8s.io',
    resource: 'events',
    verbs: ['create', 'patch'],
    purpose: 'events',
    why: 'Events on resources and on sources of definitions',
  },
];
