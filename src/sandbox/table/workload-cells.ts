import type { JsonObject } from '#util/json.ts';
import { labelSelectorText } from '../selector/label-query.ts';
import {
  ageOf,
  containerCells,
  countIn,
  humanDuration,
  isTrue,
  labelsText,
  nameOf,
  none,
  objectIn,
  objectsIn,
  type PrintedRow,
  stringIn,
  timeSince,
  unset,
} from './cell-values.ts';

export function deploymentRow(deployment: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [objectIn(deployment, 'spec'), objectIn(deployment, 'status')];
  return {
    cells: [
      nameOf(deployment),
      `${countIn(status, 'readyReplicas')}/${countIn(spec, 'replicas')}`,
      countIn(status, 'updatedReplicas'),
      countIn(status, 'availableReplicas'),
      ageOf(deployment, nowMs),
      ...containerCells(objectIn(spec, 'template', 'spec')),
      labelSelectorText(objectIn(spec, 'selector')),
    ],
  };
}

export function replicaSetRow(set: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [objectIn(set, 'spec'), objectIn(set, 'status')];
  return {
    cells: [
      nameOf(set),
      countIn(spec, 'replicas'),
      countIn(status, 'replicas'),
      countIn(status, 'readyReplicas'),
      ageOf(set, nowMs),
      ...containerCells(objectIn(spec, 'template', 'spec')),
      labelSelectorText(objectIn(spec, 'selector')) || none,
    ],
  };
}

export function replicationControllerRow(controller: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [objectIn(controller, 'spec'), objectIn(controller, 'status')];
  return {
    cells: [
      nameOf(controller),
      countIn(spec, 'replicas'),
      countIn(status, 'replicas'),
      countIn(status, 'readyReplicas'),
      ageOf(controller, nowMs),
      ...containerCells(objectIn(spec, 'template', 'spec')),
      labelsText(objectIn(spec, 'selector')),
    ],
  };
}

export function podTemplateRow(template: JsonObject): PrintedRow {
  return {
    cells: [
      nameOf(template),
      ...containerCells(objectIn(template, 'template', 'spec')),
      labelsText(objectIn(template, 'template', 'metadata', 'labels')),
    ],
  };
}

export function statefulSetRow(set: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [objectIn(set, 'spec'), objectIn(set, 'status')];
  return {
    cells: [
      nameOf(set),
      `${countIn(status, 'readyReplicas')}/${countIn(spec, 'replicas')}`,
      ageOf(set, nowMs),
      ...containerCells(objectIn(spec, 'template', 'spec')),
    ],
  };
}

export function daemonSetRow(set: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [objectIn(set, 'spec'), objectIn(set, 'status')];
  const podSpec = objectIn(spec, 'template', 'spec');
  return {
    cells: [
      nameOf(set),
      countIn(status, 'desiredNumberScheduled'),
      countIn(status, 'currentNumberScheduled'),
      countIn(status, 'numberReady'),
      countIn(status, 'updatedNumberScheduled'),
      countIn(status, 'numberAvailable'),
      labelsText(objectIn(podSpec, 'nodeSelector')),
      ageOf(set, nowMs),
      ...containerCells(podSpec),
      labelSelectorText(objectIn(spec, 'selector')) || none,
    ],
  };
}

export function jobRow(job: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [objectIn(job, 'spec'), objectIn(job, 'status')];
  return {
    cells: [
      nameOf(job),
      jobState(job),
      `${countIn(status, 'succeeded')}/${completionsText(spec)}`,
      jobDuration(status, nowMs),
      ageOf(job, nowMs),
      ...containerCells(objectIn(spec, 'template', 'spec')),
      labelSelectorText(objectIn(spec, 'selector')) || none,
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
  if (objectIn(job, 'metadata').deletionTimestamp !== undefined) return 'Terminating';
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
  const [spec, status] = [objectIn(job, 'spec'), objectIn(job, 'status')];
  const jobSpec = objectIn(spec, 'jobTemplate', 'spec');
  const last = status.lastScheduleTime;
  return {
    cells: [
      nameOf(job),
      stringIn(spec, 'schedule'),
      stringIn(spec, 'timeZone') || none,
      spec.suspend === undefined ? unset : spec.suspend === true ? 'True' : 'False',
      objectsIn(status, 'active').length,
      last === undefined || last === null ? none : timeSince(last, nowMs),
      ageOf(job, nowMs),
      ...containerCells(objectIn(jobSpec, 'template', 'spec')),
      labelSelectorText(objectIn(jobSpec, 'selector')) || none,
    ],
  };
}

export function controllerRevisionRow(revision: JsonObject, nowMs: number): PrintedRow {
  const owners = objectsIn(objectIn(revision, 'metadata'), 'ownerReferences');
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
  const [group = '', version] = stringIn(owner, 'apiVersion').split('/');
  const kind = stringIn(owner, 'kind');
  const qualified = version === undefined ? kind : `${kind}.${group}`;
  return `${qualified.toLowerCase()}/${stringIn(owner, 'name')}`;
}

export function disruptionBudgetRow(budget: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [objectIn(budget, 'spec'), objectIn(budget, 'status')];
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
