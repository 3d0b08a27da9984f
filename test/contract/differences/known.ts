/** A general difference between the sandbox and a cluster. Cases contain the differences of single responses. */
export interface KnownDifference {
  readonly about: string;
  readonly sandbox: string;
}

export const knownDifferences: readonly KnownDifference[] = [
  {
    about: 'Rights',
    sandbox:
      'Every request is allowed. RBAC objects are stored but not enforced, and access reviews always allow. The ClusterRoles of a cluster (`view`, `edit`, `admin`, `cluster-admin`, `system:*`) do not exist; bindings can name them.',
  },
  {
    about: 'Admission',
    sandbox:
      'No webhook is called: webhook configurations are stored and validated, except their CEL expressions, with a warning. No quotas or limit ranges. Pods get no service account and no token.',
  },
  {
    about: 'Admission policies',
    sandbox:
      'Validating and mutating policies are in effect at once, in the order of their names. A policy gets a warning for what is not enforced: `params`, mutations of the type `ApplyConfiguration`, audit annotations, and CEL that the sandbox cannot evaluate. The types of expressions are checked without the schemas of kinds, `authorizer` allows everything, and the cost of expressions is not limited. Policies apply to requests, and to Pods and other objects that simulated workload controllers create, not to their other writes.',
  },
  {
    about: 'Validation of built-in kinds',
    sandbox:
      'All served kinds are validated with the messages of a real server; see [manifests with mistakes](#manifests-with-mistakes) and [updates](#updates). A cluster also validates volumes of less common types, devices, resource claims, sysctls, AppArmor and options for Windows.',
  },
  {
    about: 'Rules of CRDs (CEL)',
    sandbox:
      'Evaluated, except functions of URLs, addresses, semantic versions and formats. A CRD with such a rule gets a warning, and the rule is not enforced. The cost of rules is not estimated, so a cluster can reject a CRD that the sandbox accepts. Regular expressions are those of JavaScript.',
  },
  {
    about: 'Schemas of CRDs',
    sandbox:
      'Checked as on a real server, except the types in rules: the sandbox accepts a rule that uses a field that a list or map does not have. Defaults in the metadata of embedded resources are checked less strictly.',
  },
  {
    about: 'Versions of CRDs',
    sandbox:
      'A CRD with conversion rules of Homeostat, and with a webhook whose path names their digest, is converted by these rules in the process. While such webhooks are switched off, lists fail, too; a real server lists from its cache until the next change. Any other conversion webhook is stored and validated, with a warning, and not called: conversion then changes only the version.',
  },
  {
    about: 'OpenAPI',
    sandbox:
      'Version 3 describes all kinds. Version 2, which kubectl reads for manifests of kind `List`, describes none: kubectl leaves the validation of the items to the server.',
  },
  {
    about: 'HorizontalPodAutoscalers',
    sandbox:
      'Only autoscaling/v2 is served, and nothing is scaled. kubectl before 1.33 creates autoscaling/v1 objects (`kubectl autoscale`) and gets 404.',
  },
  {
    about: 'Pods',
    sandbox:
      'No container runs. Logs are one line that says so. No exec, attach, port forwarding, eviction, resizing or ephemeral containers. An update can set `nodeName` once.',
  },
  {
    about: 'Services',
    sandbox:
      'Addresses from 10.96.0.0/16 that accept no connections. You can request addresses from 10.0.0.0/8. EndpointSlices are written, Endpoints are not. Load balancers stay pending.',
  },
  {
    about: 'Volumes',
    sandbox:
      'Every claim is bound to a simulated volume at once, whatever its class. It can grow unless its StorageClass exists and does not allow that; its capacity stays. On a server, the class must exist and allow it.',
  },
  {
    about: 'CronJobs',
    sandbox:
      'Jobs are created in the scheduled minute. Minutes missed while the sandbox was not running are skipped.',
  },
  {
    about: 'Objects that do not fit into a version',
    sandbox:
      'Simulated controllers delete them in the stored version. Those of a cluster use the preferred version, in which such a deletion fails: see [change an API](versions.md#during-a-change).',
  },
  {
    about: 'Other controllers',
    sandbox:
      'Not simulated: autoscaling, disruption budgets, quotas, garbage collection of finished Pods, tokens.',
  },
  {
    about: 'Paths',
    sandbox:
      'All paths are below a random prefix. `kubectl get --raw` omits it: add the path of the server from the kubeconfig (`kubectl get --raw /<path>/readyz`). `kubectl proxy` needs `--append-server-path`.',
  },
  {
    about: 'ReplicationControllers',
    sandbox:
      'Stored, completed with defaults and validated, but they create no Pods. PodTemplates are stored, too.',
  },
  {
    about: 'Protobuf',
    sandbox:
      'Request bodies are read for built-in kinds (CRDs excepted: 501). Responses are always JSON, which clients accept.',
  },
  { about: 'Tables', sandbox: 'As on a real server. Ages follow the clock of the sandbox.' },
  {
    about: 'Numbers',
    sandbox:
      'Integers are exact up to 64 bits, as on a server. Other numbers are those of JavaScript: 1.0 is 1.',
  },
  {
    about: 'Nesting',
    sandbox:
      'Objects are nested at most 1,000 levels deep, else 501. The limit of block YAML is lower.',
  },
  {
    about: 'Generated names',
    sandbox: 'Template hashes and addresses are stable but differ from those of a cluster.',
  },
  {
    about: 'Time',
    sandbox:
      'Controllers act at once, so intermediate states that a cluster shows for seconds may not appear.',
  },
];
