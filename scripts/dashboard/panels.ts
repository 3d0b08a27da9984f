import { metricCatalogue as m } from '#telemetry/roles.ts';

/** One panel of the dashboard. */
export interface Panel {
  readonly title: string;
  readonly description?: string;
  readonly kind?: 'timeseries' | 'stat';
  /** Of Grafana. @default 'short' */
  readonly unit?: string;
  /** PromQL and legend. */
  readonly queries: readonly (readonly [expression: string, legend: string])[];
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const ofDefinition = '{definition=~"$definition"}';
const ofController = '{controller=~"$definition"}';

function rate(name: string, selector: string, by: string): string {
  return `sum by (${by}) (rate(${name}${selector}[$__rate_interval]))`;
}

function quantile(fraction: number, name: string, selector: string, by: string): string {
  const labels = by === '' ? 'le' : `le, ${by}`;
  return `histogram_quantile(${fraction}, ${rate(`${name}_bucket`, selector, labels)})`;
}

export const rows: readonly Row[] = [
  {
    title: 'Definitions and resources',
    panels: [
      {
        title: 'API server',
        description: '1: it answers',
        kind: 'stat',
        queries: [[`min(${m.apiServerReachable.name})`, 'reachable']],
      },
      {
        title: 'Leaders',
        description: 'Of processes with leader election: one of them works',
        kind: 'stat',
        queries: [[`sum(${m.leaderStatus.name})`, 'leading']],
      },
      {
        title: 'Definitions',
        kind: 'stat',
        queries: [[`sum by (state) (${m.definitions.name}) > 0`, '{{state}}']],
      },
      {
        title: 'Resources not ready',
        queries: [
          [
            `sum by (definition) (${m.resources.name}{ready!="True",definition=~"$definition"})`,
            '{{definition}}',
          ],
        ],
      },
      {
        title: 'Resources',
        queries: [[`sum by (definition) (${m.resources.name}${ofDefinition})`, '{{definition}}']],
      },
      {
        title: 'Kinds that cannot be watched',
        queries: [[`${m.definitionProblems.name}${ofDefinition} > 0`, '{{definition}}']],
      },
      {
        title: 'Rejected texts',
        description:
          '1: the newest text of the definition is rejected; an older revision may go on',
        queries: [[`${m.definitionRejected.name}${ofDefinition} > 0`, '{{definition}}']],
      },
      {
        title: 'Reloads',
        description: 'Texts that were accepted or rejected in ten minutes',
        queries: [
          [
            `sum by (definition, result) (increase(${m.definitionReloads.name}${ofDefinition}[10m])) > 0`,
            '{{definition}} {{result}}',
          ],
        ],
      },
      {
        title: 'Age of what runs',
        unit: 's',
        queries: [
          [
            `(time() - ${m.definitionLastAccepted.name}${ofDefinition}) * on (job, instance, definition) group_left (revision, source) ${m.definitionInfo.name}`,
            '{{definition}} {{revision}} ({{source}})',
          ],
        ],
      },
      {
        title: 'Resources that a roll-out has not reached',
        queries: [[`${m.definitionRolloutResources.name}${ofDefinition} > 0`, '{{definition}}']],
      },
      {
        title: 'Resources to be stored in a new version',
        description:
          'Definitions with conversions between versions of their kind; stored: versions in which resources may be stored, 1 after a migration',
        queries: [
          [`${m.conversionMigration.name}${ofDefinition} > 0`, '{{definition}}'],
          [`${m.conversionStoredVersions.name}${ofDefinition} > 1`, '{{definition}} stored'],
        ],
      },
      {
        title: 'Expressions that fail',
        unit: 'cps',
        queries: [
          [
            `${rate(m.expressionErrors.name, ofDefinition, 'definition, code')} > 0`,
            '{{definition}} {{code}}',
          ],
        ],
      },
    ],
  },
  {
    title: 'Passes',
    panels: [
      {
        title: 'Passes by result',
        unit: 'cps',
        queries: [[rate(m.reconcileTotal.name, ofController, 'result'), '{{result}}']],
      },
      {
        title: 'Failed passes by definition',
        unit: 'cps',
        queries: [
          [rate(m.reconcileErrors.name, ofController, 'controller'), '{{controller}}'],
          [
            `${rate(m.reconcileTerminalErrors.name, ofController, 'controller')} > 0`,
            '{{controller}} for good',
          ],
          [
            `${rate(m.reconcilePanics.name, ofController, 'controller')} > 0`,
            '{{controller}} unforeseen',
          ],
        ],
      },
      {
        title: 'How long a pass takes',
        unit: 's',
        queries: [
          [quantile(0.5, m.reconcileSeconds.name, ofController, ''), 'p50'],
          [
            quantile(0.99, m.reconcileSeconds.name, ofController, 'controller'),
            'p99 {{controller}}',
          ],
        ],
      },
      {
        title: 'How long resources wait for a worker',
        unit: 's',
        queries: [
          [
            quantile(0.99, m.queueWaitSeconds.name, ofController, 'controller'),
            'p99 {{controller}}',
          ],
        ],
      },
      {
        title: 'Resources in the queue',
        queries: [
          [
            `sum by (controller, priority) (${m.queueDepth.name}${ofController})`,
            '{{controller}} {{priority}}',
          ],
          [`${m.retriesHeld.name}${ofDefinition} > 0`, '{{definition}} held back'],
        ],
      },
      {
        title: 'Workers',
        queries: [
          [`sum by (controller) (${m.activeWorkers.name}${ofController})`, '{{controller}}'],
          [
            `sum by (controller) (${m.maxConcurrentReconciles.name}${ofController})`,
            '{{controller}} at most',
          ],
          [
            `max by (controller) (${m.queueLongestRunning.name}${ofController}) > 1`,
            '{{controller}} longest, s',
          ],
        ],
      },
    ],
  },
  {
    title: 'What was written',
    panels: [
      {
        title: 'Children',
        unit: 'cps',
        queries: [[rate(m.applies.name, ofDefinition, 'result'), '{{result}}']],
      },
      {
        title: 'Status',
        unit: 'cps',
        queries: [[rate(m.statusWrites.name, ofDefinition, 'result'), '{{result}}']],
      },
      {
        title: 'Events not told',
        unit: 'cps',
        queries: [[rate(m.eventsDropped.name, '', 'reason'), '{{reason}}']],
      },
      {
        title: 'Versions',
        unit: 'cps',
        queries: [[rate(m.historyWrites.name, ofDefinition, 'result'), '{{result}}']],
      },
      {
        title: 'Stored versions',
        unit: 'short',
        queries: [[`${m.historyRecords.name}${ofDefinition}`, '{{definition}}']],
      },
    ],
  },
  {
    title: 'API server',
    panels: [
      {
        title: 'Requests by status',
        unit: 'reqps',
        queries: [[rate(m.requests.name, '', 'code'), '{{code}}']],
      },
      {
        title: 'Time of a request',
        unit: 's',
        queries: [
          [quantile(0.5, m.requestSeconds.name, '', 'verb'), 'p50 {{verb}}'],
          [quantile(0.99, m.requestSeconds.name, '', 'verb'), 'p99 {{verb}}'],
        ],
      },
      {
        title: 'Requests in flight and in line',
        queries: [
          [`sum(${m.requestsInFlight.name})`, 'in flight'],
          [`sum by (priority) (${m.requestQueueDepth.name})`, 'in line: {{priority}}'],
        ],
      },
      {
        title: 'How long requests wait for a connection',
        unit: 's',
        queries: [
          [quantile(0.99, m.requestQueueWaitSeconds.name, '', 'priority'), 'p99 {{priority}}'],
        ],
      },
      {
        title: 'Sent again because the server said when',
        unit: 'cps',
        queries: [[rate(m.requestRetries.name, '', 'code'), '{{code}}']],
      },
    ],
  },
  {
    title: 'Cache',
    panels: [
      {
        title: 'Objects',
        queries: [[`sum by (kind) (${m.informerObjects.name})`, '{{kind}}']],
      },
      {
        title: 'Lists and watches begun anew',
        unit: 'cps',
        queries: [
          [`${rate(m.informerRestarts.name, '', 'kind, reason')} > 0`, '{{kind}} {{reason}}'],
        ],
      },
      {
        title: 'Age of the last event or bookmark',
        description:
          'A bookmark comes about once a minute; after three minutes of silence a watch is cut and opened again.',
        unit: 's',
        queries: [[`max by (kind) (${m.informerLastActivity.name})`, '{{kind}}']],
      },
    ],
  },
  {
    title: 'Member clusters',
    panels: [
      {
        title: 'Connected, and ready',
        queries: [
          [`sum(${m.clusterConnected.name})`, 'connected'],
          [`sum(${m.clusterReady.name})`, 'ready'],
          [`count(${m.clusterConnected.name})`, 'all'],
        ],
      },
      {
        title: 'Resources by member',
        queries: [[`sum by (cluster) (${m.clusterResources.name})`, '{{cluster}}']],
      },
      {
        title: 'Requests by member',
        unit: 'reqps',
        queries: [[rate(m.clusterRequests.name, '', 'cluster'), '{{cluster}}']],
      },
      {
        title: 'Reading waits, by member',
        unit: 'percentunit',
        queries: [[rate(m.clusterThrottledSeconds.name, '', 'cluster'), '{{cluster}}']],
      },
    ],
  },
  {
    title: 'Objects behind HTTP',
    panels: [
      {
        title: 'Objects by state',
        queries: [[`sum by (state) (${m.httpObjects.name})`, '{{state}}']],
      },
      {
        title: 'Requests by endpoint and status',
        unit: 'reqps',
        queries: [[rate(m.httpRequests.name, '', 'endpoint, code'), '{{endpoint}} {{code}}']],
      },
      {
        title: 'Duration of requests',
        unit: 's',
        queries: [[quantile(0.99, m.httpRequestSeconds.name, '', ''), 'p99']],
      },
      {
        title: 'Longest time since an observation',
        unit: 's',
        queries: [[`max(${m.httpOldestObservation.name})`, 'oldest']],
      },
      {
        title: 'Requests for tokens',
        unit: 'cps',
        queries: [[rate(m.httpTokenRenewals.name, '', 'result'), '{{result}}']],
      },
    ],
  },
  {
    title: 'Conversions between versions',
    panels: [
      {
        title: 'Converted objects by definition and version',
        unit: 'ops',
        queries: [
          [
            rate(m.conversions.name, '', 'definition, version, result'),
            '{{definition}} {{version}} {{result}}',
          ],
        ],
      },
      {
        title: 'Duration of a request to the webhook',
        unit: 's',
        queries: [
          [quantile(0.99, m.conversionSeconds.name, '', 'definition'), '{{definition}} p99'],
        ],
      },
      {
        title: 'Life of the certificate that is left',
        unit: 's',
        queries: [[`min(${m.conversionCertificateExpiry.name} > 0) - time()`, 'certificate']],
      },
    ],
  },
  {
    title: 'Process',
    panels: [
      {
        title: 'CPU',
        unit: 'percentunit',
        queries: [
          [
            'sum by (instance) (rate(process_cpu_seconds_total{job=~"$job"}[$__rate_interval]))',
            '{{instance}}',
          ],
        ],
      },
      {
        title: 'Memory',
        unit: 'bytes',
        queries: [
          ['process_resident_memory_bytes{job=~"$job"}', '{{instance}} resident'],
          ['nodejs_heap_size_used_bytes{job=~"$job"}', '{{instance}} heap'],
        ],
      },
      {
        title: 'Delay of the event loop',
        description:
          'What everything shares: one definition that computes for long delays all others.',
        unit: 's',
        queries: [[`max by (quantile) (${m.eventLoopDelay.name})`, 'p{{quantile}}']],
      },
      {
        title: 'Version',
        kind: 'stat',
        queries: [[`count by (version) (${m.buildInfo.name})`, '{{version}}']],
      },
    ],
  },
];
