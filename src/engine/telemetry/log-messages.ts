/** An entry of the catalogue of log messages. */
export interface LogMessageSpec {
  /** Section of `docs/messages.md`. */
  readonly topic: LogTopic;
  /** When the message is logged and what the runtime does about it. */
  readonly meaning: string;
  /** What the reader does about it. Undefined: nothing. */
  readonly action?: string;
}

export type LogTopic =
  | 'process'
  | 'definitions'
  | 'rollouts'
  | 'resources'
  | 'conversions'
  | 'cluster'
  | 'rights';

/** A message that the runtime logs. Variable parts are fields of the log line. */
export type LogMessage = keyof typeof logMessages;

const reportBug =
  'Report it with the log line: this is an error in Homeostat. Everything else keeps running.';

/**
 * All log messages of the runtime, with their meaning for the person who reads them. The logger accepts only these messages, so a new
 * message cannot be logged without an explanation. `docs/messages.md` is generated from it.
 */
export const logMessages = {
  Starting: {
    topic: 'process',
    meaning:
      'The process starts; the fields list the definitions it found and the address of its HTTP server.',
  },
  Stopped: {
    topic: 'process',
    meaning: 'The process has finished its running reconciles and exits.',
  },
  'Became leader': {
    topic: 'process',
    meaning: 'This process acquired the Lease and starts the controllers.',
  },
  'Follower, another process is the leader': {
    topic: 'process',
    meaning:
      'Another process holds the Lease (`holder`). This process watches the Lease and waits.',
  },
  'Released leadership': {
    topic: 'process',
    meaning: 'The process stops and released the Lease, so that a follower takes over at once.',
  },
  'Leadership lost, exiting': {
    topic: 'process',
    meaning:
      'The Lease could not be renewed in time, or another process acquired it (`reason`). The process exits and is restarted by its supervisor.',
    action:
      'Check the connection to the API server and the load of the process if this happens repeatedly.',
  },
  'The Lease cannot be read or written, will retry': {
    topic: 'process',
    meaning: 'A request for the Lease failed. The process retries until the Lease expires.',
    action:
      'Check the right to Leases in the namespace of the runtime and the connection to the API server.',
  },
  'The Lease could not be released and will expire': {
    topic: 'process',
    meaning:
      'The process stops, but the request that releases the Lease failed. A follower takes over when the Lease expires.',
  },
  'The sandbox failed': {
    topic: 'process',
    meaning: 'The simulated cluster of `homeostat dev` or of a test raised an internal error.',
    action: reportBug,
  },
  'A folder is not watched any more': {
    topic: 'process',
    meaning: '`homeostat dev` lost the file watch of a folder; changes in it are not seen.',
    action:
      'Restart `homeostat dev`. Raise `fs.inotify.max_user_watches` if the limit was reached.',
  },
  'Folder cannot be watched, polling it': {
    topic: 'process',
    meaning:
      'The file system reports no changes for a folder with definitions. The runtime reads it periodically.',
  },
  'Preview failed': {
    topic: 'process',
    meaning: 'A preview in `homeostat dev` could not be computed.',
    action: reportBug,
  },

  'Definition running': {
    topic: 'definitions',
    meaning:
      'The controller of a definition runs. As a warning: `problems` lists what limits it, for example a missing right.',
    action: 'With `problems`: fix what they name.',
  },
  'Definition changed': {
    topic: 'definitions',
    meaning: 'A new revision of a definition is active.',
  },
  'Definition rejected': {
    topic: 'definitions',
    meaning:
      'The manifest of a definition is invalid or conflicts with the cluster (`reason`, `diagnostics`), and no earlier revision runs.',
    action: 'Fix what `diagnostics` or `reason` names.',
  },
  'Change rejected, the active revision keeps running': {
    topic: 'definitions',
    meaning:
      'The new revision of a definition is invalid or conflicts with the cluster. The previous one keeps running.',
    action: 'Fix what `diagnostics` or `reason` names, or revert the change.',
  },
  'Change failed, will retry': {
    topic: 'definitions',
    meaning:
      'The change to a new revision failed on a request. The previous revision keeps running.',
    action: 'Check the error if it persists.',
  },
  'Manifest cannot be published, will retry': {
    topic: 'definitions',
    meaning:
      'The `OperatorDefinition` of a manifest cannot be written. What runs keeps running. Logged once for a row of failures, when they last.',
    action: 'Fix what `reason` names, for example a missing right of the runtime.',
  },
  'Definition cannot start, will retry': {
    topic: 'definitions',
    meaning:
      'The controller of a definition failed to start. It is retried with growing delays, at most a minute apart.',
    action: 'Check the error if it persists.',
  },
  'Definition waits for its kind': {
    topic: 'definitions',
    meaning:
      'The cluster does not serve the kind that the definition works on. It starts when the kind is served.',
    action: 'Install the CRD of the kind.',
  },
  'Kind is served now, restarting the definition': {
    topic: 'definitions',
    meaning: 'A kind that the definition uses was installed.',
  },
  'Definition stopped, will restart': {
    topic: 'definitions',
    meaning: 'The kind of a definition was deleted or taken over by another owner (`reason`).',
    action: 'Check the CustomResourceDefinition that `reason` names.',
  },
  'Definition stopped, its resources and their children are orphaned': {
    topic: 'definitions',
    meaning:
      'A definition was removed. Its resources and children stay in the cluster; Homeostat no longer changes them.',
  },
  'Definition is abandoned, its resources and their children are orphaned': {
    topic: 'definitions',
    meaning:
      'The object of a definition is deleted with the annotation `homeostat.dev/abandon`. Finalizers are removed, resources and children stay.',
  },
  'Definition cannot be finalized, will retry': {
    topic: 'definitions',
    meaning: 'A request failed while the deletion of a definition was carried out.',
    action: 'Check the error if it persists.',
  },
  'The objects of a definition cannot be managed, will retry': {
    topic: 'definitions',
    meaning: 'A request failed before the objects of `install` could be reconciled.',
    action: 'Check the error if it persists.',
  },
  'Uninstalling definition': {
    topic: 'definitions',
    meaning:
      'The object of a definition is deleted with the request to delete children or the CRD, too.',
  },
  'Children deleted': {
    topic: 'definitions',
    meaning: 'All children of a definition that is uninstalled are deleted.',
  },
  'CustomResourceDefinition deleted': {
    topic: 'definitions',
    meaning: 'The CRD of a definition that is uninstalled is deleted, with all its resources.',
  },
  'CustomResourceDefinition is kept': {
    topic: 'definitions',
    meaning:
      'The CRD of a definition that is uninstalled stays (`reason`), for example because another manager owns it.',
    action: 'Delete the CRD by hand if nothing else needs it.',
  },
  'The CustomResourceDefinition of OperatorDefinition is being deleted: resources and children are orphaned':
    {
      topic: 'definitions',
      meaning:
        'Deleting the CRD of OperatorDefinition deletes all definitions. Homeostat deletes nothing of what they created.',
      action: 'Start a runtime with the definitions again to manage the resources as before.',
    },
  'A CustomResourceDefinition of Homeostat cannot be installed, will retry': {
    topic: 'definitions',
    meaning: 'The runtime cannot create or update the CRD of its own objects.',
    action: 'Grant the right, or apply `deploy/crds/` with sufficient rights.',
  },
  'The certificates of the conversion webhook cannot be written, will retry': {
    topic: 'definitions',
    meaning:
      'The runtime cannot read the Secret of the conversion webhook, or write its certificates into a CRD.',
    action: 'Grant the rights on the Secret and the CRDs (`homeostat rights`).',
  },
  'The conversion webhook cannot be served, will retry': {
    topic: 'definitions',
    meaning: 'The process cannot listen at the address of `--webhook-url`.',
    action: 'Free the port, or name another one.',
  },
  'A controller of Homeostat cannot start, will retry': {
    topic: 'definitions',
    meaning: 'The controller of a kind of Homeostat has ended with an error (`err`).',
    action: reportBug,
  },
  'Objects behind HTTP are managed': {
    topic: 'resources',
    meaning:
      'The kinds `HttpEndpoint` and `HttpObject` are served, and their controller runs: a definition uses them, they were installed before, or `--http-objects` asks for them.',
  },
  'The API server rejects a request of an object behind HTTP': {
    topic: 'resources',
    meaning:
      'The API server rejects a write of the HttpObject or HttpEndpoint (`kind`, `object`): of its finalizer, its record or its status. It is retried. `message` is the answer of the API server.',
    action:
      'Grant the right that the message names, or correct the admission webhook or policy that rejects it.',
  },
  'The API of an HttpEndpoint cannot be used': {
    topic: 'resources',
    meaning:
      'The check of the endpoint fails, its spec is not valid, or its credentials cannot be read (`reason`). Its objects keep their last state.',
    action: 'Look at the conditions of the HttpEndpoint (`endpoint`).',
  },
  'The API of an HttpEndpoint can be used again': {
    topic: 'resources',
    meaning: 'The check of the endpoint succeeds again, or its credentials can be read.',
  },
  'The UID of the namespace kube-system cannot be read, will retry': {
    topic: 'definitions',
    meaning:
      'The runtime identifies its own cluster by this UID before it connects to member clusters. No member is connected meanwhile.',
    action: 'Grant the right to get the namespace `kube-system`.',
  },
  'Definitions can be read again': {
    topic: 'definitions',
    meaning: 'A ConfigMap or directory with definitions is readable again (`source`).',
  },
  'Definitions cannot be read, the last ones stay active': {
    topic: 'definitions',
    meaning:
      'A ConfigMap or directory with definitions cannot be read (`reason`). The definitions read before keep running.',
    action: 'Fix what `reason` names: a missing folder, file permissions, a missing right.',
  },
  'Definitions cannot be checked': {
    topic: 'definitions',
    meaning:
      'Homeostat failed on a file that it should have checked. The definitions of that file are not changed.',
    action: reportBug,
  },
  'File has errors, its definitions are rejected': {
    topic: 'definitions',
    meaning:
      'A file or ConfigMap key contains errors (`diagnostics`). Definitions that ran before keep running.',
    action: 'Fix what `diagnostics` lists.',
  },
  'File has warnings': {
    topic: 'definitions',
    meaning: 'A file or ConfigMap key is accepted, with warnings (`diagnostics`).',
    action: 'Read `diagnostics`.',
  },
  'File has no errors any more': {
    topic: 'definitions',
    meaning: 'The errors of a file or ConfigMap key are fixed.',
  },
  'Manifest is not published': {
    topic: 'definitions',
    meaning:
      'A definition in a ConfigMap or directory is not used, because another source or another runtime owns the name (`reason`).',
    action: 'Rename one of the two, or remove one.',
  },
  'Part of a ConfigMap is ignored': {
    topic: 'definitions',
    meaning: 'A labelled ConfigMap has keys that are not definitions (`reason`).',
    action: 'Use keys that end in `.yaml`, `.yml` or `.json`.',
  },

  'Roll-out started': {
    topic: 'rollouts',
    meaning: 'Resources change from revision `from` to revision `to`, in batches.',
  },
  'Roll-out held, its deletions need approval': {
    topic: 'rollouts',
    meaning:
      'The new revision would delete more objects than `controller.rollout.maxDeletions`. None is deleted.',
    action:
      'Check the change, then annotate the OperatorDefinition with `homeostat.dev/approve-deletions: <revision>`, or revert the change.',
  },
  'Deletions of the roll-out approved': {
    topic: 'rollouts',
    meaning: 'The annotation approves the deletions; the roll-out continues.',
  },
  'Roll-out stopped, too many resources fail': {
    topic: 'rollouts',
    meaning:
      '`controller.rollout.stopAfterFailures` resources failed with the new revision. The others keep the previous one.',
    action: 'Fix the definition.',
  },
  'Roll-out resumed': {
    topic: 'rollouts',
    meaning: 'The reason for which the roll-out was held or stopped is gone; it continues.',
  },
  'Roll-out finished': {
    topic: 'rollouts',
    meaning: 'All resources use the new revision.',
  },
  'A breaking change of the CustomResourceDefinition is installed, as allowed': {
    topic: 'rollouts',
    meaning:
      'The CRD changes so that stored resources or clients can break, for the reasons in `diagnostics`. `homeostat dev` and the playground allow it, and `crdPolicy.allowBreakingChanges`.',
    action: 'Check the resources. On a cluster, such a change is rejected without the policy.',
  },
  'Resources migrated to the new storage version': {
    topic: 'rollouts',
    meaning: 'The CRD stores another version now, and all resources are stored in it.',
  },
  'Resources that are invalid in the new storage version keep the old one': {
    topic: 'rollouts',
    meaning:
      'The API server rejected some resources in the new storage version. The old version stays in the CRD.',
    action: 'Edit the resources that the fields name, so that they are valid in the new version.',
  },
  'Resources cannot be migrated to the new storage version, will retry': {
    topic: 'rollouts',
    meaning: 'A request failed while resources were stored in the new version.',
    action: 'Check the error if it persists.',
  },

  Reconciled: {
    topic: 'resources',
    meaning: 'A reconcile of a resource ended; the fields count what it changed (debug level).',
  },
  'Reconcile is blocked': {
    topic: 'resources',
    meaning:
      'A reconcile could not do all its work (`reason`, `detail`). The condition `Ready` of the resource has the same reason. Logged when the failure begins or changes.',
    action: 'Look up the reason in [conditions.md](conditions.md).',
  },
  'Reconcile is blocked for more reasons': {
    topic: 'resources',
    meaning: 'One reconcile failed for many reasons; `left` of them are not logged.',
    action: 'Fix the reasons that are logged.',
  },
  'Reconcile failed, will retry': {
    topic: 'resources',
    meaning:
      'A reconcile ended with an error that has no condition, for example because the API server does not respond.',
    action: 'Check the error if it persists.',
  },
  'Reconcile failed, will not retry': {
    topic: 'resources',
    meaning: 'A reconcile ended with an error that a retry cannot fix.',
    action: reportBug,
  },
  'Resources in a namespace of the runtime are not served': {
    topic: 'resources',
    meaning:
      'A resource (`name`, the first one found) is in a namespace of the runtime or of its definitions. Nothing is written there. Logged once for each definition and kind.',
    action:
      'Create the resource in another namespace, or name this one in full in `controller.namespaces.include` of the definition.',
  },
  Paused: {
    topic: 'resources',
    meaning:
      'A resource or its definition has the annotation `homeostat.dev/paused`. Nothing of it is changed.',
  },
  'Stored versions are not authentic and are ignored': {
    topic: 'resources',
    meaning:
      'Versions of what the resource reads have no valid signature of the runtime: another client wrote or changed them, an earlier release wrote them, or the key is lost.',
    action: 'List them with `homeostat history`. Sign those that you trust, delete the others.',
  },
  'Patches of a deletion were not sent': {
    topic: 'resources',
    meaning:
      'The namespace of the resource is being deleted: patches with `at: Deletion` could not create their target, or read what is gone. The deletion continues without them.',
  },
  'Deletion finished': {
    topic: 'resources',
    meaning:
      'The children of a deleted resource are deleted or released (counts in the fields), and its finalizer is removed.',
  },
  'Children removed': {
    topic: 'resources',
    meaning: 'Children of a resource whose definition is uninstalled were deleted.',
  },
  'Resource no longer matches, deleting its children': {
    topic: 'resources',
    meaning:
      'An object of a kind from `for` no longer matches the selector, so its children are deleted.',
  },
  'Objects that no longer match the selector keep their children': {
    topic: 'resources',
    meaning:
      'The selector of `for` changed, and objects that matched before do not match any more. Their children stay.',
    action: 'Delete the children by hand if they are not wanted.',
  },
  'Ignoring inventory entries that are invalid, of unknown kinds, or beyond the limit': {
    topic: 'resources',
    meaning:
      'The inventory annotation of a resource contains entries that Homeostat did not write.',
    action: 'Find out who edits the annotation.',
  },
  'Resources cannot be finalized, will retry': {
    topic: 'resources',
    meaning:
      'A request failed while finalizers were removed from resources of a deleted definition.',
    action: 'Check the error if it persists.',
  },

  'The API server is unreachable, stopping all controllers until it responds': {
    topic: 'cluster',
    meaning:
      'The API server has not responded for longer than a Lease lasts. The process keeps running and starts the controllers again when the API server responds.',
    action: 'Check the API server and the network.',
  },
  'The API server has an older state than before, restarting all controllers': {
    topic: 'cluster',
    meaning:
      'etcd was restored from a backup. The runtime drops everything it has in memory and reads the cluster again.',
  },
  'The API server does not respond': {
    topic: 'cluster',
    meaning: 'Requests fail or time out. Reconciles wait; nothing is lost.',
    action: 'Check the API server and the network.',
  },
  'The API server does not accept our credentials': {
    topic: 'cluster',
    meaning: 'The API server responds with 401. The process reloads its credentials and retries.',
    action: 'Check the ServiceAccount token or the kubeconfig.',
  },
  'The API server responds again': {
    topic: 'cluster',
    meaning: 'Requests succeed again after `lostForMs` milliseconds.',
  },
  'The API server returned an older state than before: etcd was probably restored from a backup': {
    topic: 'cluster',
    meaning:
      'The resource version decreased. The runtime drops its caches and lists everything again.',
  },
  'Certificates changed, opening new connections': {
    topic: 'cluster',
    meaning: 'The files of the kubeconfig or ServiceAccount contain new certificates.',
  },
  'Waiting for credentials from the plugin or provider of the kubeconfig': {
    topic: 'cluster',
    meaning:
      'The credential plugin or OIDC provider has not answered for five seconds. A plugin may wait for a login; it is ended after two minutes.',
    action:
      'Log in where the plugin asks for it, or run its command by hand to see what it waits for.',
  },
  'Reloading credentials failed, using the previous ones': {
    topic: 'cluster',
    meaning:
      'The kubeconfig, token file or credential plugin failed, or the plugin did not end within two minutes.',
    action: 'Fix what the error names before the previous credentials expire.',
  },
  'List or watch failed, will retry': {
    topic: 'cluster',
    meaning:
      'A list or watch of a kind failed. It is retried with growing delays; the cache keeps the last state.',
    action: 'Check the error if it persists.',
  },
  'Watch was idle, reconnecting': {
    topic: 'cluster',
    meaning: 'A watch delivered neither events nor bookmarks for a long time.',
  },
  'Skipped a watch event of unknown type': {
    topic: 'cluster',
    meaning: 'The API server sent a type of watch event that Homeostat does not handle.',
    action: reportBug,
  },
  'Watching CustomResourceDefinitions failed, will retry': {
    topic: 'cluster',
    meaning: 'New kinds are not noticed by a watch until it works again; they are polled.',
  },
  'An informer state listener threw an error': {
    topic: 'cluster',
    meaning: 'Internal error in the processing of a cache state.',
    action: reportBug,
  },
  'A cache event listener threw an error': {
    topic: 'cluster',
    meaning: 'Internal error in the processing of a cache event.',
    action: reportBug,
  },

  'Objects in a member cluster have no resource on the hub': {
    topic: 'cluster',
    meaning:
      'The member cluster `cluster` has `count` objects of the definition whose resource the hub does not have, for example because it was restored from a backup. They are not changed.',
    action:
      'Create the resources again, or delete the objects: `kubectl get <kind> -A -l homeostat.dev/definition=<definition>` lists them.',
  },
  'Connecting to a member cluster failed': {
    topic: 'cluster',
    meaning:
      'The API server of the member cluster `cluster` could not be reached (`code`, `err`). The status of its `Cluster` does not say why, so that its author does not see which ports of the network are open. It is tried again; a warning appears for the first failure, and when the reason changes.',
    action: 'Correct "server" or "proxy-url" in its kubeconfig, or the network between them.',
  },
  'The address of a member cluster is unusual': {
    topic: 'cluster',
    meaning:
      'The kubeconfig of the member cluster `cluster` names an address of the runtime itself (`note` is `loopback`) or of the API server of the hub (`hub`). It is connected.',
    action: 'Reject such servers with `--cluster-servers` if this is not intended.',
  },
  'The Lease of a definition in a member cluster cannot be created, will retry': {
    topic: 'cluster',
    meaning: 'The definition does not run in the member cluster `cluster` until it has its Lease.',
    action: 'Fix what the error names; `homeostat rights --members` prints the rights there.',
  },
  'The objects in a member cluster cannot be searched': {
    topic: 'cluster',
    meaning: 'Objects without a resource on the hub were not searched there.',
    action: reportBug,
  },

  'Right is missing': {
    topic: 'rights',
    meaning: 'The API server denied a request. The fields are the rule that a role needs.',
    action: 'Add the rule to the role of the runtime.',
  },
  'Right may have been granted, retrying': {
    topic: 'rights',
    meaning:
      'An access review allows a request that was denied before, or a role changed. What waited for the right is retried.',
  },
  'Access review failed': {
    topic: 'rights',
    meaning: 'A SelfSubjectAccessReview failed. Denied requests are retried without it.',
  },
  'A rights listener threw an error': {
    topic: 'rights',
    meaning: 'Internal error in the processing of a granted right.',
    action: reportBug,
  },
  'Events are denied, continuing without them': {
    topic: 'rights',
    meaning: 'The runtime must not write Events in a namespace. Reconciles continue.',
    action: 'Grant `create` and `patch` on `events.events.k8s.io`.',
  },
  'Events are written again': {
    topic: 'rights',
    meaning: 'The right to write Events was granted.',
  },
  'The API server did not accept an Event': {
    topic: 'rights',
    meaning: 'One Event was not written. Reconciles continue.',
  },
  'Recording an Event failed': {
    topic: 'rights',
    meaning: 'Internal error in the recording of Events.',
    action: reportBug,
  },
  'The conversion webhook listens': {
    topic: 'conversions',
    meaning: 'The process has a certificate and converts objects for the API server.',
  },
  'The conversion webhook ends': {
    topic: 'conversions',
    meaning:
      'The process stops. Until no client is sent to it any more, it still converts; then its connections end.',
  },
  'Wrote the certificates of the conversion webhook': {
    topic: 'conversions',
    meaning:
      'A step of issuing or renewing certificates is stored in the Secret (`step`, see `docs/decisions/0035`).',
  },
  'Cannot write the certificates of the conversion webhook, will retry': {
    topic: 'conversions',
    meaning:
      'A write of the Secret with the certificates failed. The certificate that is served stays the same until it expires.',
    action:
      'Create the namespace if `err` says that it does not exist (`kubectl create namespace homeostat-system`). Check the rights of the process to this Secret there.',
  },
  'The certificate of the webhook cannot be read': {
    topic: 'conversions',
    meaning:
      'The directory of `--webhook-cert-dir` has no whole pair of `tls.crt` and `tls.key` (`reason`). The last whole pair is served.',
    action: 'Check the program that writes the files, for example cert-manager.',
  },
  'A conversion cannot be done': {
    topic: 'conversions',
    meaning:
      'A request of the API server was answered with an error (`reason`): the CRD or its rules are not known, or an object cannot be written in this version. The client of the API server sees the same message.',
    action:
      'With a reason that names a digest: the CRD was changed by hand. With one that names an object: see "conversions" in the documentation of definitions.',
  },
  'A request to the conversion webhook failed': {
    topic: 'conversions',
    meaning: 'Internal error in a conversion.',
    action: reportBug,
  },
} as const satisfies Readonly<Record<string, LogMessageSpec>>;
