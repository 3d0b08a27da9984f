import { type HandmadeChild, type HandmadePlan, planOf } from './handmade-plan.ts';

/** The Deployment of a PodSet. */
export const deploymentChild: HandmadeChild = {
  id: 'deployment',
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  pathsRead: [['status', 'readyReplicas']],
  template: ({ resource }) => ({
    metadata: { name: resource.metadata.name },
    spec: {
      replicas: resource.spec.size,
      selector: { matchLabels: { app: resource.metadata.name } },
      template: {
        metadata: { labels: { app: resource.metadata.name } },
        spec: { containers: [{ name: 'podset', image: 'busybox' }] },
      },
    },
  }),
};

/** A Secret of a PodSet, with these fields. */
export function secretChild(fields: object, changes: Partial<HandmadeChild> = {}): HandmadeChild {
  return {
    id: 'secret',
    apiVersion: 'v1',
    kind: 'Secret',
    template: () => ({ metadata: { name: 'a' }, ...fields }),
    ...changes,
  };
}

/** A PodSet by hand: one Deployment, `readyReplicas` in the status. */
export function podSetPlan(changes: HandmadePlan = {}) {
  return planOf({
    children: [deploymentChild],
    status: {
      readyReplicas: (view) =>
        (view.child('deployment')?.status as { readyReplicas?: number } | undefined)
          ?.readyReplicas ?? 0,
    },
    ...changes,
  });
}
