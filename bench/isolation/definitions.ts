/** Definitions of the isolation bench: many good ones, one that fails in every pass, one that never comes to rest. */

export const namespace = 'isolation';
/** A quota of no ConfigMap at all stands in it. */
export const emptyNamespace = 'no-room';

export interface BenchKind {
  readonly name: string;
  readonly group: string;
  /** YAML of the definition. */
  readonly text: string;
}

export function goodKinds(count: number): readonly BenchKind[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `good-${String(index + 1).padStart(2, '0')}`;
    return kindOf(
      name,
      `  children:
    - id: settings
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }", labels: { bench: good } }
        data: { value: "\${ spec.value }" }
  status: { value: "\${ children.settings.data.value }" }
`,
    );
  });
}

/** Its child is rejected by a quota each time: a failure that passes, so that it is tried again and again. */
export function failingKind(): BenchKind {
  return kindOf(
    'failing',
    `  children:
    - id: settings
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { value: "\${ spec.value }" }
`,
  );
}

/** Its child reads what its status counts up: every pass calls for another one. */
export function hotKind(): BenchKind {
  return kindOf(
    'hot',
    `  children:
    - id: settings
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { count: "\${ $string(status.count ?? 0) }" }
  status: { count: "\${ (status.count ?? 0) + 1 }" }
`,
  );
}

export function collectionOf({ group }: BenchKind, inNamespace = namespace): string {
  return `/apis/${group}/v1/namespaces/${inNamespace}/things`;
}

/** A resource of one of these kinds. */
export function bodyOf({ group }: BenchKind, name: string, value: string) {
  return { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name }, spec: { value } };
}

const valueSchema = `
              spec: { type: object, properties: { value: { type: string } } }
              status: { type: object, properties: { count: { type: integer }, value: { type: string } } }`;

/** Anything may stand in it. */
export const openSchema = `
              spec: { type: object, x-kubernetes-preserve-unknown-fields: true }
              status: { type: object, x-kubernetes-preserve-unknown-fields: true }`;

/** @param properties YAML of the schema's top level */
export function kindOf(name: string, body: string, properties: string = valueSchema): BenchKind {
  const group = `${name}.example.com`;
  const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: ${name} }
spec:
  crd:
    group: ${group}
    names: { kind: Thing, plural: things }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:
            type: object
            properties:${properties}
${body}`;
  return { name, group, text };
}
