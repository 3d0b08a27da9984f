import type { JsonObject } from '#util/json.ts';
import type { PodFate, PodsStep, UntilStep } from '../driver/index.ts';

/** Workloads named `x`, whose pods are labelled `app=x`, and where they are. */
export const deployments = '/apis/apps/v1/namespaces/$(ns)/deployments';
export const replicaSets = '/apis/apps/v1/namespaces/$(ns)/replicasets';
export const statefulSets = '/apis/apps/v1/namespaces/$(ns)/statefulsets';
export const daemonSets = '/apis/apps/v1/namespaces/$(ns)/daemonsets';
export const revisions = '/apis/apps/v1/namespaces/$(ns)/controllerrevisions';
export const jobs = '/apis/batch/v1/namespaces/$(ns)/jobs';
export const pods = '/api/v1/namespaces/$(ns)/pods';

const labels = { app: 'x' };

export function podTemplate(image: string, spec: JsonObject = {}): JsonObject {
  return { metadata: { labels }, spec: { containers: [{ name: 'c', image }], ...spec } };
}

export function workload(kind: string, spec: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'x' },
    spec: { selector: { matchLabels: labels }, template: podTemplate('web:1'), ...spec },
  };
}

export function job(spec: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'x' },
    spec: { template: podTemplate('work:1', { restartPolicy: 'Never' }), ...spec },
  };
}

/** The kubelet's part for so many pods of `x`, or of others. */
export function become(count: number, fate: PodFate, selector = 'app=x'): PodsStep {
  return { pods: selector, count, become: fate };
}

/** Another template, by a merge patch. */
export function imageOf(image: string): JsonObject {
  return { spec: { template: { spec: { containers: [{ name: 'c', image }] } } } };
}

/** Until an object tells this status; what is seen only in passing may be named as chance. */
export function untilStatus(
  path: string,
  status: JsonObject,
  byChance: readonly string[] = [],
): UntilStep {
  return { until: path, expect: { status: 200, body: { status }, byChance } };
}

/** A change is answered with a status of before, or of some time later. */
export const changed = { status: 200, byChance: [''] };
