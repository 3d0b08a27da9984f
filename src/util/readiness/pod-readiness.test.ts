import { describe } from 'node:test';
import { condition, testReadiness } from '../../../test/support/readiness-cases.ts';

describe('util/readiness', () => {
  testReadiness('batch/v1 Job', [
    ['complete', { status: { conditions: [condition('Complete', 'True')] } }, 'Ready', 'Completed'],
    [
      'failed',
      { status: { conditions: [condition('Failed', 'True', 'BackoffLimitExceeded')] } },
      'Failed',
      'The Job failed (BackoffLimitExceeded)',
    ],
    [
      'running',
      { spec: { completions: 3 }, status: { startTime: 't', succeeded: 1 } },
      'Progressing',
      '1 of 3 Pods have completed',
    ],
    [
      'running one Pod',
      { spec: {}, status: { startTime: 't' } },
      'Progressing',
      '0 of 1 Pods have completed',
    ],
    ['suspended', { spec: { suspend: true } }, 'Progressing', 'The Job is suspended'],
    ['not started', {}, 'Progressing', 'The Job has not started'],
  ]);

  const waiting = (reason: string) => [{ name: 'c', ready: false, state: { waiting: { reason } } }];
  testReadiness('v1 Pod', [
    [
      'ready',
      { status: { phase: 'Running', conditions: [condition('Ready', 'True')] } },
      'Ready',
      'Running and ready',
    ],
    [
      'not ready',
      { status: { phase: 'Running', containerStatuses: [{ ready: true }, { ready: false }] } },
      'Progressing',
      '1 of 2 containers are ready',
    ],
    [
      'crashing',
      { status: { phase: 'Running', containerStatuses: waiting('CrashLoopBackOff') } },
      'Failed',
      'Container "c" crashes repeatedly',
    ],
    [
      'crashing at its start',
      { status: { phase: 'Pending', initContainerStatuses: waiting('CrashLoopBackOff') } },
      'Failed',
      'Container "c" crashes repeatedly',
    ],
    [
      'an image that is not there',
      { status: { phase: 'Pending', containerStatuses: waiting('ErrImagePull') } },
      'Progressing',
      'Container "c" cannot pull its image',
    ],
    [
      'an image that is still not there',
      { status: { phase: 'Pending', containerStatuses: waiting('ImagePullBackOff') } },
      'Progressing',
      'Container "c" cannot pull its image',
    ],
    [
      'a Secret that is not there',
      { status: { phase: 'Pending', containerStatuses: waiting('CreateContainerConfigError') } },
      'Progressing',
      'Container "c" has no valid configuration',
    ],
    [
      'not scheduled',
      {
        status: {
          phase: 'Pending',
          conditions: [condition('PodScheduled', 'False', 'Unschedulable')],
        },
      },
      'Progressing',
      'The Pod is not scheduled (Unschedulable)',
    ],
    ['new', {}, 'Progressing', 'The Pod is pending'],
    ['succeeded', { status: { phase: 'Succeeded' } }, 'Ready', 'Completed'],
    [
      'failed',
      { status: { phase: 'Failed', reason: 'Evicted' } },
      'Failed',
      'The Pod failed (Evicted)',
    ],
  ]);
});
