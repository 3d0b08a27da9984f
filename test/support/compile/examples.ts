/** What the examples of functions and helpers see: for their documentation, and for the test that they are true. */
export const exampleResource = Object.freeze({
  apiVersion: 'example.com/v1',
  kind: 'Site',
  metadata: { name: 'web' },
  spec: { image: 'nginx', size: 3, ports: [80, 443] },
});

/** `children.web`, a Deployment that is ready. */
export const exampleChild = Object.freeze({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', generation: 1 },
  spec: { replicas: 1 },
  status: {
    observedGeneration: 1,
    replicas: 1,
    updatedReplicas: 1,
    readyReplicas: 1,
    availableReplicas: 1,
    conditions: [{ type: 'Available', status: 'True' }],
  },
});

/** `$now()`. */
export const exampleTime = '2026-01-02T03:04:05.000Z';
