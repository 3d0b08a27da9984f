import { printYaml } from '#definition';
import { pluralOf } from '#simulation';

/** Names in the files of `homeostat init`. */
export interface StarterNames {
  /** Of the definition: `web-app`. */
  readonly name: string;
  /** `WebApp` */
  readonly kind: string;
  /** `webapps` */
  readonly plural: string;
  /** API group of the kind. */
  readonly group: string;
}

/** The names of a starter. `name`: a DNS label. */
export function starterNames(name: string, group: string): StarterNames {
  const kind = name
    .split('-')
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join('');
  return { name, kind, plural: pluralOf(kind.toLowerCase()), group };
}

/** A definition that runs as it is: a Deployment, a Service for its port, and the status. */
export function starterDefinition({ name, kind, plural, group }: StarterNames): string {
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: ${plain(name)} }
spec:
  # The kind that users create. Homeostat installs it.
  crd:
    group: ${group}
    names: { kind: ${plain(kind)}, plural: ${plural} }
    scope: Namespaced
    versions:
      - name: v1alpha1
        schema:
          openAPIV3Schema:
            type: object
            required: [spec]
            properties:
              spec:
                type: object
                required: [image]
                properties:
                  image: { type: string }
                  replicas: { type: integer, minimum: 0, default: 1 }
                  port: { type: integer, minimum: 1, maximum: 65535 }
              status:
                type: object
                properties:
                  readyReplicas: { type: integer }
        additionalPrinterColumns:
          - { name: Replicas, type: integer, jsonPath: .status.readyReplicas }

  # Values that several places use.
  vars:
    labels: { app.kubernetes.io/name: ${plain(name)}, app.kubernetes.io/instance: "\${ metadata.name }" }

  # The objects of each ${kind}. \${ } is an expression over the ${kind}.
  children:
    - id: deployment
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }", labels: "\${ vars.labels }" }
        spec:
          replicas: \${ spec.replicas }
          selector: { matchLabels: "\${ vars.labels }" }
          template:
            metadata: { labels: "\${ vars.labels }" }
            spec:
              containers:
                - name: main
                  image: \${ spec.image }

    # Only where the ${kind} has a port.
    - id: service
      when: \${ $exists(spec.port) }
      template:
        apiVersion: v1
        kind: Service
        metadata: { name: "\${ metadata.name }", labels: "\${ vars.labels }" }
        spec:
          selector: \${ vars.labels }
          ports: [{ name: main, port: "\${ spec.port }" }]

  # What users see in the status. Conditions such as Ready come with every kind.
  status:
    readyReplicas: \${ children.deployment.status.readyReplicas ?? 0 }
`;
}

/** A resource to try the definition with. */
export function starterSample({ kind, group }: StarterNames): string {
  return `apiVersion: ${group}/v1alpha1
kind: ${plain(kind)}
metadata: { name: example }
spec:
  image: nginx
  replicas: 2
  port: 80
`;
}

/** A test of the definition. */
export function starterTest({ name, kind }: StarterNames): string {
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorTest
metadata: { name: ${plain(name)} }
spec:
  definitions: [../${name}.yaml]
  steps:
    - name: a new ${kind} has a Deployment and a Service
      apply: { file: ../samples/${name}.yaml }
      expect:
        - object: { apiVersion: apps/v1, kind: Deployment, metadata: { name: example }, spec: { replicas: 2 } }
        - object: { apiVersion: v1, kind: Service, metadata: { name: example } }
        - condition: { of: ${kind}/example, type: Ready, status: "True" }
        - status: { of: ${kind}/example, is: { readyReplicas: 2 } }
    - name: without a port there is no Service
      patch: { target: ${kind}/example, merge: { spec: { port: null } } }
      expect:
        - absent: { apiVersion: v1, kind: Service, metadata: { name: example } }
    - name: a deleted ${kind} leaves nothing
      delete: ${kind}/example
      expect:
        - nothingLeft: true
`;
}

/** A word as all tools read it: `On` is a boolean to kubectl. */
function plain(word: string): string {
  return printYaml(word).trimEnd();
}
