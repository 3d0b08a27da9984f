import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { merge, post } from './requests.ts';
import {
  daemonSets,
  deployments,
  job,
  jobs,
  podTemplate,
  replicaSets,
  statefulSets,
  workload,
} from './workload-bodies.ts';

const paths: Readonly<Record<string, string>> = {
  Deployment: deployments,
  ReplicaSet: replicaSets,
  StatefulSet: statefulSets,
  DaemonSet: daemonSets,
};
const cronJobs = '/apis/batch/v1/namespaces/$(ns)/cronjobs';

/** The same mistake in each kind with a selector. */
function everywhere(name: string, spec: JsonObject): ContractCase {
  return {
    name: `workloads with ${name} are rejected`,
    ranked: [42],
    steps: Object.entries(paths).map(([kind, path]) =>
      post(path, workload(kind, spec), { status: 422 }),
    ),
  };
}

function rejected(kind: string, name: string, spec: JsonObject): ContractCase {
  return {
    name: `a ${kind} with ${name} is rejected`,
    ranked: [42],
    steps: [post(paths[kind] ?? '', workload(kind, spec), { status: 422 })],
  };
}

function rejectedJob(name: string, spec: JsonObject): ContractCase {
  return {
    name: `a Job with ${name} is rejected`,
    ranked: [42],
    steps: [post(jobs, job(spec), { status: 422 })],
  };
}

function cronJob(spec: JsonObject): JsonObject {
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'x' },
    spec: { schedule: '* * * * *', jobTemplate: { spec: job().spec ?? {} }, ...spec },
  };
}

function rejectedCronJob(name: string, spec: JsonObject): ContractCase {
  return {
    name: `a CronJob with ${name} is rejected`,
    ranked: [42],
    steps: [post(cronJobs, cronJob(spec), { status: 422 })],
  };
}

function claims(name: string, spec: JsonObject): ContractCase {
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec }];
  return rejected('StatefulSet', name, { volumeClaimTemplates });
}

const strategy = (rollingUpdate: JsonObject) => ({
  strategy: { type: 'RollingUpdate', rollingUpdate },
});
const mount = { name: 'c', image: 'web:1', volumeMounts: [{ name: 'data', mountPath: '/a' }] };
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

function schedule(text: string): ContractCase {
  return rejectedCronJob(`the schedule "${text}"`, { schedule: text });
}

/** Mistakes in the specs of workloads, around their templates. */
export const workloadMistakes: readonly ContractCase[] = [
  everywhere('an empty selector', { selector: {} }),
  everywhere('a selector of others', { selector: { matchLabels: { app: 'y' } } }),
  everywhere('a selector of labels that are none', {
    selector: { matchLabels: { app: 'x', 'a b': 'c d' } },
  }),
  everywhere('an unknown operator in their selector', {
    selector: { matchExpressions: [{ key: 'app', operator: 'Like', values: ['x'] }] },
  }),
  everywhere('operators that do not fit their values', {
    selector: {
      matchExpressions: [
        { key: 'app', operator: 'In' },
        { key: 'app', operator: 'Exists', values: ['x'] },
      ],
    },
  }),
  everywhere('an expression that excludes their own pods', {
    selector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['x'] }] },
  }),
  everywhere('a deadline', { template: podTemplate('web:1', { activeDeadlineSeconds: 5 }) }),
  everywhere('pods that end', { template: podTemplate('web:1', { restartPolicy: 'OnFailure' }) }),
  everywhere('less than no time', { minReadySeconds: -1 }),
  rejected('Deployment', 'less than no pods', { replicas: -1 }),
  rejected('Deployment', 'an unknown strategy', { strategy: { type: 'Careful' } }),
  rejected(
    'Deployment',
    'a strategy that may do nothing',
    strategy({ maxSurge: 0, maxUnavailable: 0 }),
  ),
  rejected('Deployment', 'more than all of its pods', strategy({ maxUnavailable: '101%' })),
  rejected(
    'Deployment',
    'shares that are none',
    strategy({ maxSurge: 'some', maxUnavailable: -1 }),
  ),
  rejected('Deployment', 'a deadline before its pods are ready', {
    minReadySeconds: 10,
    progressDeadlineSeconds: 10,
  }),
  rejected('StatefulSet', 'an unknown order', { podManagementPolicy: 'Some' }),
  rejected('StatefulSet', 'a partition below zero', {
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: -1 } },
  }),
  rejected('StatefulSet', 'a service in capitals', { serviceName: 'Web' }),
  rejected('StatefulSet', 'an unknown policy of retention', {
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Perhaps' },
  }),
  claims('a template of a claim without modes', { resources: { requests: { storage: '1Gi' } } }),
  claims('a template of a claim with an unknown mode', { ...claim, accessModes: ['Foo'] }),
  claims('a template of a claim without a size', { accessModes: ['ReadWriteOnce'] }),
  {
    name: 'the pods of a StatefulSet have the volumes of its claims',
    steps: [
      post(
        statefulSets,
        workload('StatefulSet', {
          template: podTemplate('web:1', { containers: [mount] }),
          volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
        }),
        { status: 201 },
      ),
      post(
        statefulSets,
        workload('StatefulSet', { template: podTemplate('web:1', { containers: [mount] }) }),
        { status: 422 },
      ),
    ],
  },
  rejectedJob('pods that do not end', { template: podTemplate('work:1') }),
  rejectedJob('an unknown restartPolicy', {
    template: podTemplate('work:1', { restartPolicy: 'Sometimes' }),
  }),
  rejectedJob('numbers below zero', { completions: -1, parallelism: -1, backoffLimit: -1 }),
  rejectedJob('an unknown mode', { completionMode: 'Random' }),
  rejectedJob('indexes without their number', { completionMode: 'Indexed', parallelism: 1 }),
  rejectedJob('a limit by index without indexes', { backoffLimitPerIndex: 1 }),
  {
    name: 'of a Job its completions stay, and its mode',
    steps: [
      post(jobs, job(), { status: 201 }),
      merge(`${jobs}/x`, { spec: { completions: 3 } }, { status: 422 }),
      merge(`${jobs}/x`, { spec: { completionMode: 'Indexed' } }, { status: 422 }),
      merge(`${jobs}/x`, { spec: { parallelism: 3, backoffLimit: 2 } }, { status: 200 }),
    ],
  },
  {
    name: 'of an Indexed Job completions and parallelism change together',
    steps: [
      post(jobs, job({ completionMode: 'Indexed', completions: 2, parallelism: 2 }), {
        status: 201,
      }),
      merge(`${jobs}/x`, { spec: { completions: 3 } }, { status: 422 }),
      merge(`${jobs}/x`, { spec: { backoffLimitPerIndex: 3 } }, { status: 422 }),
      merge(`${jobs}/x`, { spec: { completions: 3, parallelism: 3 } }, { status: 200 }),
    ],
  },
  schedule('now and then'),
  schedule('* * * *'),
  schedule('60 * * * *'),
  schedule('a * * * *'),
  schedule('*/0 * * * *'),
  schedule('5-1 * * * *'),
  schedule('* 24 * * *'),
  schedule('* * 0 * *'),
  schedule('* * * 13 *'),
  schedule('* * * * 7'),
  schedule('1-2-3 * * * *'),
  schedule('1/2/3 * * * *'),
  schedule('-1 * * * *'),
  schedule('@sometimes'),
  schedule('@every x'),
  schedule('TZ=UTC * * * * *'),
  rejectedCronJob('no schedule', { schedule: '' }),
  rejectedCronJob('a time zone that is none', { timeZone: 'Europe/Nowhere' }),
  rejectedCronJob('a time zone with spaces', { timeZone: 'Europe/New Berlin' }),
  rejectedCronJob('the time zone of the server', { timeZone: 'Local' }),
  rejectedCronJob('an empty time zone', { timeZone: '' }),
  rejectedCronJob('an unknown policy', { concurrencyPolicy: 'Hope' }),
  rejectedCronJob('numbers below zero', {
    startingDeadlineSeconds: -1,
    successfulJobsHistoryLimit: -1,
    failedJobsHistoryLimit: -1,
  }),
  rejectedCronJob('pods that do not end', {
    jobTemplate: { spec: { template: podTemplate('work:1') } },
  }),
  rejectedCronJob('numbers of its Jobs below zero', {
    jobTemplate: { spec: { ...(job({ backoffLimit: -1 }).spec as JsonObject) } },
  }),
  {
    name: 'schedules and time zones that are right are taken',
    steps: ['*/5 0-23/2 1,15 jan-MAR mon-fri', '@hourly', '@every 1h30m', '0 0 ? * SUN'].map(
      (text, index) =>
        post(
          cronJobs,
          {
            ...cronJob({ schedule: text, timeZone: 'Europe/Berlin' }),
            metadata: { name: `x${index}` },
          },
          { status: 201 },
        ),
    ),
  },
];
