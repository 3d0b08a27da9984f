import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { numberOf, partOf } from './controller-client.ts';
import { podOf } from './owned-objects.ts';

const indexLabel = 'batch.kubernetes.io/job-completion-index';

/** The finalizer that keeps a pod until its Job has counted it. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';

export function isIndexed(job: StoredObject): boolean {
  return partOf(job, 'spec').completionMode === 'Indexed';
}

/** The completion index of a pod of an Indexed Job. */
export function indexOf(pod: StoredObject): number {
  const labels = objectField(partOf(pod, 'metadata'), 'labels') ?? {};
  return Number(stringField(labels, indexLabel) ?? -1);
}

/** The manifest of a pod of a Job, with its index for an Indexed Job. */
export function jobPod(job: StoredObject, index: number | undefined): JsonObject {
  const pod = podOf(job, objectField(partOf(job, 'spec'), 'template') ?? {});
  const metadata = { ...objectField(pod, 'metadata'), finalizers: [trackingFinalizer] };
  const spec = objectField(pod, 'spec') ?? {};
  if (index === undefined) return { metadata, spec };
  const named = { [indexLabel]: String(index) };
  return {
    metadata: {
      ...metadata,
      generateName: `${job.name}-${index}-`,
      labels: { ...objectField(metadata, 'labels'), ...named },
      annotations: { ...objectField(metadata, 'annotations'), ...named },
    },
    spec: {
      ...spec,
      hostname: `${job.name}-${index}`,
      ...Object.fromEntries(
        ['initContainers', 'containers']
          .filter((name) => listField(spec, name).length > 0)
          .map((name) => [name, listField(spec, name).filter(isJsonObject).map(withIndex)]),
      ),
    },
  };
}

function withIndex(container: JsonObject): JsonObject {
  const env = listField(container, 'env');
  const fieldRef = { apiVersion: 'v1', fieldPath: `metadata.labels['${indexLabel}']` };
  return {
    ...container,
    env: [...env, { name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef } }],
  };
}

/** Indexes as in the status: `0,2-4`. */
export function indexesText(indexes: readonly number[]): string {
  const sorted = [...new Set(indexes)].sort((a, b) => a - b);
  const runs: number[][] = [];
  for (const index of sorted) {
    const last = runs.at(-1);
    if (last !== undefined && last.at(-1) === index - 1) last.push(index);
    else runs.push([index]);
  }
  return runs.map((run) => (run.length < 3 ? run.join(',') : `${run[0]}-${run.at(-1)}`)).join(',');
}

export function parseIndexes(text: string): readonly number[] {
  return text
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first = 0, last = first] = part.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, at) => first + at);
    });
}

/** How many pods must succeed; undefined when one success is enough. */
export function completionsOf(job: StoredObject): number | undefined {
  const { completions } = partOf(job, 'spec');
  return typeof completions === 'number' ? completions : undefined;
}

export function parallelismOf(job: StoredObject): number {
  return numberOf(partOf(job, 'spec'), 'parallelism', 1);
}
