/** What the sandbox does otherwise than a cluster, by what it is about; beside what single cases tell. */
export interface KnownDifference {
  readonly about: string;
  readonly sandbox: string;
}

export const knownDifferences: readonly KnownDifference[] = [
  {
    about: 'Rights',
    sandbox:
      'Everybody may do everything. RBAC objects are stored, not enforced; reviews always say yes. The ClusterRoles that a cluster brings along (`view`, `edit`, `admin`, `cluster-admin`, `system:*`) are not there; bindings may name them.',
  },
  {
    about: 'Admission',
    sandbox:
      'No webhooks, policies, quotas or limit ranges. Pods get no service account and no token.',
  },
  {
    about: 'Validation of built-in kinds',
    sandbox:
      'What authors meet: templates of pods, workloads, Jobs and schedules, Services, Ingresses, claims, autoscalers, ConfigMaps and Secrets are refused in the words of a real server. It refuses more: affinities, tolerations, security contexts, node and network policies, quotas, less common volumes.',
  },
  {
    about: 'Rules of CRDs (CEL)',
    sandbox:
      'Evaluated, but for functions of URLs, addresses, quantities, semantic versions and formats: such rules are warned of when the CRD is written, and what breaks them is accepted. Nobody estimates what rules cost: a cluster may refuse a CRD that the sandbox takes. Regular expressions are those of JavaScript.',
  },
  {
    about: 'Schemas of CRDs',
    sandbox:
      'Checked as a real server does, but for the types within rules: a rule that asks a list or a map for what it does not have is taken. Defaults within the metadata of embedded resources are looked at less closely.',
  },
  { about: 'Versions of CRDs', sandbox: 'Convert by name only. No conversion webhooks.' },
  {
    about: 'HorizontalPodAutoscalers',
    sandbox:
      'Served as autoscaling/v2 only, and nobody scales: kubectl before 1.33 makes those of autoscaling/v1 (`kubectl autoscale`), which is 404.',
  },
  {
    about: 'Pods',
    sandbox:
      'Nothing runs. Pods are bound to `sandbox-node` and ready at once; those that are not restarted succeed. The annotation `sandbox.homeostat.dev/outcome` asks for `never-ready` or `fail`. Logs are one line that says so. No exec, attach, port forwarding, eviction, resizing or ephemeral containers.',
  },
  {
    about: 'Services',
    sandbox:
      'Have addresses of 10.96.0.0/16 that lead nowhere; those of 10.0.0.0/8 may be asked for. EndpointSlices are written, Endpoints are not. Load balancers stay pending.',
  },
  {
    about: 'Volumes',
    sandbox: 'Every claim is bound to a simulated volume at once, whatever its class.',
  },
  {
    about: 'CronJobs',
    sandbox:
      'Jobs are made in the minute itself; minutes that passed while nobody looked are left out.',
  },
  {
    about: 'Other controllers',
    sandbox:
      'Not there: autoscaling, disruption budgets, quotas, TTL of Jobs, garbage of finished pods, tokens.',
  },
  {
    about: 'Paths',
    sandbox:
      'All are below a path that cannot be guessed. `kubectl get --raw` leaves it out: give it the path of the server in the kubeconfig, too (`kubectl get --raw /<path>/readyz`). `kubectl proxy` needs `--append-server-path`.',
  },
  {
    about: 'ReplicationControllers',
    sandbox:
      'Stored, completed and checked; nothing makes their pods. PodTemplates are stored, too.',
  },
  {
    about: 'Protobuf',
    sandbox:
      'Bodies are read for built-in kinds (CRDs excepted: 501); answers are always JSON, to which clients fall back.',
  },
  {
    about: 'OpenAPI',
    sandbox: 'Version 3; no version 2, without which kubectl before 1.29 cannot apply.',
  },
  { about: 'Tables', sandbox: 'As a real server prints them; ages by the clock of the sandbox.' },
  { about: 'Numbers', sandbox: "JavaScript's: integers beyond 2^53 lose digits, and 1.0 is 1." },
  {
    about: 'Nesting',
    sandbox: 'What would be stored is nested at most 1,000 levels deep, else 501; block YAML less.',
  },
  {
    about: 'Names of generated things',
    sandbox: 'Hashes of templates and addresses are stable, but not those of a cluster.',
  },
  {
    about: 'Time',
    sandbox:
      'Controllers act at once: states in between that a cluster shows for seconds may never be seen.',
  },
];
