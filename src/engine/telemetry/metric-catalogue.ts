import type { MetricOptions } from './roles.ts';

export interface MetricSpec extends MetricOptions {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** Buckets of a histogram, in seconds. */
  readonly bucketsSeconds?: readonly number[];
}

/** 10 ns to 1000 s in powers of ten, as in client-go. */
const queueBuckets = Array.from({ length: 12 }, (_, power) => Number(`1e${power - 8}`));

/** 5 ms to 60 s as in controller-runtime, with fewer buckets: scraping a hundred definitions must not block the event loop. */
const reconcileBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const requestBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** A conversion of one object takes less than a millisecond; that of a list takes longer. */
const conversionBuckets = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5];

const definitionStates = [
  'starting',
  'waiting',
  'syncing',
  'running',
  'rejected',
  'failing',
  'finalizing',
  'uninstalling',
];

const priorities = ['object', 'status', 'event'];

/**
 * All metrics by their name in the code, with labels and possible label values. `docs/metrics.md` is generated from
 * it. Label values are bounded: no label holds the name of a resource.
 */
export const metricCatalogue = {
  reconcileTotal: {
    type: 'counter',
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles by result',
    labels: ['controller', 'result'],
    values: { result: ['success', 'error', 'requeue', 'requeue_after'] },
  },
  reconcileErrors: {
    type: 'counter',
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Failed reconciles, including those that are not retried',
    labels: ['controller'],
  },
  reconcileTerminalErrors: {
    type: 'counter',
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Reconciles that failed with a terminal error: they are not retried until their input changes',
    labels: ['controller'],
  },
  reconcilePanics: {
    type: 'counter',
    name: 'controller_runtime_reconcile_panics_total',
    help: 'Reconciles that failed with an unexpected error: a bug in Homeostat',
    labels: ['controller'],
  },
  reconcileSeconds: {
    type: 'histogram',
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Duration of a reconcile',
    labels: ['controller'],
    bucketsSeconds: reconcileBuckets,
  },
  activeWorkers: {
    type: 'gauge',
    name: 'controller_runtime_active_workers',
    help: 'Workers that are reconciling a resource',
    labels: ['controller'],
  },
  maxConcurrentReconciles: {
    type: 'gauge',
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Maximum number of concurrent reconciles of the definition',
    labels: ['controller'],
  },
  queueDepth: {
    type: 'gauge',
    name: 'workqueue_depth',
    help: 'Resources in the work queue that wait for a worker',
    labels: ['name', 'controller', 'priority'],
    values: { priority: ['normal', 'low'] },
  },
  queueAdds: {
    type: 'counter',
    name: 'workqueue_adds_total',
    help: 'Resources added to the work queue',
    labels: ['name', 'controller'],
  },
  queueRetries: {
    type: 'counter',
    name: 'workqueue_retries_total',
    help: 'Resources requeued after a failure',
    labels: ['name', 'controller'],
  },
  queueWaitSeconds: {
    type: 'histogram',
    name: 'workqueue_queue_duration_seconds',
    help: 'Time a resource waits in the work queue',
    labels: ['name', 'controller'],
    bucketsSeconds: queueBuckets,
  },
  queueWorkSeconds: {
    type: 'histogram',
    name: 'workqueue_work_duration_seconds',
    help: 'Time a worker spends on a resource',
    labels: ['name', 'controller'],
    bucketsSeconds: queueBuckets,
  },
  queueUnfinished: {
    type: 'gauge',
    name: 'workqueue_unfinished_work_seconds',
    help: 'Sum of the ages of running reconciles',
    labels: ['name', 'controller'],
  },
  queueLongestRunning: {
    type: 'gauge',
    name: 'workqueue_longest_running_processor_seconds',
    help: 'Age of the longest running reconcile',
    labels: ['name', 'controller'],
  },
  requests: {
    type: 'counter',
    name: 'rest_client_requests_total',
    help: 'Requests to the API server by status; `<error>`: no response',
    labels: ['code', 'method', 'host'],
  },
  requestSeconds: {
    type: 'histogram',
    name: 'rest_client_request_duration_seconds',
    help: 'Time from sending a request to the end of its response, without watches',
    labels: ['verb', 'host'],
    bucketsSeconds: requestBuckets,
  },
  requestRetries: {
    type: 'counter',
    name: 'rest_client_request_retries_total',
    help: 'Requests retried after the delay in a Retry-After header',
    labels: ['code', 'verb', 'host'],
  },
  requestQueueDepth: {
    type: 'gauge',
    name: 'homeostat_request_queue_depth',
    help: 'Requests that wait for a connection',
    labels: ['priority'],
    values: { priority: priorities },
  },
  requestQueueWaitSeconds: {
    type: 'histogram',
    name: 'homeostat_request_queue_wait_seconds',
    help: 'Time requests wait for a connection',
    labels: ['priority'],
    values: { priority: priorities },
    bucketsSeconds: requestBuckets,
  },
  requestsInFlight: {
    type: 'gauge',
    name: 'homeostat_requests_in_flight',
    help: 'Requests in flight, without watches and the Lease',
    labels: [],
  },
  leaderStatus: {
    type: 'gauge',
    name: 'leader_election_master_status',
    help: '1 while this process is the leader, 0 while it is not; only with leader election',
    labels: ['name'],
  },
  apiServerReachable: {
    type: 'gauge',
    name: 'homeostat_api_server_reachable',
    help: '1 while the API server responds, 0 while it does not',
    labels: [],
  },
  informerObjects: {
    type: 'gauge',
    name: 'homeostat_informer_objects',
    help: 'Objects in the cache',
    labels: ['kind'],
  },
  informerLastActivity: {
    type: 'gauge',
    name: 'homeostat_informer_last_activity_seconds',
    help: 'Age of the last event or bookmark, of the watch with the oldest one',
    labels: ['kind'],
  },
  informerRestarts: {
    type: 'counter',
    name: 'homeostat_informer_restarts_total',
    help: 'Restarted lists and watches by reason; expected watch timeouts are not counted',
    labels: ['kind', 'reason'],
  },
  eventsDropped: {
    type: 'counter',
    name: 'homeostat_events_dropped_total',
    help: 'Events that were dropped, by reason',
    labels: ['reason'],
    values: { reason: ['queue-full', 'burst', 'rejected'] },
  },
  applies: {
    type: 'counter',
    name: 'homeostat_applies_total',
    help: 'Results of applying children; `skipped`: already in the desired state, so nothing was sent',
    labels: ['definition', 'result'],
    values: { result: ['created', 'changed', 'noop', 'skipped', 'conflict', 'failed'] },
  },
  historyRecords: {
    type: 'gauge',
    name: 'homeostat_history_records',
    help: 'Stored versions of objects that a definition reads with `history`',
    labels: ['definition'],
  },
  historyWrites: {
    type: 'counter',
    name: 'homeostat_history_writes_total',
    help: 'Writes of versions by result; `marked`: the object was deleted, `removed`: a version that is no longer kept',
    labels: ['definition', 'result'],
    values: { result: ['recorded', 'marked', 'removed', 'failed'] },
  },
  statusWrites: {
    type: 'counter',
    name: 'homeostat_status_writes_total',
    help: 'Results of writing the status; nothing is sent for `unchanged` and `overtaken` (left to the next reconcile)',
    labels: ['definition', 'result'],
    values: { result: ['written', 'unchanged', 'overtaken', 'failed', 'gone'] },
  },
  expressionErrors: {
    type: 'counter',
    name: 'homeostat_expression_errors_total',
    help: 'Children, reads and status fields that could not be rendered, counted in every reconcile',
    labels: ['definition', 'code'],
    values: {
      code: [
        'missing-value',
        'wrong-type',
        'evaluation-failed',
        'limit-reached',
        'too-large',
        'budget-exceeded',
        'invalid-manifest',
      ],
    },
  },
  resources: {
    type: 'gauge',
    name: 'homeostat_resources',
    help: 'Resources of the definition by their condition Ready; `Unknown`: not reconciled yet',
    labels: ['definition', 'ready'],
    values: { ready: ['True', 'False', 'Unknown'] },
  },
  retriesHeld: {
    type: 'gauge',
    name: 'homeostat_retries_held',
    help: 'Resources whose retry waits for the retry budget of their definition',
    labels: ['definition'],
  },
  definitions: {
    type: 'gauge',
    name: 'homeostat_definitions',
    help: 'Definitions by state',
    labels: ['state'],
    values: { state: definitionStates },
  },
  definitionState: {
    type: 'gauge',
    name: 'homeostat_definition_state',
    help: '1 for the current state of the definition, 0 for the others',
    labels: ['definition', 'state'],
    values: { state: definitionStates },
  },
  definitionInfo: {
    type: 'gauge',
    name: 'homeostat_definition_info',
    help: 'Always 1; the labels name the running revision and the source of the definition',
    labels: ['definition', 'revision', 'source'],
    values: { source: ['configmap', 'directory', 'object', 'unknown'] },
  },
  definitionReloads: {
    type: 'counter',
    name: 'homeostat_definition_reloads_total',
    help: 'Manifests of the definition that were accepted or rejected since the process started',
    labels: ['definition', 'result'],
    values: { result: ['accepted', 'rejected'] },
  },
  definitionRejected: {
    type: 'gauge',
    name: 'homeostat_definition_rejected',
    help: '1 while the newest manifest of the definition is rejected, even if an older revision keeps running',
    labels: ['definition'],
  },
  definitionLastAccepted: {
    type: 'gauge',
    name: 'homeostat_definition_last_accepted_timestamp_seconds',
    help: 'Unix time at which a manifest was last accepted',
    labels: ['definition'],
  },
  definitionRollout: {
    type: 'gauge',
    name: 'homeostat_definition_rollout',
    help: '1 for the current state of a rollout of the definition; all 0: every resource has the revision',
    labels: ['definition', 'state'],
    values: { state: ['previewing', 'rolling', 'held', 'stopped'] },
  },
  definitionRolloutResources: {
    type: 'gauge',
    name: 'homeostat_definition_rollout_pending_resources',
    help: 'Resources that a rollout has not updated yet',
    labels: ['definition'],
  },
  conversionStoredVersions: {
    type: 'gauge',
    name: 'homeostat_conversion_stored_versions',
    help: 'Versions of the kind in which resources may be stored, for definitions with `conversions`; more than 1: a migration is not complete',
    labels: ['definition'],
  },
  conversionMigration: {
    type: 'gauge',
    name: 'homeostat_conversion_migration_pending_resources',
    help: 'Resources that a migration has not stored in the new storage version yet, for definitions with `conversions`',
    labels: ['definition'],
  },
  definitionProblems: {
    type: 'gauge',
    name: 'homeostat_definition_problems',
    help: 'Kinds that the definition needs to watch but cannot',
    labels: ['definition'],
  },
  eventLoopDelay: {
    type: 'gauge',
    name: 'homeostat_event_loop_delay_seconds',
    help: 'Event loop delay since the last scrape; quantile 1 is the maximum',
    labels: ['quantile'],
    values: { quantile: ['0.5', '0.9', '0.99', '1'] },
  },
  clusterConnected: {
    type: 'gauge',
    name: 'homeostat_cluster_connected',
    help: '1: the member cluster is connected, and is the expected one',
    labels: ['cluster'],
  },
  clusterReady: {
    type: 'gauge',
    name: 'homeostat_cluster_ready',
    help: '1: the member cluster is connected, not paused, and every definition runs there',
    labels: ['cluster'],
  },
  clusterResources: {
    type: 'gauge',
    name: 'homeostat_cluster_resources',
    help: 'Resources of all definitions in the member cluster',
    labels: ['cluster'],
  },
  clusterRequests: {
    type: 'counter',
    name: 'homeostat_cluster_requests_total',
    help: 'Requests to the API server of the member cluster',
    labels: ['cluster'],
  },
  clusterThrottledSeconds: {
    type: 'counter',
    name: 'homeostat_cluster_throttled_seconds_total',
    help: 'Time in which reading from the member cluster has waited, because it sends more than 4 MiB per second',
    labels: ['cluster'],
  },
  unknownOwners: {
    type: 'gauge',
    name: 'homeostat_placed_objects_unknown_owner',
    help: 'Objects in member clusters whose resource the hub does not have, for example after a restore of the hub',
    labels: ['definition'],
  },
  httpRequests: {
    type: 'counter',
    name: 'homeostat_http_requests_total',
    help: 'Requests to the API of an HttpEndpoint by class of the status; `error`: there was no whole answer. Endpoints beyond the first hundred are `others`',
    labels: ['endpoint', 'code'],
    values: { code: ['2xx', '3xx', '4xx', '5xx', 'error'] },
  },
  httpRequestSeconds: {
    type: 'histogram',
    name: 'homeostat_http_request_duration_seconds',
    help: 'Duration of a request to the API of an HttpEndpoint, with its whole answer',
    labels: [],
    bucketsSeconds: requestBuckets,
  },
  httpTokenRenewals: {
    type: 'counter',
    name: 'homeostat_http_token_renewals_total',
    help: 'Tokens that were requested for HttpEndpoints',
    labels: ['result'],
    values: { result: ['success', 'error'] },
  },
  httpObjects: {
    type: 'gauge',
    name: 'homeostat_http_objects',
    help: 'HttpObjects by state: `ready`; `stale`: ready when it was last observed, but `Synced` is not `True`; `failing`; `pending`: not reconciled yet',
    labels: ['state'],
    values: { state: ['ready', 'stale', 'failing', 'pending'] },
  },
  httpOldestObservation: {
    type: 'gauge',
    name: 'homeostat_http_oldest_observation_seconds',
    help: 'Longest time since an HttpObject was last observed by this process; 0: none was',
    labels: [],
  },
  conversions: {
    type: 'counter',
    name: 'homeostat_conversions_total',
    help: 'Objects that the API server sent to the conversion webhook, by the version that it asked for; `rejected`: the object cannot be written in this version; `failed`: the request is wrong (without a definition: its CRD or rules are not known), or an error',
    labels: ['definition', 'version', 'result'],
    values: { result: ['converted', 'rejected', 'failed'] },
  },
  conversionSeconds: {
    type: 'histogram',
    name: 'homeostat_conversion_request_duration_seconds',
    help: 'Time from the last byte of a request to the conversion webhook to its response',
    labels: ['definition'],
    bucketsSeconds: conversionBuckets,
  },
  conversionCertificateExpiry: {
    type: 'gauge',
    name: 'homeostat_conversion_certificate_expiration_timestamp_seconds',
    help: 'When the certificate expires that the conversion webhook of this process serves; 0: it serves none',
    labels: [],
  },
  buildInfo: {
    type: 'gauge',
    name: 'homeostat_build_info',
    help: 'Always 1; the label names the running version',
    labels: ['version'],
  },
} as const satisfies Readonly<Record<string, MetricSpec>>;

/**
 * Label values of every series of a metric, in the order of its labels: all combinations of `values`, with `fixed`
 * for the other labels. Used to initialize counters to 0, so that `rate` sees the first increment.
 * @throws Error when a label has neither.
 */
export function seriesOf(
  { name, labels = [], values = {} }: MetricOptions,
  fixed: Readonly<Record<string, string>> = {},
): readonly (readonly string[])[] {
  return labels.reduce<readonly (readonly string[])[]>(
    (series, label) => {
      const one = fixed[label];
      const choices = one === undefined ? values[label] : [one];
      if (choices === undefined) throw new Error(`Label "${label}" of ${name} has no known values`);
      return series.flatMap((before) => choices.map((choice) => [...before, choice]));
    },
    [[]],
  );
}
