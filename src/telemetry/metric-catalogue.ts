import type { MetricOptions } from './roles.ts';

export interface MetricSpec extends MetricOptions {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** Of histograms. */
  readonly bucketsSeconds?: readonly number[];
}

/** 10 ns times ten to the n, as client-go has them. */
const queueBuckets = Array.from({ length: 12 }, (_, power) => Number(`1e${power - 8}`));

/** From 5 ms to 60 s as in controller-runtime, with fewer steps: a scrape of a hundred definitions should not hold up the event loop. */
const passBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const requestBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const priorities = ['world', 'status', 'event'];

/**
 * Every metric of ours, by the name it has in the code: the one place where names, labels and their possible values stand.
 * `docs/metrics.md` is generated from it. No label takes the name of a resource, or anything else without a bound.
 */
export const metricCatalogue = {
  reconcileTotal: {
    type: 'counter',
    name: 'controller_runtime_reconcile_total',
    help: 'Passes by result',
    labels: ['controller', 'result'],
    values: { result: ['success', 'error', 'requeue', 'requeue_after'] },
  },
  reconcileErrors: {
    type: 'counter',
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Passes that failed, those that are not retried included',
    labels: ['controller'],
  },
  reconcileTerminalErrors: {
    type: 'counter',
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Passes that failed for good: only another input mends them',
    labels: ['controller'],
  },
  reconcilePanics: {
    type: 'counter',
    name: 'controller_runtime_reconcile_panics_total',
    help: 'Passes that ended with an error nobody foresaw: a bug of Homeostat',
    labels: ['controller'],
  },
  reconcileSeconds: {
    type: 'histogram',
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'How long a pass takes',
    labels: ['controller'],
    bucketsSeconds: passBuckets,
  },
  activeWorkers: {
    type: 'gauge',
    name: 'controller_runtime_active_workers',
    help: 'Workers with a resource',
    labels: ['controller'],
  },
  maxConcurrentReconciles: {
    type: 'gauge',
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Workers of the definition',
    labels: ['controller'],
  },
  queueDepth: {
    type: 'gauge',
    name: 'workqueue_depth',
    help: 'Resources that are ready and wait for a worker',
    labels: ['name', 'controller', 'priority'],
    values: { priority: ['normal', 'low'] },
  },
  queueAdds: {
    type: 'counter',
    name: 'workqueue_adds_total',
    help: 'Resources added to the queue',
    labels: ['name', 'controller'],
  },
  queueRetries: {
    type: 'counter',
    name: 'workqueue_retries_total',
    help: 'Resources added again after a failure',
    labels: ['name', 'controller'],
  },
  queueWaitSeconds: {
    type: 'histogram',
    name: 'workqueue_queue_duration_seconds',
    help: 'How long a resource waits for a worker',
    labels: ['name', 'controller'],
    bucketsSeconds: queueBuckets,
  },
  queueWorkSeconds: {
    type: 'histogram',
    name: 'workqueue_work_duration_seconds',
    help: 'How long the work on a resource takes',
    labels: ['name', 'controller'],
    bucketsSeconds: queueBuckets,
  },
  queueUnfinished: {
    type: 'gauge',
    name: 'workqueue_unfinished_work_seconds',
    help: 'Sum of the ages of running passes',
    labels: ['name', 'controller'],
  },
  queueLongestRunning: {
    type: 'gauge',
    name: 'workqueue_longest_running_processor_seconds',
    help: 'Age of the longest running pass',
    labels: ['name', 'controller'],
  },
  requests: {
    type: 'counter',
    name: 'rest_client_requests_total',
    help: 'Requests to the API server by status; `<error>`: no answer',
    labels: ['code', 'method', 'host'],
  },
  requestSeconds: {
    type: 'histogram',
    name: 'rest_client_request_duration_seconds',
    help: 'Time from the dispatch of a request to the end of its answer; watches are left out',
    labels: ['verb', 'host'],
    bucketsSeconds: requestBuckets,
  },
  requestRetries: {
    type: 'counter',
    name: 'rest_client_request_retries_total',
    help: 'Requests sent again because the server said when',
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
    help: 'How long requests wait for a connection',
    labels: ['priority'],
    values: { priority: priorities },
    bucketsSeconds: requestBuckets,
  },
  requestsInFlight: {
    type: 'gauge',
    name: 'homeostat_requests_in_flight',
    help: 'Requests that hold a connection; watches and the lease are left out',
    labels: [],
  },
  leaderStatus: {
    type: 'gauge',
    name: 'leader_election_master_status',
    help: '1 while this process leads, 0 while it follows; only with leader election',
    labels: ['name'],
  },
  apiServerReachable: {
    type: 'gauge',
    name: 'homeostat_api_server_reachable',
    help: '1 while the API server answers, 0 while it does not',
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
    help: 'Age of the last event or bookmark of the watch that has waited longest',
    labels: ['kind'],
  },
  informerRestarts: {
    type: 'counter',
    name: 'homeostat_informer_restarts_total',
    help: 'Lists and watches begun anew, by reason; the agreed end of a watch does not count',
    labels: ['kind', 'reason'],
  },
  eventsDropped: {
    type: 'counter',
    name: 'homeostat_events_dropped_total',
    help: 'Events that were not told, by reason',
    labels: ['reason'],
    values: { reason: ['queue-full', 'burst', 'refused'] },
  },
  applies: {
    type: 'counter',
    name: 'homeostat_applies_total',
    help: 'What became of the children in all passes; `skipped`: as wanted already, so nothing was sent',
    labels: ['definition', 'result'],
    values: { result: ['created', 'changed', 'noop', 'skipped', 'conflict', 'failed'] },
  },
  statusWrites: {
    type: 'counter',
    name: 'homeostat_status_writes_total',
    help: 'What became of the status in all passes; `unchanged`, `overtaken` (left to the next pass): nothing was sent',
    labels: ['definition', 'result'],
    values: { result: ['written', 'unchanged', 'overtaken', 'failed', 'gone'] },
  },
  expressionErrors: {
    type: 'counter',
    name: 'homeostat_expression_errors_total',
    help: 'Children, reads and status fields that could not be rendered, counted in every pass',
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
    help: 'Resources of the definition by their condition Ready; `Unknown`: not looked at yet',
    labels: ['definition', 'ready'],
    values: { ready: ['True', 'False', 'Unknown'] },
  },
  retriesHeld: {
    type: 'gauge',
    name: 'homeostat_retries_held',
    help: 'Resources whose retry waits until the budget of their definition has room',
    labels: ['definition'],
  },
  definitions: {
    type: 'gauge',
    name: 'homeostat_definitions',
    help: 'Definitions by state',
    labels: ['state'],
    values: { state: ['starting', 'waiting', 'syncing', 'running', 'refused', 'failing'] },
  },
  definitionState: {
    type: 'gauge',
    name: 'homeostat_definition_state',
    help: '1 for the state that the definition is in, 0 for the others',
    labels: ['definition', 'state'],
    values: { state: ['starting', 'waiting', 'syncing', 'running', 'refused', 'failing'] },
  },
  definitionInfo: {
    type: 'gauge',
    name: 'homeostat_definition_info',
    help: 'Always 1; the labels say which revision runs, and where its text stands',
    labels: ['definition', 'revision', 'source'],
    values: { source: ['configmap', 'directory', 'object', 'unknown'] },
  },
  definitionReloads: {
    type: 'counter',
    name: 'homeostat_definition_reloads_total',
    help: 'Texts of the definition that were accepted or refused since the process began',
    labels: ['definition', 'result'],
    values: { result: ['accepted', 'refused'] },
  },
  definitionRefused: {
    type: 'gauge',
    name: 'homeostat_definition_refused',
    help: '1 while the newest text of the definition is refused, also where an older revision goes on',
    labels: ['definition'],
  },
  definitionLastAccepted: {
    type: 'gauge',
    name: 'homeostat_definition_last_accepted_timestamp_seconds',
    help: 'When the last text was accepted, as Unix time',
    labels: ['definition'],
  },
  definitionRollout: {
    type: 'gauge',
    name: 'homeostat_definition_rollout',
    help: '1 for the state that a roll-out of the definition is in; all 0: every resource has the revision',
    labels: ['definition', 'state'],
    values: { state: ['previewing', 'rolling', 'held', 'stopped'] },
  },
  definitionRolloutResources: {
    type: 'gauge',
    name: 'homeostat_definition_rollout_pending_resources',
    help: 'Resources that a roll-out has not reached yet',
    labels: ['definition'],
  },
  definitionProblems: {
    type: 'gauge',
    name: 'homeostat_definition_problems',
    help: 'Kinds that the definition needs to watch and cannot',
    labels: ['definition'],
  },
  eventLoopDelay: {
    type: 'gauge',
    name: 'homeostat_event_loop_delay_seconds',
    help: 'How late the event loop was since the last scrape; quantile 1 is the worst',
    labels: ['quantile'],
    values: { quantile: ['0.5', '0.9', '0.99', '1'] },
  },
  buildInfo: {
    type: 'gauge',
    name: 'homeostat_build_info',
    help: 'Always 1; the label says which version runs',
    labels: ['version'],
  },
} as const satisfies Readonly<Record<string, MetricSpec>>;

/**
 * Label values of every series of a metric, in the order of its labels: all combinations of its `values`, with `fixed` for the
 * other labels. To set counters to 0 before the first event, without which a rate misses it.
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
