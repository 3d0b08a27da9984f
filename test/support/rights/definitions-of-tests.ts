import { thingDefinition } from '../definitions.ts';

/** A definition that its author deletes with its kind and all resources. */
export const leaving = thingDefinition(
  'leaving',
  `  removalPolicy: Delete
  crdPolicy: { deletion: Delete }
  children:
    - id: config
      deletionPolicy: Delete
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { a: b } }
`,
);

/** Works in one namespace only, reads in others, and writes what it has not made. */
export function narrow(namespace: string, children: string): string {
  return thingDefinition(
    'narrow',
    `  controller: { namespaces: { include: [${namespace}] } }
  reads:
    - id: elsewhere
      apiVersion: v1
      kind: ConfigMap
      selector: { matchLabels: { a: b } }
      namespaceSelector: { matchLabels: { config.example.com/group: example } }
      crossNamespace: true
${children}
  patches:
    - id: other
      target: { apiVersion: v1, kind: Service, name: other }
      patch: { metadata: { labels: { found: "\${ $string($count(reads.elsewhere)) }" } } }
    - id: made
      create: true
      target: { apiVersion: v1, kind: ConfigMap, name: made }
      patch: { data: { a: b } }
  status: { found: "\${ $count(reads.elsewhere) }" }
`,
  );
}

export const oneConfigMap = `  children:
    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { a: b } }
`;

/** Its resources label Services while they exist, and delete themselves. */
export const expiring = thingDefinition(
  'expiring',
  `  deleteAfter: { since: "\${ spec.finishedAt }", ttl: 1s }
  patches:
    - id: label
      forEach: [first, second]
      target: { apiVersion: v1, kind: Service, name: "\${ $item }" }
      withdraw: true
      patch: { metadata: { labels: { used: "yes" } } }
`,
);

/** Works on a kind that others have brought. */
export const foreign = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: foreign }
spec:
  for: { apiVersion: apps/v1, kind: StatefulSet, selector: { matchLabels: { wanted: "yes" } } }
${oneConfigMap}`;

/** Has two versions, of which one is stored. */
export function versioned(stored: 'v0' | 'v1'): string {
  const v1 = '      - name: v1\n';
  const open = '{ type: object, x-kubernetes-preserve-unknown-fields: true }';
  const schema = `{ openAPIV3Schema: { type: object, properties: { spec: ${open}, status: ${open} } } }`;
  return thingDefinition('versioned', oneConfigMap).replace(
    v1,
    `      - { name: v0, served: true, storage: ${stored === 'v0'}, schema: ${schema} }
${v1}        served: true
        storage: ${stored === 'v1'}
`,
  );
}
