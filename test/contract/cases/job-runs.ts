import type { JsonObject } from '#util/json.ts';
import type { ContractCase, EventsStep, UntilStep } from '../driver/index.ts';
import { get, merge, post } from './requests.ts';
import { become, changed, job, jobs, pods, untilStatus } from './workload-bodies.ts';

const x = `${jobs}/x`;

function until(status: JsonObject): UntilStep {
  return untilStatus(x, status);
}

function reported(...expect: readonly string[]): EventsStep {
  return { events: { kind: 'Job', name: 'x' }, expect };
}

/** The conditions of a Job that is at its end. */
function ended(type: 'Complete' | 'Failed', reason: string): readonly JsonObject[] {
  const first = type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
  return [first, type].map((name) => ({ type: name, status: 'True', reason }));
}

const create = (spec: JsonObject = {}) => post(jobs, job(spec), { status: 201 });
const made = 'Normal SuccessfulCreate Created pod: x-pod';
const completed = 'Normal Completed Job completed';
const tooMany = 'Warning BackoffLimitExceeded Job has reached the specified backoff limit';

/** Jobs as controllers bring them on. */
export const jobRuns: readonly ContractCase[] = [
  {
    name: 'a Job is complete when its pods have succeeded',
    ranked: [59],
    steps: [
      create(),
      until({ active: 1, ready: 0, terminating: 0 }),
      become(1, 'running'),
      until({ active: 1, ready: 1 }),
      get(`${pods}?labelSelector=app%3Dx`, { status: 200 }),
      become(1, 'succeeded'),
      until({
        active: null,
        ready: 0,
        succeeded: 1,
        conditions: ended('Complete', 'CompletionsReached'),
      }),
      reported(made, completed),
    ],
  },
  {
    name: 'a finished Job is deleted with its pods after its time to live',
    steps: [
      create({ ttlSecondsAfterFinished: 0 }),
      become(1, 'succeeded'),
      { until: x, expect: { status: 404 } },
      { until: pods, expect: { status: 200, body: { items: [] } } },
    ],
  },
  {
    name: 'as many pods work at once as may, until enough have succeeded',
    ranked: [59],
    steps: [
      create({ completions: 3, parallelism: 2 }),
      become(2, 'succeeded'),
      become(1, 'succeeded'),
      until({
        active: null,
        succeeded: 3,
        conditions: ended('Complete', 'CompletionsReached'),
      }),
      reported(made, made, made, completed),
    ],
  },
  {
    name: 'a Job fails with more failed pods than it may have',
    ranked: [59],
    steps: [
      create({ backoffLimit: 0 }),
      become(1, 'failed'),
      until({ active: null, failed: 1, conditions: ended('Failed', 'BackoffLimitExceeded') }),
      reported(made, tooMany),
    ],
  },
  {
    name: 'a failed pod is tried again as often as may be',
    ranked: [59],
    steps: [
      create({ backoffLimit: 1 }),
      become(1, 'failed'),
      until({ active: 1, failed: 1, conditions: null }),
      become(1, 'failed'),
      until({ active: null, failed: 2, conditions: ended('Failed', 'BackoffLimitExceeded') }),
      reported(made, made, tooMany),
    ],
  },
  {
    name: 'an Indexed Job has one pod for each index',
    ranked: [59],
    steps: [
      create({ completionMode: 'Indexed', completions: 2, parallelism: 2 }),
      become(1, 'succeeded', 'batch.kubernetes.io/job-completion-index=1'),
      until({ active: 1, succeeded: 1, completedIndexes: '1' }),
      get(`${pods}?labelSelector=batch.kubernetes.io/job-completion-index%3D0`, {
        status: 200,
      }),
      become(1, 'succeeded', 'batch.kubernetes.io/job-completion-index=0'),
      until({
        active: null,
        succeeded: 2,
        completedIndexes: '0,1',
        conditions: ended('Complete', 'CompletionsReached'),
      }),
      reported(
        'Normal SuccessfulCreate Created pod: x-0-pod',
        'Normal SuccessfulCreate Created pod: x-1-pod',
        completed,
      ),
    ],
  },
  {
    name: 'a suspended Job has no pods until it is resumed',
    ranked: [59],
    steps: [
      create({ suspend: true }),
      until({ active: null, conditions: [{ type: 'Suspended', status: 'True' }] }),
      merge(x, { spec: { suspend: false } }, changed),
      until({ active: 1, conditions: [{ type: 'Suspended', status: 'False' }] }),
      merge(x, { spec: { suspend: true } }, changed),
      untilStatus(x, { active: null, conditions: [{ type: 'Suspended', status: 'True' }] }, [
        'status.terminating',
      ]),
      {
        until: `${pods}?labelSelector=app%3Dx`,
        expect: { status: 200, body: { items: [] } },
      },
      reported(
        'Normal Suspended Job suspended',
        'Normal Resumed Job resumed',
        made,
        'Normal SuccessfulDelete Deleted pod: x-pod',
        'Normal Suspended Job suspended',
      ),
    ],
  },
  {
    name: 'a Job that takes too long fails, and its pods go',
    ranked: [59],
    steps: [
      create({ activeDeadlineSeconds: 1 }),
      until({ active: null, conditions: ended('Failed', 'DeadlineExceeded') }),
      reported(
        made,
        'Normal SuccessfulDelete Deleted pod: x-pod',
        'Warning DeadlineExceeded Job was active longer than specified deadline',
      ),
    ],
  },
];
