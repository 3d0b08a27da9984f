import type { JsonObject } from '../../util/json.ts';
import { labelSelectorText } from '../selector/index.ts';
import {
  ageOf,
  containerCells,
  countIn,
  isTrue,
  labelsText,
  nameOf,
  none,
  objectsIn,
  type PrintedRow,
  part,
  since,
  textIn,
  unset,
} from './cell-values.ts';
import { humanDuration } from './human-duration.ts';

export function deploymentRow(deployment: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [part(deployment, 'spec'), part(deployment, 'status')];
  return {
    cells: [
      nameOf(deployment),
      `${countIn(status, 'readyReplicas')}/${countIn(spec, 'replicas')}`,
      countIn(status, 'updatedReplicas'),
      countIn(status, 'availableReplicas'),
      ageOf(deployment, nowMs),
      ...containerCells(part(spec, 'template', 'spec')),
      labelSelectorText(part(spec, 'selector')),
    ],
  };
}

export function replicaSetRow(set: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [part(set, 'spec'), part(set, 'status')];
  return {
    cells: [
      nameOf(set),
      countIn(spec, 'replicas'),
      countIn(status, 'replicas'),
      countIn(status, 'readyReplicas'),
      ageOf(set, nowMs),
      ...containerCells(part(spec, 'template', 'spec')),
      labelSelectorText(part(spec, 'selector')) || none,
    ],
  };
}

export function replicationControllerRow(controller: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [part(controller, 'spec'), part(controller, 'status')];
  return {
    cells: [
      nameOf(controller),
      countIn(spec, 'replicas'),
      countIn(status, 'replicas'),
      countIn(status, 'readyReplicas'),
      ageOf(controller, nowMs),
      ...containerCells(part(spec, 'template', 'spec')),
      labelsText(part(spec, 'selector')),
    ],
  };
}

export function podTemplateRow(template: JsonObject): PrintedRow {
  return {
    cells: [
      nameOf(template),
      ...containerCells(part(template, 'template', 'spec')),
      labelsText(part(template, 'template', 'metadata', 'labels')),
    ],
  };
}

export function statefulSetRow(set: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [part(set, 'spec'), part(set, 'status')];
  return {
    cells: [
      nameOf(set),
      `${countIn(status, 'readyReplicas')}/${countIn(spec, 'replicas')}`,
      ageOf(set, nowMs),
      ...containerCells(part(spec, 'template', 'spec')),
    ],
  };
}

export function daemonSetRow(set: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [part(set, 'spec'), part(set, 'status')];
  const podSpec = part(spec, 'template', 'spec');
  return {
    cells: [
      nameOf(set),
      countIn(status, 'desiredNumberScheduled'),
      countIn(status, 'currentNumberScheduled'),
      countIn(status, 'numberReady'),
      countIn(status, 'updatedNumberScheduled'),
      countIn(status, 'numberAvailable'),
      labelsText(part(podSpec, 'nodeSelector')),
      ageOf(set, nowMs),
      ...containerCells(podSpec),
      labelSelectorText(part(spec, 'selector')) || none,
    ],
  };
}

export function jobRow(job: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [part(job, 'spec'), part(job, 'status')];
  return {
    cells: [
      nameOf(job),
      jobState(job),
      `${countIn(status, 'succeeded')}/${completionsText(spec)}`,
      jobDuration(status, nowMs),
      ageOf(job, nowMs),
      ...containerCells(part(spec, 'template', 'spec')),
      labelSelectorText(part(spec, 'selector')) || none,
    ],
  };
}

function completionsText(spec: JsonObject): string {
  if (spec.completions !== undefined) return String(spec.completions);
  const parallelism = countIn(spec, 'parallelism');
  return parallelism > 1 ? `1 of ${parallelism}` : '1';
}

function jobState(job: JsonObject): string {
  if (isTrue(job, 'Complete')) return 'Complete';
  if (isTrue(job, 'Failed')) return 'Failed';
  if (part(job, 'metadata').deletionTimestamp !== undefined) return 'Terminating';
  if (isTrue(job, 'Suspended')) return 'Suspended';
  return ['FailureTarget', 'SuccessCriteriaMet'].find((type) => isTrue(job, type)) ?? 'Running';
}

function jobDuration(status: JsonObject, nowMs: number): string {
  const { startTime, completionTime } = status;
  if (typeof startTime !== 'string') return '';
  const endMs = typeof completionTime === 'string' ? Date.parse(completionTime) : nowMs;
  return humanDuration(endMs - Date.parse(startTime));
}

export function cronJobRow(job: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [part(job, 'spec'), part(job, 'status')];
  const jobSpec = part(spec, 'jobTemplate', 'spec');
  const last = status.lastScheduleTime;
  return {
    cells: [
      nameOf(job),
      textIn(spec, 'schedule'),
      textIn(spec, 'timeZone') || none,
      spec.suspend === undefined ? unset : spec.suspend === true ? 'True' : 'False',
      objectsIn(status, 'active').length,
      last === undefined || last === null ? none : since(last, nowMs),
      ageOf(job, nowMs),
      ...containerCells(part(jobSpec, 'template', 'spec')),
      labelSelectorText(part(jobSpec, 'selector')) || none,
    ],
  };
}

export function controllerRevisionRow(revision: JsonObject, nowMs: number): PrintedRow {
  const owners = objectsIn(part(revision, 'metadata'), 'ownerReferences');
  const controller = owners.find((owner) => owner.controller === true);
  return {
    cells: [
      nameOf(revision),
      controller === undefined ? none : qualifiedName(controller),
      countIn(revision, 'revision'),
      ageOf(revision, nowMs),
    ],
  };
}

function qualifiedName(owner: JsonObject): string {
  const [group = '', version] = textIn(owner, 'apiVersion').split('/');
  const kind = textIn(owner, 'kind');
  const qualified = version === undefined ? kind : `${kind}.${group}`;
  return `${qualified.toLowerCase()}/${textIn(owner, 'name')}`;
}

export function disruptionBudgetRow(budget: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [part(budget, 'spec'), part(budget, 'status')];
  const limit = (name: string) => (spec[name] === undefined ? 'N/A' : String(spec[name]));
  return {
    cells: [
      nameOf(budget),
      limit('minAvailable'),
      limit('maxUnavailable'),
      countIn(status, 'disruptionsAllowed'),
      ageOf(budget, nowMs),
    ],
  };
}
